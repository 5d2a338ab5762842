"""Reading of files that people bring: bounded, as UTF-8, and refused in one line.

Every file of numbers or settings is read through this module: ``tables`` and ``documents`` take
its text, images take its bytes. It opens ordinary files only, so that a named pipe or a device
cannot make a command wait for ever.
"""

from __future__ import annotations

import codecs
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

KIB = 1 << 10
MIB = 1 << 20
# Byte order marks of encodings that are refused by name; UTF-32's begin as UTF-16's do
_FOREIGN_MARKS = (
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)
# Bytes that are read at once where a file is read in parts, and the longest line there
_BLOCK = MIB
_LOOKED_AT = 64  # bytes in which UTF-16 without a mark shows: every second one of ASCII is zero
# Begins of files that are no text: what they are, and what to do. MCAP begins every log, and every
# bag of ROS 2 in MCAP
_NO_TEXT = (
    (
        b"\x89MCAP0",
        "a log (MCAP)",
        "a log of Tandem is read as it is: tandem replay LOG, tandem calibrate LOG",
    ),
    (b"PK\x03\x04", "a zip file, as .xlsx is", "save the sheet as CSV UTF-8"),
    (b"\x1f\x8b", "a file that gzip packed", "unpack it: gunzip FILE"),
    *(
        (begin, "a picture", "of a map the .yaml file is meant, which names its picture")
        for begin in (b"P5\n", b"\x89PNG", b"\xff\xd8\xff")
    ),
)
_UTF_8 = "save it as UTF-8 (in Excel: CSV UTF-8; in Notepad: encoding UTF-8)"


class FileFault(ValueError):
    """A file that cannot be used as it is; its text is one line.

    ``where`` is the file, with a line if there is one. Fields that do not apply are empty.
    """

    def __init__(
        self, what: str, *, where: str = "", expected: str = "", got: str = "", remedy: str = ""
    ) -> None:
        head = f"{where}: {what}" if where else what
        rest = (("expected", expected), ("got", got), ("", remedy))
        parts = (f"{name} {text}".strip() for name, text in rest if text)
        super().__init__("; ".join((head, *parts)).replace("\n", " "))
        self.what = what
        self.where = where
        self.expected = expected
        self.got = got
        self.remedy = remedy


class MissingFile(FileFault):
    """A file that does not exist."""


def read_bytes(path: Path, limit: int) -> bytes:
    """Return the bytes of an ordinary file of ``limit`` bytes at most.

    Raises FileFault for a file that is missing, unreadable, larger, or a pipe, device or folder.
    """
    with opened(path, limit) as (file, size):
        data = file.read(size + 1)
    if len(data) > limit:  # it grew
        raise _too_large(path, len(data), limit)
    return data


@contextmanager
def opened(path: Path, limit: int) -> Iterator[tuple[BinaryIO, int]]:
    """Open an ordinary file of ``limit`` bytes at most; yield it and its size. Raises FileFault."""
    try:
        # without waiting: a named pipe that nobody writes to would block the open itself
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except (OSError, ValueError) as error:  # ValueError: a zero in the name
        raise _unreadable(path, error) from None
    try:
        size = _size_of(path, os.fstat(handle), limit)
        with open(handle, "rb", closefd=False) as file:
            yield file, size
    except OSError as error:
        raise _unreadable(path, error) from None
    finally:
        os.close(handle)


def begins_with(path: Path, begin: bytes) -> bool:
    """Return whether an ordinary file begins so, after blanks; False if it cannot be read."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(_LOOKED_AT).removeprefix(codecs.BOM_UTF8).lstrip().startswith(begin)
    except (OSError, ValueError):
        return False


def read_text(path: Path, limit: int) -> str:
    """Return the text of a file in UTF-8, with or without a byte order mark.

    Raises FileFault as ``read_bytes`` does, and for another encoding, with the line.
    """
    return decoded(path, read_bytes(path, limit))


def decoded(path: Path, data: bytes) -> str:
    """Return the text of these bytes. Raises FileFault for another encoding than UTF-8."""
    _refuse_foreign(path, data)
    return _text_of(path, data.removeprefix(codecs.BOM_UTF8))


def read_lines(
    path: Path, limit: int, told: Callable[[int, int], None] | None = None
) -> Iterator[tuple[int, str]]:
    """Yield each line of a file as ``read_text`` and ``lines_of`` have them, but read it in parts.

    ``told`` is called with the bytes that were read, and those of the file. Raises FileFault as
    ``read_text`` does, and for a line of over 1 MiB.
    """
    number, rest, done = 1, b"", 0
    with opened(path, limit) as (file, size):
        while True:
            block = file.read(_BLOCK)
            if not done:
                _refuse_foreign(path, block)
                rest = block.removeprefix(codecs.BOM_UTF8)
            else:
                rest += block
            done += len(block)
            if done > limit:  # it grew
                raise _too_large(path, done, limit)
            part, rest = _whole_lines(rest) if block else (rest, b"")
            if len(rest) > _BLOCK:
                raise _too_long(path, number)
            lines = _split(_text_of(path, part, number))
            if block:
                lines.pop()  # what follows the last line's end
            yield from enumerate(lines, number)
            number += len(lines)
            if not block:
                return
            if told:
                told(done, max(size, done))


def _whole_lines(data: bytes) -> tuple[bytes, bytes]:
    """Part these bytes after the last line that is whole; a CR at the end may be half a CRLF."""
    end = max(data.rfind(b"\n"), data.rfind(b"\r", 0, -1)) + 1
    return data[:end], data[end:]


def _refuse_foreign(path: Path, data: bytes) -> None:
    """Refuse the begin of what is no text, and of another encoding than UTF-8. Raises FileFault."""
    for begin, got, remedy in _NO_TEXT:
        if data.startswith(begin):
            what = "is not text in UTF-8"
            raise FileFault(what, where=str(path), expected="text", got=got, remedy=remedy)
    for mark, name in _FOREIGN_MARKS:
        if data.startswith(mark):
            raise _not_utf_8(path, 1, name)
    head = data[:_LOOKED_AT]
    if len(head) >= 4 and (not any(head[1::2]) or not any(head[::2])) and any(head):
        raise _not_utf_8(path, 1, "UTF-16")


def _text_of(path: Path, data: bytes, first_line: int = 1) -> str:
    """Return the text of bytes that begin in this line. Raises FileFault."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = first_line + data.count(b"\n", 0, error.start)
        raise _not_utf_8(path, line, f"the byte 0x{data[error.start]:02x}") from None


def lines_of(text: str) -> Iterator[tuple[int, str]]:
    """Yield each line with its number, from 1; lines end in LF, CRLF or CR alone.

    ``str.splitlines`` would also split at form feeds and other controls within a cell.
    """
    yield from enumerate(_split(text), 1)


def _split(text: str) -> list[str]:
    return text.replace("\r\n", "\n").replace("\r", "\n").split("\n")


def _size_of(path: Path, found: os.stat_result, limit: int) -> int:
    if not stat.S_ISREG(found.st_mode):
        kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a named pipe"))
        got = next((name for fits, name in kinds if fits(found.st_mode)), "a device or a socket")
        remedy = "name a file in it" if stat.S_ISDIR(found.st_mode) else ""
        raise FileFault(
            "cannot be read", where=str(path), expected="an ordinary file", got=got, remedy=remedy
        )
    if found.st_size > limit:
        raise _too_large(path, found.st_size, limit)
    return found.st_size


def _unreadable(path: Path, error: OSError | ValueError) -> FileFault:
    reason = getattr(error, "strerror", None) or str(error)
    kind = MissingFile if isinstance(error, FileNotFoundError) else FileFault
    return kind("cannot be read", where=str(path), got=reason, remedy="is its name right?")


def _too_large(path: Path, size: int, limit: int) -> FileFault:
    return FileFault(
        "is too large to be read",
        where=str(path),
        expected=f"at most {_bytes(limit)}",
        got=_bytes(size),
        remedy="is it the file that was meant?",
    )


def _too_long(path: Path, line: int) -> FileFault:
    return FileFault(
        "a line is too long to be read",
        where=f"{path}:{line}",
        expected=f"at most {_bytes(_BLOCK)}",
        remedy="is it the file that was meant?",
    )


def _not_utf_8(path: Path, line: int, got: str) -> FileFault:
    return FileFault(
        "is not text in UTF-8", where=f"{path}:{line}", expected="UTF-8", got=got, remedy=_UTF_8
    )


def _bytes(count: int) -> str:
    return f"{count / MIB:.1f} MiB" if count >= MIB else f"{count / KIB:.0f} KiB"
