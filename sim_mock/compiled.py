"""The virtual car as machine code, its program and its plant: the same files, compiled by mypyc.

``make fast`` compiles them once into ``.fast/``, which takes a C compiler and a minute or two of
one core; ``TANDEM_FAST=1`` before any command uses what is there. Results are the same to the
last bit: the same operations in the same order, with the same C library, and never fused
(-ffp-contract). A folder is named for the sources that it was made from, so a changed file is
never answered by an old program.
"""

from __future__ import annotations

import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from sim_mock.rewritten import rewritten

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".fast"
ASKED = "TANDEM_FAST"
_PLANT = ("body", "brake", "drive", "esc", "integrators", "motor", "parameters", "servo", "tyre",
          "vesc")  # fmt: skip
# the slowest model, which a busy machine hardly keeps up with
_AUTODRIVE = ("automobile", "car", "curve", "gearbox", "motor", "powertrain", "steering")
_CORE = {file.stem for file in ROOT.glob("firmware/core/*.py")} - {
    *("__init__", "params", "checked_params")
}
# Not of these: what other files make subclasses of, or give any field (world, messages), and the
# table of parameters, which is nothing but a long start.
MODULES = (
    *(f"sim_mock.plant.{name}" for name in (*_PLANT, "vehicle_plant")),
    *(f"sim_mock.sensors.{name}" for name in ("encoder", "imu", "noise")),
    "sim_mock.models.integration",
    *(f"sim_mock.models.autodrive.{name}" for name in _AUTODRIVE),
    *("sim_mock.circuit", "sim_mock.metal"),
    *(f"firmware.core.{name}" for name in sorted(_CORE)),
    *("firmware.protocol.frame", "firmware.boards.virtual", "firmware.app"),
)
# whose constants they use
_NUMBERS = (
    *("firmware.core.params", "firmware.protocol.codec", "firmware.protocol.codes"),
    "firmware.protocol.ranges",
)
_READ = (  # besides: what they are checked and rewritten by
    *("sim_mock/plant", "sim_mock/sensors", "sim_mock/models/autodrive"),
    *("firmware/core", "firmware/protocol"),
    *("firmware/boards/contract.py", "firmware/compat.py", "firmware/c_library.py"),
    *("sim_mock/firmware_runner.py", "sim_mock/compiled.py", "sim_mock/rewritten.py"),
)
_SHARED = "tandem_fast"  # the library that the modules are windows of
_SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]


class NotCompiledError(ImportError):
    """Asked for, and not there."""


class Finder(importlib.abc.MetaPathFinder):
    """Finds the compiled modules before their sources."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in MODULES and not name.startswith(_SHARED):
            return None
        return importlib.util.spec_from_file_location(name, self._folder / f"{name}{_SUFFIX}")


def folder() -> Path:
    """Where the compiled form of the present sources belongs, for this Python."""
    digest = hashlib.sha256()
    for file in sources():
        digest.update(file.read_bytes())
    return HOME / f"{sys.implementation.cache_tag}-{digest.hexdigest()[:16]}"


def sources() -> list[Path]:
    """What the compiled form depends on."""
    given = [*(ROOT / place for place in _READ), *(ROOT / file for file in _files())]
    files = {file for one in given for file in ([one] if one.is_file() else one.glob("*.py"))}
    return sorted(files)


def use() -> None:
    """From now on the compiled modules are imported; who has a plain one already keeps it.

    Raises NotCompiledError.
    """
    place = folder()
    if not place.is_dir():
        raise NotCompiledError(
            f"{ASKED} is set, but nothing is compiled from the present sources: expected {place}; "
            f"run make fast, or unset {ASKED}"
        )
    for name in MODULES:  # machine code knows only its own kind
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Finder(place))


def build() -> Path:
    """Compile, unless it is done; returns the folder. Raises RuntimeError without a compiler."""
    place = folder()
    if place.is_dir():
        return place
    HOME.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=HOME) as work:
        made = _compiled(Path(work))
        for old in HOME.glob(f"{sys.implementation.cache_tag}-*"):
            shutil.rmtree(old)
        made.rename(place)
    return place


def _compiled(work: Path) -> Path:
    from mypyc.build import mypycify  # requirements-fast.lock has them
    from setuptools import Distribution
    from setuptools.errors import CCompilerError, ExecError, PlatformError

    os.environ["CFLAGS"] = f"{os.environ.get('CFLAGS', '')} -ffp-contract=off"
    os.chdir(_rewritten(work / "sources"))  # names of modules follow from it
    options = ["--config-file=", "--explicit-package-bases", "--follow-imports=silent"]
    modules = mypycify(
        [*options, *_files()],
        opt_level="2",
        debug_level="0",
        target_dir=str(work / "c"),
        group_name=_SHARED,
    )
    command = Distribution({"ext_modules": modules}).get_command_obj("build_ext")
    command.build_lib, command.build_temp = str(work / "lib"), str(work / "temp")
    try:
        command.ensure_finalized()
        command.run()
    except (CCompilerError, ExecError, PlatformError) as error:
        raise RuntimeError(f"it takes a C compiler, and {error}") from None
    return _flat(work / "lib")


def _rewritten(tree: Path) -> Path:
    """A copy of the sources as the compiler is to see them."""
    for package in ("firmware", "sim_mock"):
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("__*__"))
    for name in (*MODULES, *_NUMBERS):
        file = tree / f"{name.replace('.', '/')}.py"
        file.write_text(rewritten(file.read_text(), vars(importlib.import_module(name))))
    return tree


def _flat(lib: Path) -> Path:
    """All in one folder, by full name."""
    for file in [*lib.rglob(f"*{_SUFFIX}")]:
        file.rename(lib / ".".join(file.relative_to(lib).parts))
    for left in [*lib.iterdir()]:
        if left.is_dir():
            shutil.rmtree(left)
    return lib


def _files() -> list[str]:
    return [f"{name.replace('.', '/')}.py" for name in MODULES]


if __name__ == "__main__":
    try:
        print(f"compiled: {build()}")
    except RuntimeError as error:
        sys.exit(f"make fast: {error}")
    print(f"{ASKED}=1 before a command uses it: {ASKED}=1 tandem drive --car sim://nigel")
