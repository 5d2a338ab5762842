"""Installs the example of a page, as its reader would."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

_PROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "{project}"
version = "1.0"

[tool.setuptools]
py-modules = {modules}
packages = {packages}

[tool.setuptools.package-data]
"*" = ["*.toml"]

"""


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of that language of a page."""
    text = page.read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def install_example(page: Path, module: str, folder: Path, more_entries: str = "") -> Path:
    """Install the page's one Python block as this module, and its entry points; return the target.

    ``more_entries`` are further lines for the table of entry points with which the page's TOML
    block ends.
    """
    (code,) = blocks(page, "python")
    (entry,) = blocks(page, "toml")
    return install_files({f"{module}.py": code}, entry + more_entries, folder)


def install_files(files: Mapping[str, str], entries: str, folder: Path) -> Path:
    """Install these files, modules and folders with data, as one package; return the target."""
    source, target = folder / "source", folder / "installed"
    for name, text in files.items():
        path = source / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    modules = [Path(name).stem for name in files if "/" not in name]
    packages = sorted({name.split("/")[0] for name in files if "/" in name})
    project = _PROJECT.format(
        project=(modules + packages)[0].replace("_", "-"), modules=modules, packages=packages
    )
    (source / "pyproject.toml").write_text(project + entries)
    subprocess.run(
        [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps",
         "--no-build-isolation", "--target", str(target), str(source)],
        check=True,
    )  # fmt: skip
    return target
