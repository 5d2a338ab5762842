"""Compilation of the virtual car's program, plant and host to machine code by mypyc.

``make fast`` compiles them once into ``.fast/``, which takes a C compiler and two minutes of one
core. Drives in lockstep, campaigns and ``import tandem`` then use the result by themselves, any
other command with ``TANDEM_FAST=1``, and none with ``TANDEM_FAST=0``. Results are bit-identical:
the same operations in the same order, with the same C library, and never fused (-ffp-contract). A
folder is named by the hash of the sources that it was made from, so a changed source is never run
as old code.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib.abc
import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from sim_mock.runtime.rewritten import rewritten

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".fast"
ASKED = "TANDEM_FAST"
_PLANT = ("body", "brake", "drive", "esc", "integrators", "motor", "parameters", "servo", "tyre",
          "vesc")  # fmt: skip
# The slowest model, with which a busy machine hardly reaches real time.
_AUTODRIVE = ("automobile", "car", "curve", "gearbox", "motor", "powertrain", "steering")
# The host's side of a car, from a command to its frame and from the car's bytes to its reports.
_LINK = ("clock_sync", "connection", "event_stream", "requests", "session_time", "statistics",
         "wire")  # fmt: skip
_CARS = ("acceptance", "car", "fleet", "stop_source_heartbeat")
_DRIVE = ("control_task", "drive", "trip_statistics", "lockstep.car", "lockstep.loop")
_CORE = {
    ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for file in ROOT.glob("firmware/core/**/*.py")
    if file.stem not in ("__init__", "contract", "params", "checked_params")
}
# Left out: classes that other files subclass, add fields to (messages), or put foreign parts into
# (world, controls); records that are made by the hundred a second, for a frozen dataclass is slower
# to make; and the table of parameters, which would only slow the start down.
MODULES = (
    *(f"sim_mock.plant.{name}" for name in (*_PLANT, "vehicle_plant")),
    *(f"sim_mock.sensors.{name}" for name in ("encoder", "imu")),
    *("sim_mock.tracks.contact", "sim_mock.virtual_car.on_board_sensors"),
    "sim_mock.models.integration",
    *(f"sim_mock.models.autodrive.{name}" for name in _AUTODRIVE),
    *("sim_mock.board.runstop_circuit", "sim_mock.board.hardware"),
    *sorted(_CORE),
    *("firmware.protocol.frame", "firmware.boards.simulated.virtual", "firmware.app"),
    *(f"host_bridge.core.{name}" for name in ("board_time", "laps", "system.clock")),
    *(f"host_bridge.link.protocol.{name}" for name in _LINK),
    *(f"host_bridge.cars.{name}" for name in _CARS),
    *(f"host_bridge.drive.{name}" for name in _DRIVE),
)
# Modules whose constants the compiled modules use.
_NUMBERS = (
    *("firmware.core.settings.params", "firmware.protocol.codec", "firmware.protocol.codes"),
    "firmware.protocol.ranges",
)
_READ = (  # further sources that the result depends on: for type checks and for the rewriting
    *("sim_mock/plant", "sim_mock/sensors", "sim_mock/models/autodrive"),
    *("firmware/core", "firmware/protocol", "firmware/compat.py", "firmware/c_library.py"),
    *("host_bridge/cars", "host_bridge/core", "host_bridge/drive", "host_bridge/link/protocol"),
    *(
        "sim_mock/board/firmware_runner.py",
        "sim_mock/runtime/compiled.py",
        "sim_mock/runtime/rewritten.py",
    ),
)
_SHARED = "tandem_fast"  # the shared library that holds the code of all modules
_SUFFIX = importlib.machinery.EXTENSION_SUFFIXES[0]


class NotCompiledError(ImportError):
    """The compiled modules were asked for but do not exist."""


class Finder(importlib.abc.MetaPathFinder):
    """An import finder that finds the compiled modules before their sources."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if name not in MODULES and not name.startswith(_SHARED):
            return None
        return importlib.util.spec_from_file_location(name, self._folder / f"{name}{_SUFFIX}")


def folder() -> Path:
    """Return the folder for the compiled form of the present sources, for this Python."""
    digest = hashlib.sha256()
    for file in sources():
        digest.update(file.read_bytes())
    return HOME / f"{sys.implementation.cache_tag}-{digest.hexdigest()[:16]}"


def is_built() -> bool:
    """Return whether the present sources are compiled, for this Python."""
    return HOME.is_dir() and folder().is_dir()


def is_in_use() -> bool:
    """Return whether this process imports the compiled modules."""
    return any(isinstance(finder, Finder) for finder in sys.meta_path)


def how_to_build() -> str:
    """Return the command that compiles the present sources; "" without a C compiler."""
    compiler = os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc"
    if not shutil.which(shlex.split(compiler)[0]):
        return ""
    if (ROOT / "Makefile").is_file():
        return "make fast"
    return f"pip install mypy setuptools && {Path(sys.executable).name} -m {__spec__.name}"


def sources() -> list[Path]:
    """Return the files that the compiled form depends on."""
    given = [*(ROOT / place for place in _READ), *(ROOT / file for file in _files())]
    files = {file for one in given for file in ([one] if one.is_file() else one.rglob("*.py"))}
    return sorted(files)


def use() -> None:
    """Import the compiled modules from now on; code that holds a plain module already keeps it.

    Raises NotCompiledError if nothing is compiled from the present sources.
    """
    place = folder()
    if not place.is_dir():
        raise NotCompiledError(
            f"{ASKED} is set, but nothing is compiled from the present sources: expected {place}; "
            f"{how_to_build() or 'install a C compiler'}, or unset {ASKED}"
        )
    for name in MODULES:  # compiled classes do not work with plain ones of the same modules
        sys.modules.pop(name, None)
    sys.meta_path.insert(0, Finder(place))


def use_if_built() -> bool:
    """Import the compiled modules from now on if there are any; return whether they are in use.

    ``TANDEM_FAST=0`` keeps the plain ones, and so does a program that has imported some already.
    """
    if is_in_use():
        return True
    if os.environ.get(ASKED) == "0" or not is_built():
        return False
    if any(name in sys.modules for name in MODULES):
        return False
    use()
    return True


def build() -> Path:
    """Compile unless it is done; return the folder. Raises RuntimeError without a compiler."""
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
    os.chdir(_rewritten(work / "sources"))  # mypyc derives module names from the current folder
    options = ["--config-file=", "--explicit-package-bases", "--follow-imports=silent"]
    options.append("--ignore-missing-imports")  # some packages that the host uses have no types
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
    """Copy the sources and rewrite them for the compiler; return the copy's folder."""
    for package in ("firmware", "host_bridge", "sim_mock"):
        shutil.copytree(ROOT / package, tree / package, ignore=shutil.ignore_patterns("__*__"))
    for name in (*MODULES, *_NUMBERS):
        file = tree / f"{name.replace('.', '/')}.py"
        file.write_text(rewritten(file.read_text(), vars(importlib.import_module(name))))
    return tree


def _flat(lib: Path) -> Path:
    """Move all compiled modules into one folder, named by their full module names."""
    for file in [*lib.rglob(f"*{_SUFFIX}")]:
        file.rename(lib / ".".join(file.relative_to(lib).parts))
    for left in [*lib.iterdir()]:
        if left.is_dir():
            shutil.rmtree(left)
    return lib


def _files() -> list[str]:
    return [f"{name.replace('.', '/')}.py" for name in MODULES]


if __name__ == "__main__":
    argparse.ArgumentParser(
        "python -m sim_mock.runtime.compiled", description=(__doc__ or "").partition("\n")[0]
    ).parse_args()
    try:
        print(f"compiled: {build()}")
    except RuntimeError as error:
        sys.exit(f"not compiled: {error}")
    print(
        "campaigns, drives in lockstep and import tandem use it by themselves, other commands with "
        f"{ASKED}=1: {ASKED}=1 tandem drive --car sim://nigel"
    )
