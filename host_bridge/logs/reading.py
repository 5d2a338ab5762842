"""Reader of logs. A log that a kill cut short is read up to the last whole record."""

from __future__ import annotations

import json
import os
import struct
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from mcap.exceptions import EndOfFile, McapError
from mcap.records import Channel, Chunk, Footer, McapRecord, Message, Metadata
from mcap.stream_reader import StreamReader, breakup_chunk
from zstandard import ZstdError, frame_content_size

from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import misread_text, opened, raised_as
from host_bridge.logs.recorder import CAR, DERIVED, FACTS, NOTES, ORIGIN, RAW_ENCODING

_MAGIC = b"\x89MCAP0\r\n"
# What the library raises for damaged bytes: its own errors and others
_DAMAGES = (
    McapError,
    ZstdError,
    ValueError,
    struct.error,
    KeyError,
    IndexError,
    TypeError,
    OverflowError,
    MemoryError,
    RuntimeError,
)
_PREFIX = struct.Struct("<BQ")  # begins every record: opcode, length
_BLOCK = 1 << 16  # bytes that are looked at at once
_SECTOR = 512  # bytes of zeros at the end that no record of ours ends with
_UNPACKED_MAX = 8 << 20  # bytes of a chunk or of any other record; ours have 1 MiB
_RATIO_MAX = 500  # ours grow by 5 to 20


@dataclass(frozen=True, slots=True)
class Record:
    """One logged item. ``time_us`` is the recording host's monotonic clock."""

    time_us: int
    car: str  # empty for notes
    topic: str  # "up" and "down" hold bytes, the others rows
    value: bytes | dict[str, Any]


@dataclass(frozen=True)
class LogSummary:
    """The contents of a log; ``facts`` are its metadata by name: "tandem", "car/NAME"."""

    facts: dict[str, dict[str, str]]
    counts: dict[tuple[str, str], int]  # (car, topic) -> records
    first_us: int
    last_us: int
    notes: list[str]
    is_complete: bool


class LogOutline(NamedTuple):
    """The cars of a log by name, how long it is in s, and whether its end was written."""

    cars: tuple[str, ...]
    length_s: float
    is_complete: bool


def read(path: Path, *, derived: bool = False) -> Iterator[Record]:
    """Yield the records in the order in which they were written.

    Rows in Foxglove's schemas repeat what others hold: they are left out unless ``derived``.
    Raises errors.DataFileFault for a file that is no log of Tandem, or is damaged within.
    """
    channels: dict[int, Channel] = {}
    origin_ns: int | None = None
    for record in records(path):
        if isinstance(record, Channel):
            channels[record.id] = record
        elif isinstance(record, Metadata) and record.name == FACTS:
            origin_ns = _origin_ns(path, record)
        elif isinstance(record, Message) and origin_ns is not None:
            channel = channels.get(record.channel_id)
            if derived or channel is None or DERIVED not in channel.metadata:
                yield _ours(path, channels, record, origin_ns)
    if origin_ns is None:
        raise _no_log(path, "an MCAP file of somebody else, or one cut off at its beginning")


def is_log(path: Path) -> bool:
    """Return whether the file is a log of Tandem, whole or cut short; False for any other."""
    try:
        return path.is_file() and FACTS in facts(path)
    except DataFileFault:
        return False


def facts(path: Path) -> dict[str, dict[str, str]]:
    """Return the metadata by name. Raises errors.DataFileFault."""
    return {
        record.name: record.metadata
        for record in records(path, unpacks=False)
        if isinstance(record, Metadata)
    }


def cars_in(known: Mapping[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Return each car's metadata, by its name, out of a log's."""
    return {name.removeprefix(CAR): row for name, row in known.items() if name.startswith(CAR)}


def summary(path: Path) -> LogSummary:
    """Return the contents of a log. Raises errors.DataFileFault."""
    tally = _Tally()
    for record in read(path, derived=True):
        tally.add(record)
    is_complete = any(isinstance(it, Footer) for it in records(path, unpacks=False))
    return LogSummary(
        facts(path), tally.counts, tally.first_us, tally.last_us, tally.notes, is_complete
    )


def outline(path: Path) -> LogOutline | None:
    """Return a log's outline, as far as it is written; None for a file that is no log of Tandem."""
    metadata: dict[str, dict[str, str]] = {}
    times_ns: list[int] = []
    is_complete = False
    try:
        for record in records(path, unpacks=False):
            if isinstance(record, Metadata):
                metadata[record.name] = record.metadata
            elif isinstance(record, Chunk) and record.message_end_time:
                times_ns += [record.message_start_time, record.message_end_time]
            is_complete = is_complete or isinstance(record, Footer)
    except DataFileFault:
        return None
    if FACTS not in metadata:
        return None
    length_s = (max(times_ns) - min(times_ns)) * 1e-9 if times_ns else 0.0
    return LogOutline(tuple(sorted(cars_in(metadata))), length_s, is_complete)


@dataclass
class _Tally:
    counts: dict[tuple[str, str], int] = field(default_factory=dict)
    first_us: int = 0
    last_us: int = 0
    notes: list[str] = field(default_factory=list)

    def add(self, record: Record) -> None:
        key = (record.car, record.topic)
        if not self.counts:
            self.first_us = self.last_us = record.time_us
        self.counts[key] = self.counts.get(key, 0) + 1
        self.first_us = min(self.first_us, record.time_us)
        self.last_us = max(self.last_us, record.time_us)
        if not record.car and record.topic == NOTES and isinstance(record.value, dict):
            self.notes.append(str(record.value.get("text", "")))


class _Prefix:
    """A stream of the first ``size`` bytes of a file, for the library to read."""

    def __init__(self, stream: IO[bytes], size: int) -> None:
        self._stream = stream
        self._left = size

    def read(self, size: int) -> bytes:
        data = self._stream.read(min(size, self._left))
        self._left -= len(data)
        return data


def _complete_size(stream: IO[bytes]) -> int:
    """Return how many bytes of the file are whole records.

    A kill may have cut the last one; after a power cut the file may end in zeros, where its length
    was written already and its content was not.
    """
    total = _size_without_zeros(stream)
    at = len(_MAGIC)
    while at + _PREFIX.size <= total:
        stream.seek(at)
        _opcode, length = _PREFIX.unpack(stream.read(_PREFIX.size))
        if at + _PREFIX.size + length > total:
            break
        at += _PREFIX.size + length
    stream.seek(0)
    return min(at, total)


def _size_without_zeros(stream: IO[bytes]) -> int:
    """Return the size of the file without the zeros at its end, if they are of a power cut."""
    total = os.fstat(stream.fileno()).st_size
    size = total
    while size > 0:
        begin = max(size - _BLOCK, 0)
        stream.seek(begin)
        left = len(stream.read(size - begin).rstrip(b"\0"))
        size = begin + left
        if left:
            break
    return size if total - size >= _SECTOR else total


def records(path: Path, *, unpacks: bool = True) -> Iterator[McapRecord]:
    """Yield the records of a file: its chunks whole, or what is within them if it ``unpacks``."""
    with raised_as(), opened(path, sys.maxsize) as (stream, _):
        if stream.read(len(_MAGIC)) != _MAGIC:
            raise _no_log(path, "something else")
        size = _complete_size(stream)
        yield from _whole_records(path, stream, size, unpacks)


def _whole_records(path: Path, stream: IO[bytes], size: int, unpacks: bool) -> Iterator[McapRecord]:
    stream.seek(len(_MAGIC))
    # The closing magic after a footer is not read: a log without it is good too.
    source: Any = _Prefix(stream, size - len(_MAGIC))
    unpacked = 0
    try:
        reader = StreamReader(
            source,
            skip_magic=True,
            validate_crcs=True,
            emit_chunks=True,
            record_size_limit=_UNPACKED_MAX,
        )
        for record in reader.records:
            if not isinstance(record, Chunk) or not unpacks:
                yield record
            else:
                unpacked += unpacked_size(record)
                _refuse_bomb(path, unpacked, size)
                yield from breakup_chunk(record, validate_crc=True)
    except EndOfFile:
        return
    except _DAMAGES as error:
        raise DataFileFault(
            "the log is damaged", where=str(path), got=str(error), remedy="try `mcap recover`"
        ) from None


def unpacked_size(chunk: Chunk) -> int:
    """Return the bytes that a chunk's content takes when it is unpacked, by its own header.

    Raises ValueError for more than one chunk may take, and for a size that is not said.
    """
    size = chunk.uncompressed_size
    if chunk.compression not in ("", "zstd"):
        raise ValueError(f"a chunk in {chunk.compression}, and a log of Tandem is in zstd")
    if chunk.compression and chunk.data:  # the library obeys the frame's own size
        size = max(size, frame_content_size(chunk.data))
    if size > _UNPACKED_MAX:
        raise ValueError(f"a chunk of {size} bytes, at most {_UNPACKED_MAX}")
    return size


def _refuse_bomb(path: Path, unpacked: int, size: int) -> None:
    """Refuse a file that grows beyond anything that a log of cars grows by when it is unpacked."""
    if unpacked > _UNPACKED_MAX + _RATIO_MAX * size:
        raise DataFileFault(
            "this log is too large when it is unpacked",
            where=str(path),
            expected=f"at most {_RATIO_MAX} times the file",
            # bytes of a MiB and a KiB
            got=f"over {unpacked // (1 << 20)} MiB of {size // 1024} KiB",
            remedy="was it written by another program?",
        )


def _origin_ns(path: Path, record: Metadata) -> int:
    try:
        return int(record.metadata[ORIGIN])
    except (KeyError, ValueError) as error:
        raise _no_log(path, f"one whose beginning is not as ours: {misread_text(error)}") from None


def _ours(path: Path, channels: dict[int, Channel], record: Message, origin_ns: int) -> Record:
    """Convert a record. Another program's file may have our metadata, but other channels."""
    try:
        return _record(channels[record.channel_id], record, origin_ns)
    except (KeyError, ValueError, RecursionError) as error:
        raise DataFileFault(
            "the log holds what no log of Tandem does",
            where=str(path),
            expected="channels with the car and the topic in their metadata, and rows in JSON",
            got=misread_text(error),
            remedy="was it written by another program, or merged? try `mcap recover`",
        ) from None


def _record(channel: Channel, message: Message, origin_ns: int) -> Record:
    is_raw = channel.message_encoding == RAW_ENCODING
    value = message.data if is_raw else json.loads(message.data)
    if not isinstance(value, bytes | dict):
        raise ValueError("a row that is neither bytes nor names with values")
    names = channel.metadata
    return Record((message.log_time - origin_ns) // 1000, names["car"], names["topic"], value)


def _no_log(path: Path, got: str) -> DataFileFault:
    return DataFileFault(
        "this is no log of Tandem",
        where=str(path),
        expected="an MCAP file that `tandem record -o FILE` wrote",
        got=got,
        remedy="files of commands are played by tandem drive --input csv:FILE",
    )
