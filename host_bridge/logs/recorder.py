"""Writer of logs: every byte that went over the wire, and its decoded meaning, as MCAP.

Channels of a car: ``/CAR/up`` (to the car) and ``/CAR/down`` (from it) hold the bytes as they were
sent or came in; the others, such as ``/CAR/status``, hold JSON in SI units.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from mcap.writer import Writer

from host_bridge.core import Vehicle
from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.clock import Clock
from host_bridge.logs import rows
from host_bridge.logs.foxglove_rows import (
    ORIGIN as MAP_ORIGIN,
)
from host_bridge.logs.foxglove_rows import (
    SCHEMAS,
    Place,
    StandardRow,
    StandardRows,
    image_row,
    log_row,
)
from host_bridge.logs.new_file import SpilledList, open_new
from host_bridge.logs.sensor_lines import LidarScan

UP, DOWN = "up", "down"  # to the car, from the car
FACTS = "tandem"  # the name of the metadata by which a log of Tandem is recognised
ORIGIN = "origin_ns"
CAR = "car/"  # the prefix of a car's metadata, before its name
NOTES = "notes"
LIDAR = "lidar"
CAMERA = "camera"
RAW_ENCODING = "tandem"
DERIVED = "derived"  # in the metadata of a channel that repeats what others hold

# A kill loses at most one chunk that was not yet handed to the system. Short enough to lose next to
# nothing, long enough to compress; either limit ends a chunk.
FLUSH_EVERY_US = 250_000
CHUNK_BYTES = 128 * 1024
_INDEX = "_Writer__chunk_indices"

Decode = Callable[[bytes], Iterable[object]]


class Recorder:
    """The writer of one log. It never fails or stops its caller: ``fault`` says why it ended.

    ``wall_ns`` is the wall clock (nanoseconds since 1970) at this moment, ``facts`` go into the
    file's metadata. ``new_decoder`` makes, for each car and direction, a function from bytes as
    they come to dataclasses; each of those is recorded on a channel named after its class, and
    once more in Foxglove's standard schemas where there is one for it.
    """

    def __init__(
        self,
        stream: IO[bytes],
        clock: Clock,
        wall_ns: int,
        facts: Mapping[str, str],
        new_decoder: Callable[[], Decode] | None = None,
    ) -> None:
        self.fault: DataFileFault | None = None
        self._stream = stream
        self._clock = clock
        self._origin_ns = wall_ns - clock.now_us() * 1000
        self._flushed_us = clock.now_us()
        self._new_decoder = new_decoder
        self._decoders: dict[tuple[str, str], Decode] = {}
        self._channels: dict[tuple[str, str], int] = {}
        self._standard: dict[str, StandardRows] = {}
        self._writer = Writer(stream, chunk_size=CHUNK_BYTES)
        self._index: SpilledList | None = None
        self._attempt(self._spill_index)
        self._attempt(self._start, {**facts, ORIGIN: str(self._origin_ns)})
        self._attempt(self._writer.flush)

    def car(self, car: str, facts: Mapping[str, str]) -> None:
        """Add what is known of a car (vehicle, URI, hashes) as metadata ``car/NAME``."""
        self._attempt(self._writer.add_metadata, f"{CAR}{car}", dict(facts))

    def place(
        self,
        car: str,
        vehicle: Vehicle | None,
        start: Place = MAP_ORIGIN,
        walls: Sequence[Sequence[float]] = (),
    ) -> None:
        """Draw a car in Foxglove as this vehicle, begun there in the map, between these walls."""
        self._standard[car] = drawn = StandardRows(car, vehicle, start)
        if len(walls):
            now_us = self._clock.now_us()
            self._add_standard(car, drawn.track(walls, self._wall_ns(now_us)), now_us)

    def frame(self, car: str, direction: str, data: bytes, time_us: int) -> None:
        """Log bytes as they were sent (UP) or came in (DOWN), and their decoded meaning."""
        channel = self._channel(car, direction, None)
        self._add(channel, data, time_us)
        if self._new_decoder is None:
            return
        if (car, direction) not in self._decoders:
            self._decoders[car, direction] = self._new_decoder()
        for report in self._decoders[car, direction](data):
            self.report(car, report, time_us)

    def report(self, car: str, report: object, time_us: int) -> None:
        """Log a dataclass on the channel of its class."""
        kind = type(report)
        topic = rows.topic_of(kind)
        channel = self._channel(car, topic, lambda: rows.schema_of(kind))
        self._add(channel, _json(rows.row_of(report)), time_us)
        for row in self._drawn(car).of(report, self._wall_ns(time_us)):
            self._add_standard(car, row, time_us)

    def scan(self, car: str, scan: LidarScan, time_us: int) -> None:
        """Log a scan of a car; a ray without a return is -1 m."""
        ranges_m = [-1.0 if it is None else round(it, 3) for it in scan.ranges_m]
        row = {"taken_s": scan.taken_s, "first_rad": scan.first_rad, "step_rad": scan.step_rad}
        self.message(car, LIDAR, {**row, "ranges_m": ranges_m}, time_us)
        self._add_standard(car, self._drawn(car).scan(scan, self._wall_ns(time_us)), time_us)

    def image(self, jpeg: bytes, time_us: int) -> None:
        """Log a picture of the camera, in Foxglove's schema alone."""
        row = image_row(CAMERA, jpeg, self._wall_ns(time_us))
        self._add_standard(CAMERA, row, time_us)

    def message(self, car: str, topic: str, row: Mapping[str, object], time_us: int) -> None:
        """Log a row given as a mapping. The first one of a topic sets the channel's schema."""
        channel = self._channel(car, topic, lambda: rows.schema_of_row(row))
        self._add(channel, _json(rows.plain_row(row)), time_us)

    def note(self, text: str) -> None:
        """Log a remark at this moment."""
        now_us = self._clock.now_us()
        self.message("", NOTES, {"text": text}, now_us)
        self._add_standard("", log_row("tandem", text, self._wall_ns(now_us)), now_us)

    def step(self) -> None:
        """Flush to the system if that is due. Every logged item does this too."""
        now_us = self._clock.now_us()
        if now_us - self._flushed_us >= FLUSH_EVERY_US:
            self._flushed_us = now_us
            self._attempt(self._writer.flush)

    def close(self) -> None:
        """Write the index and close the file."""
        if self._stream.closed:
            return
        self._attempt(self._writer.finish)
        if self._index is not None:
            self._index.close()
        try:
            self._stream.close()
        except OSError as error:
            self._failed(error)

    def _spill_index(self) -> None:
        """Keep the library's index on disk.

        In memory it grows by four entries a second until the end.
        """
        name = getattr(self._stream, "name", None)
        self._index = SpilledList(Path(name).parent if isinstance(name, str) else None)
        if not isinstance(getattr(self._writer, _INDEX, None), list):
            raise TypeError(f"mcap's writer has no list {_INDEX} any more")
        setattr(self._writer, _INDEX, self._index)

    def _start(self, facts: Mapping[str, str]) -> None:
        self._writer.start(profile="", library=f"tandem {facts.get('version', '')}".strip())
        self._writer.add_metadata(FACTS, dict(facts))

    def _drawn(self, car: str) -> StandardRows:
        return self._standard.setdefault(car, StandardRows(car))

    def _add_standard(self, car: str, row: StandardRow, time_us: int) -> None:
        channel = self._channel(car, row.topic, lambda: SCHEMAS[row.schema], row.schema)
        self._add(channel, _json(row.row), time_us)

    def _channel(
        self,
        car: str,
        topic: str,
        schema: Callable[[], rows.Schema] | None,
        standard: str = "",
    ) -> int:
        """Return the channel of a topic; ``standard`` is the name of a schema of Foxglove's."""
        known = self._channels.get((car, topic))
        if known is not None:
            return known
        schema_id = 0
        if schema is not None:
            text = json.dumps(schema()).encode()
            schema_id = self._writer.register_schema(
                standard or f"tandem.{topic}", "jsonschema", text
            )
        encoding = "json" if schema else RAW_ENCODING
        self._channels[car, topic] = self._writer.register_channel(
            f"/{car}/{topic}" if car else f"/{topic}",
            encoding,
            schema_id,
            {"car": car, "topic": topic, **({DERIVED: "true"} if standard else {})},
        )
        return self._channels[car, topic]

    def _add(self, channel: int, data: bytes, time_us: int) -> None:
        time_ns = self._wall_ns(time_us)
        self._attempt(self._writer.add_message, channel, time_ns, data, time_ns)
        self.step()

    def _wall_ns(self, time_us: int) -> int:
        return self._origin_ns + time_us * 1000

    def _attempt(self, write: Callable[..., None], *arguments: Any) -> None:
        """Write; if that fails, keep the fault instead of raising it.

        A full disk must not stop a car, nor the program that drives it.
        """
        if self.fault is not None:
            return
        try:
            write(*arguments)
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        self.fault = self.fault or DataFileFault.unwritable(
            "the log", getattr(self._stream, "name", "log"), error
        )


_TABLES = (".csv", ".json", ".txt", ".tsv", ".xlsx")


def create(
    path: Path,
    clock: Clock,
    wall_ns: int,
    facts: Mapping[str, str],
    new_decoder: Callable[[], Decode] | None = None,
) -> Recorder:
    """Create a recorder with a new file. Raises errors.DataFileFault: it overwrites nothing."""
    if path.suffix.lower() in _TABLES:
        raise DataFileFault(
            "a log is an MCAP file, and no table",
            where=str(path),
            expected=f"a name like {path.with_suffix('.mcap').name}",
            got=path.suffix,
            remedy="tandem log FILE.mcap --csv FOLDER makes tables of a log",
        )
    stream = open_new(path, "the log")
    return Recorder(stream, clock, wall_ns, facts, new_decoder)


def _json(row: Mapping[str, object]) -> bytes:
    return json.dumps(row, separators=(",", ":")).encode()
