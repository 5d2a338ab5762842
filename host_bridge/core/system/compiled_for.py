"""Says for which Python the compiled parts of an installed package were made."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

_TAG = re.compile(r"\.cpython-(\d)(\d+)\w*-")  # _name.cpython-310-x86_64-linux-gnu.so


def compiled_for(package: str) -> str:
    """Return another Python, "3.10", for which this package was compiled; "" for this one.

    The path of a ROS 2 distribution shows its packages to every Python, and its own can load them.
    It is "" as well for a package that has no compiled parts, or is not there.
    """
    spec = find_spec(package)
    folders = (spec.submodule_search_locations or ()) if spec else ()
    files = (file.name for folder in folders for file in Path(folder).glob("*.so"))
    found = {(int(tag[1]), int(tag[2])) for name in files if (tag := _TAG.search(name))}
    if not found or sys.version_info[:2] in found:
        return ""
    major, minor = max(found)
    return f"{major}.{minor}"


def wrong_python(package: str, other: str, here: Sequence[int]) -> tuple[str, str]:
    """Return the sentence that a package is for another Python than this one, and the remedy."""
    what = f"{package} is there for Python {other}, and this is Python {here[0]}.{here[1]}"
    remedy = f"install Tandem into an environment of its Python: python{other} -m venv FOLDER"
    return what, remedy
