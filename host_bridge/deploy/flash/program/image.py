"""The examination of a MicroPython file: for which board, of which version, and whether complete.

micropython.org publishes no hashes beside its files. So a UF2 file is read through: every block is
there, in order and for this chip, and the image contains the names of its board and its version.
The hash of the whole is shown, to compare with another's copy, and checked if one was given.
"""

from __future__ import annotations

import hashlib
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from host_bridge.config.boards import BoardType
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.deploy.flash.board.board import OLDEST

# The UF2 format: magic words, flags, address, size, block, blocks, family; data; a magic word
HEAD = struct.Struct("<8I")
MAGIC = (0x0A324655, 0x9E5D5157)
END = struct.Struct("<I")
END_MAGIC = 0x0AB16F30
BLOCK = 512
# chip -> the family id in the file, from Raspberry Pi's boot ROMs
FAMILIES = {"rp2040": 0xE48BFF56, "rp2350": 0xE48BFF59}
# The vendor's tool puts a block of this family before all others for an RP2350 (its erratum E10)
_ABSOLUTE = 0xE48BFF57
KINDS = (".uf2", ".bin", ".dfu")
_VERSION = re.compile(rb"MicroPython v(\d+)\.(\d+)(?:\.(\d+))?")
_SITE = "https://micropython.org/download"


@dataclass(frozen=True)
class Image:
    """A file of MicroPython. ``version`` is empty if the kind of file does not tell it."""

    file: Path
    sha256: str
    version: str

    def row(self) -> dict[str, object]:
        """Return the rows for people and programs."""
        shown = {"runtime_version": self.version} if self.version else {}
        return {"runtime_file": self.file.name, "runtime_sha256": self.sha256, **shown}


def where_to_get(board: BoardType) -> str:
    """Return who offers MicroPython for this board, and which file it is."""
    least = f"version {OLDEST[0]}.{OLDEST[1]} or newer"
    if not board.micropython:
        return f"a MicroPython for {board.title}, {least}, from whoever makes it for that board"
    ending = {"rp2": "uf2", "esp32": "bin", "stm32": "dfu"}[board.chip.port]
    return f"{_SITE}/{board.micropython}/: {board.micropython}-DATE-vVERSION.{ending}, {least}"


def examine_image(file: Path, board: BoardType, sha256: str | None = None) -> Image:
    """Read a file of MicroPython and check that it is whole and for this board.

    Raises errors.DataFileFault for a file that does not exist, is cut short, is for another board,
    too old, or has another hash than ``sha256``; errors.UsageFault for another kind of file.
    """
    if file.suffix not in KINDS:
        raise UsageFault(
            "this file is not a MicroPython",
            where=str(file),
            expected="a .uf2, .bin or .dfu file",
            got=f"a name that ends in {file.suffix or 'nothing'}",
            remedy=f"download one from {where_to_get(board)}",
        )
    if file.suffix == ".uf2" and board.chip.name not in FAMILIES:
        what = f"a {board.chip.name} takes no UF2 file"
        raise UsageFault(
            what,
            where=str(file),
            expected="a .bin or .dfu file",
            got="a .uf2 file",
            remedy=f"download one from {where_to_get(board)}",
        )
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DataFileFault(
            "this MicroPython file cannot be read",
            where=str(file),
            got=error.strerror or str(error),
            remedy=f"download it from {where_to_get(board)}",
        ) from None
    found = hashlib.sha256(data).hexdigest()
    if sha256 and found != sha256.lower():
        raise _wrong(file, board, "this runtime is another file than was meant", sha256, found)
    version = _read_through(file, board, data) if file.suffix == ".uf2" else ""
    return Image(file, found, version)


def _read_through(file: Path, board: BoardType, data: bytes) -> str:
    image = b"".join(_blocks(file, board, data))
    version = _VERSION.search(image)
    if version is None:
        raise _wrong(file, board, "this is no MicroPython", "MicroPython v...", "no such words")
    numbers = tuple(int(part or 0) for part in version.groups())
    if numbers[:2] < OLDEST:
        least = f"{OLDEST[0]}.{OLDEST[1]} or newer"
        shown = ".".join(map(str, numbers))
        raise _wrong(file, board, "this MicroPython is too old for the program", least, shown)
    if board.machine.encode() not in image:
        raise _wrong(file, board, "this runtime is for another board", board.machine, "another")
    return ".".join(map(str, numbers))


def _blocks(file: Path, board: BoardType, data: bytes) -> Iterator[bytes]:
    """Yield the data of each block, checking that each is there once, in order, for this chip."""
    family = FAMILIES[board.chip.name]
    data = _without_workaround(data) if board.chip.name == "rp2350" else data
    for number, at in enumerate(range(0, max(len(data), 1), BLOCK)):
        block = data[at : at + BLOCK].ljust(BLOCK, b"\0")
        *magic, _, _, size, own, count, of = HEAD.unpack_from(block)
        if tuple(magic) != MAGIC and number == 0:
            raise _wrong(file, board, "this is no UF2 file", "UF2's magic words", "others")
        if tuple(magic) == MAGIC and of != family:
            chip = f"family 0x{family:08x}, the {board.chip.name}'s"
            raise _wrong(file, board, "this runtime is for another chip", chip, f"0x{of:08x}")
        end = END.unpack_from(block, BLOCK - END.size)[0]
        is_there = (*magic, end) == (*MAGIC, END_MAGIC)
        if not (is_there and own == number and count * BLOCK == len(data)):
            expected = (
                f"whole blocks of {BLOCK} bytes, as many as the first one says, in their order"
            )
            got = f"{len(data)} bytes, wrong from block {number} on"
            raise _wrong(file, board, "this runtime is cut short or damaged", expected, got)
        yield block[HEAD.size : HEAD.size + size]


def _without_workaround(data: bytes) -> bytes:
    head = HEAD.unpack_from(data.ljust(HEAD.size, b"\0"))
    return data[BLOCK:] if head[:2] == MAGIC and head[-1] == _ABSOLUTE else data


def _wrong(file: Path, board: BoardType, what: str, expected: str, got: str) -> DataFileFault:
    remedy = f"download it anew: {where_to_get(board)}"
    return DataFileFault(what, where=str(file), expected=expected, got=got, remedy=remedy)
