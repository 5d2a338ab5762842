"""The installation of MicroPython itself, from a file that the user has: UF2, ESP32's .bin, DFU."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path

from host_bridge.core.errors import DeviceFault, UsageFault

_INFO = "INFO_UF2.TXT"
_BOARD_ID = "Board-ID: "
BOOT_DRIVES = {"rp2040": "RPI-RP2", "rp2350": "RP2350"}  # the Board-ID of a chip's boot drive
_DRIVES = ("/media/*/*", "/run/media/*/*", "/Volumes/*", "/mnt/*")
_DRIVE_WITHIN_S = 30.0  # a person may have to mount it


def install_runtime(file: Path, chip: str, port: str, drives: Iterable[Path] | None = None) -> str:
    """Put an examined MicroPython onto a board in its loader; return what was done.

    ``drives`` are folders that may be a boot drive; with None the usual mount points are searched.
    Raises errors.TandemError.
    """
    if file.suffix == ".uf2":
        return _by_drive(file, chip, drives)
    if file.suffix == ".bin":
        return _by_esptool(file, port)
    raise UsageFault(
        "a DFU file is installed by dfu-util",
        where=str(file),
        remedy=f"BOOT0 to 3V3, press reset, dfu-util -a 0 -D {file}, BOOT0 back, press reset; "
        "then run the command again without --runtime",
    )


def _by_drive(file: Path, chip: str, drives: Iterable[Path] | None) -> str:
    drive = _found_drive(BOOT_DRIVES[chip], drives)
    with file.open("rb") as source, (drive / file.name).open("wb") as target:
        shutil.copyfileobj(source, target)
        target.flush()
        os.fsync(target.fileno())
    return f"copied {file.name} to {drive}; the board restarts by itself"


def _found_drive(board_id: str, drives: Iterable[Path] | None) -> Path:
    """Return the boot drive of this board id: of ``drives``, or the one that is mounted in time.

    Raises errors.DeviceFault if there is none: of ``drives`` at once, else within 30 s.
    """
    give_up_s = time.monotonic() + _DRIVE_WITHIN_S
    while True:
        seen = list(drives if drives is not None else _mounted())
        infos = {folder: _info(folder) for folder in seen if (folder / _INFO).exists()}
        for folder, found in infos.items():
            if found == board_id:
                return folder
        if drives is not None or time.monotonic() > give_up_s:
            raise DeviceFault(
                "no boot drive of this chip is here",
                expected=f"a drive with {_INFO}, in it {_BOARD_ID}{board_id}",
                got=", ".join(f"{folder}: {found}" for folder, found in infos.items()),
                remedy="hold BOOTSEL while you plug the board in, mount its drive, and run "
                "the command again",
            )
        time.sleep(0.5)


def _mounted() -> Iterable[Path]:
    for pattern in _DRIVES:
        yield from Path("/").glob(pattern.lstrip("/"))


def _info(folder: Path) -> str:
    lines = (folder / _INFO).read_text(errors="replace").splitlines()
    return next((line.removeprefix(_BOARD_ID) for line in lines if line.startswith(_BOARD_ID)), "")


def _by_esptool(file: Path, port: str) -> str:
    tool = shutil.which("esptool") or shutil.which("esptool.py")
    if tool is None:
        raise UsageFault(
            "esptool, which writes a .bin, is not installed",
            where=str(file),
            remedy=f"pip install esptool; or: esptool --port {port} write_flash 0 {file}",
        )
    done = subprocess.run(
        [tool, "--port", port, "write_flash", "0", str(file)], check=False, stdin=subprocess.DEVNULL
    )
    if done.returncode:
        raise DeviceFault(
            "esptool did not write the runtime",
            where=port,
            got=f"exit code {done.returncode}",
            remedy="hold BOOT while you press RESET, then run the command again",
        )
    return f"esptool wrote {file.name}"
