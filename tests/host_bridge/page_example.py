"""Installs the example of a page, as its reader would."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

_PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "{project}"
version = "1.0"

[tool.setuptools]
py-modules = ["{module}"]

"""


def install_example(page: Path, module: str, folder: Path, more_entries: str = "") -> Path:
    """Install the page's one Python block as this module, and its entry points; return the target.

    ``more_entries`` are further lines for the table of entry points with which the page's TOML
    block ends.
    """
    text = page.read_text(encoding="utf-8")
    (code,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    (entry,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    source, target = folder / "source", folder / "installed"
    source.mkdir()
    (source / f"{module}.py").write_text(code)
    project = _PROJECT.format(project=module.replace("_", "-"), module=module)
    (source / "pyproject.toml").write_text(project + entry + more_entries)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
         "--no-build-isolation", "--target", str(target), str(source)],
        check=True,
    )  # fmt: skip
    return target
