"""A log is written whole, read back as it was, and survives a kill."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import mcap.reader
import pytest

from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.clock import ManualClock
from host_bridge.logs import rows
from host_bridge.logs.reading import Record, facts, read, summary
from host_bridge.logs.recorder import DOWN, FLUSH_EVERY_US, UP, Recorder, create

START_US = 5_000_000_000  # the clock's origin means nothing, so it is not zero here
WALL_NS = 1_790_000_000_123_456_789
FACTS = {"version": "0.1.0", "protocol_hash": "01020304"}
METADATA_SIZE = 250  # header and metadata, that make a file a log, are within
CAR = {"vehicle": "nigel", "uri": "sim://nigel", "config_hash": "0a0b0c0d"}


@dataclass(frozen=True)
class CarSpeed:
    speed_mps: float


class Fixture:
    """A log in the making, in virtual time."""

    def __init__(self, path: Path, new_decoder=None) -> None:
        self.path = path
        self.clock = ManualClock(START_US)
        self.recorder = create(path, self.clock, WALL_NS, FACTS, new_decoder)
        self.written: list[Record] = []

    def frame(self, direction: str, data: bytes) -> None:
        self.recorder.frame("nigel-1", direction, data, self.clock.now_us())
        self.written.append(Record(self.clock.now_us(), "nigel-1", direction, data))

    def drive(self, steps: int) -> None:
        for i in range(steps):
            self.clock.advance(10_000)
            self.frame(UP, b"\0claim %d\0" % i)
            self.frame(DOWN, b"\0status %d\0" % i)


@pytest.fixture(autouse=True)
def _speed_has_a_topic(monkeypatch):
    monkeypatch.setitem(rows.TOPICS, CarSpeed, "speed")


@pytest.fixture
def log(tmp_path):
    return Fixture(tmp_path / "drive.mcap")


def test_an_existing_log_is_never_overwritten(log):
    with pytest.raises(DataFileFault, match="already, and none is overwritten"):
        Fixture(log.path)


def test_a_log_in_a_folder_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataFileFault, match="No such file"):
        Fixture(tmp_path / "nowhere" / "drive.mcap")


@pytest.mark.parametrize("content", [b"", b"\x89MCAP", b"t_s,channel,value_norm\n1,2,3\n" * 9])
def test_what_is_no_log_is_refused(tmp_path, content):
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(DataFileFault, match="no log of Tandem"):
        list(read(path))


def test_a_log_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(DataFileFault, match="No such file"):
        list(read(tmp_path / "drive.mcap"))


def test_everything_comes_back_in_order_with_its_time(log):
    log.drive(500)
    log.recorder.close()
    assert list(read(log.path)) == log.written


def test_metadata_notes_and_rows_come_back(log):
    log.recorder.car("nigel-1", CAR)
    log.recorder.note("the floor is wet")
    log.recorder.message("nigel-1", "divergence", {"path_m": 0.25}, START_US + 7)
    log.recorder.report("nigel-1", CarSpeed(1.5), START_US + 8)
    log.recorder.close()
    found = facts(log.path)
    assert {name: found["tandem"][name] for name in FACTS} == FACTS
    assert found["car/nigel-1"] == CAR
    assert list(read(log.path)) == [
        Record(START_US, "", "notes", {"text": "the floor is wet"}),
        Record(START_US + 7, "nigel-1", "divergence", {"path_m": 0.25}),
        Record(START_US + 8, "nigel-1", "speed", {"speed_mps": 1.5}),
    ]


def test_each_car_and_direction_is_decoded_by_a_decoder_of_its_own(tmp_path):
    def new_decoder():
        held = bytearray()

        def decode(data):
            held.extend(data)
            return [CarSpeed(float(len(held)))]

        return decode

    log = Fixture(tmp_path / "drive.mcap", new_decoder)
    for car in ("a", "b"):
        log.recorder.frame(car, DOWN, b"12", START_US)
        log.recorder.frame(car, DOWN, b"3", START_US)
    log.recorder.close()
    speeds = [(r.car, r.value["speed_mps"]) for r in read(log.path) if r.topic == "speed"]
    assert speeds == [("a", 2.0), ("a", 3.0), ("b", 2.0), ("b", 3.0)]


def test_the_library_reads_indexed_json_channels_in_wall_time(log):
    log.recorder.report("nigel-1", CarSpeed(1.5), START_US + 1000)
    log.frame(DOWN, b"\0raw\0")
    log.recorder.close()
    with log.path.open("rb") as stream:
        reader = mcap.reader.make_reader(stream, validate_crcs=True)
        found = list(reader.iter_messages())
        assert reader.get_summary().chunk_indexes
    raw, speed = found
    assert (raw[1].topic, raw[1].message_encoding) == ("/nigel-1/down", "tandem")
    assert (speed[1].topic, speed[1].message_encoding) == ("/nigel-1/speed", "json")
    assert (speed[0].encoding, speed[0].name) == ("jsonschema", "tandem.speed")
    assert speed[2].log_time == WALL_NS + 1_000_000
    assert speed[2].data == b'{"speed_mps":1.5}'


def test_the_summary_counts_what_there_is(log):
    log.recorder.note("begin")
    log.drive(10)
    log.recorder.close()
    found = summary(log.path)
    assert found.counts == {
        ("", "notes"): 1, ("", "log"): 1, ("nigel-1", "up"): 10, ("nigel-1", "down"): 10
    }  # fmt: skip
    assert (found.first_us, found.last_us) == (START_US, START_US + 100_000)
    assert found.notes == ["begin"]
    assert found.is_complete


def test_what_is_older_than_a_flush_is_with_the_system(log):
    log.drive(100)
    on_disk = list(read(log.path))
    assert on_disk == log.written[: len(on_disk)]
    assert on_disk[-1].time_us >= log.clock.now_us() - FLUSH_EVERY_US
    assert not summary(log.path).is_complete


def test_a_pause_does_not_hold_back_what_came_before_it(log):
    log.drive(1)
    log.clock.advance(FLUSH_EVERY_US)
    log.recorder.step()
    assert list(read(log.path)) == log.written


def test_a_log_cut_anywhere_gives_what_came_before_the_cut(log):
    log.drive(60)
    log.recorder.close()
    data = log.path.read_bytes()
    cut = log.path.with_name("cut.mcap")
    lengths = set()
    for size in range(METADATA_SIZE, len(data), 7):
        cut.write_bytes(data[:size])
        found = list(read(cut))
        assert found == log.written[: len(found)]
        lengths.add(len(found))
    assert {0, len(log.written)} < lengths


def test_damage_within_is_an_error_not_other_data(log):
    log.drive(60)
    log.recorder.close()
    data = bytearray(log.path.read_bytes())
    data[data.index(b"zstd") + 60] ^= 0x10
    log.path.write_bytes(data)
    with pytest.raises(DataFileFault, match="damaged"):
        list(read(log.path))


def test_a_full_disk_is_reported_and_stops_nobody():
    with Path("/dev/full").open("wb") as full:
        recorder = Recorder(full, ManualClock(START_US), WALL_NS, FACTS)
        recorder.frame("nigel-1", UP, b"\0claim\0", START_US)
        recorder.close()
    assert recorder.fault is not None
    assert "No space left" in str(recorder.fault)


WRITER = """
import sys, time
from pathlib import Path
from host_bridge.core.system.clock import MonotonicClock
from host_bridge.logs.recorder import FLUSH_EVERY_US, UP, create
clock = MonotonicClock()
recorder = create(Path(sys.argv[1]), clock, time.time_ns(), {})
started_us = clock.now_us()
count = 0
while True:
    recorder.frame("car", UP, b"frame %d" % count, clock.now_us())
    count += 1
    time.sleep(0.0001)
    if count % 100 == 0:
        print(count, clock.now_us(), flush=True)
"""


@pytest.mark.process
def test_what_was_written_survives_a_kill(tmp_path):
    """The other end is a real process, killed in the middle of its writing."""
    path = tmp_path / "killed.mcap"
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[3],
        env={**os.environ, "PYTHONPATH": "."},
    ) as writer:
        progress = [next(writer.stdout).split()]
        while int(progress[-1][1]) - int(progress[0][1]) < 3 * FLUSH_EVERY_US:
            progress.append(next(writer.stdout).split())
        writer.send_signal(signal.SIGKILL)
    found = list(read(path))
    flushed_us = int(progress[-1][1]) - FLUSH_EVERY_US - 50_000  # a slow machine's own pause
    safe = max(int(count) for count, time_us in progress if int(time_us) < flushed_us)
    assert len(found) >= safe
    assert [record.value for record in found] == [b"frame %d" % i for i in range(len(found))]
    assert not summary(path).is_complete


def test_a_log_is_not_given_the_name_of_a_table(tmp_path):
    with pytest.raises(DataFileFault, match="no table") as refused:
        Fixture(tmp_path / "d.csv")
    assert "d.mcap" in refused.value.expected
    assert "--csv" in refused.value.remedy
    assert list(tmp_path.iterdir()) == []
