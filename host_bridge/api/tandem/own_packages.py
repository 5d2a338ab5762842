"""Refuses a file of a user that has the name of a package of Tandem, by the path of that file.

Python looks beside a script first: a ``firmware.py`` there would be imported in place of Tandem's.
This module is imported before any of them. Where machine code of the virtual car is built, it then
lets that be imported in place of its sources.
"""

from __future__ import annotations

import sys
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path

# What ``import tandem`` imports; ``calibration`` is imported for a calibrated car alone
NEEDED = ("firmware", "host_bridge", "sim_mock")
_HERE = Path(__file__).resolve().parent


def root() -> Path:
    """Return the folder of Tandem's packages: beside this one, or above host_bridge/api."""
    beside = _HERE.parent
    return beside if (beside / "host_bridge").is_dir() else beside.parents[1]


def file_of(spec: ModuleSpec | None) -> Path | None:
    """Return the file or folder from which this module is imported, or None."""
    if spec is None:
        return None
    places = [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
    return Path(places[0]).resolve() if places else None


def refuse_shadows(own: Path) -> None:
    """Raise ImportError that names the first file in the way of a package in the folder ``own``."""
    for name in NEEDED:
        known = sys.modules.get(name)
        found = file_of(known.__spec__ if known else PathFinder.find_spec(name))
        if found is not None and own / name not in (found, *found.parents):
            raise ImportError(
                f"{found}: this file has the name of a package that Tandem needs\n"
                f"  expected: {own / name}\n"
                "  remedy: rename your file, or move it out of the script's folder",
                name=name,
                path=str(found),
            )


refuse_shadows(root())
import_module("sim_mock.runtime.compiled").use_if_built()
