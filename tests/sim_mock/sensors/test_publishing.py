"""Lines of JSON in real files and real named pipes."""

import json
import os

import pytest

from sim_mock.sensors.instruments import SensorSample
from sim_mock.sensors.publishing import SampleWriter
from tests.support.evidence import every

SAMPLE = SensorSample("position", 1_500_000, 1_550_000, {"x_m": 1.0}, {"x_m": 1.1})
LONG = SensorSample(
    "lidar", 0, 0, {"ranges_m": [1.2345, None] * 500}, {"ranges_m": [1.2345] * 1000}
)


def test_a_line_has_when_it_was_taken_when_it_is_out_and_the_truth(tmp_path):
    path = tmp_path / "out.jsonl"
    path.write_text("of an earlier run, and longer than what comes now " * 9)
    lines = SampleWriter(str(path))
    lines.put(SAMPLE)
    assert path.read_text().endswith("\n")  # there at once, not when the file is closed
    assert json.loads(path.read_text()) == {
        "sensor": "position",
        "taken_s": 1.5,
        "time_s": 1.55,
        "x_m": 1.0,
        "truth": {"x_m": 1.1},
    }
    lines.close()


def test_a_reader_that_does_not_keep_up_loses_whole_lines_and_is_told_how_many(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    lines = SampleWriter(str(path))  # nobody reads yet: it must neither wait nor fail
    for _ in range(100):
        lines.put(LONG)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    got = b"".join(read_on(reader, lines))
    rows = [json.loads(line) for line in got.split(b"\n") if line]
    assert every(row["sensor"] == "lidar" for row in rows)
    told = sum(row.get("lost", 0) for row in rows)
    assert told > 50
    assert len(rows) + told == 101
    os.close(reader)
    lines.close()


def read_on(reader, lines):
    """What is in the pipe, then the rest of a line that was under way, then one line more."""
    yield os.read(reader, 1 << 20)
    lines.put(LONG)
    for _ in range(9):
        try:
            yield os.read(reader, 1 << 20)
        except BlockingIOError:
            return


def test_a_path_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(OSError, match="nowhere"):
        SampleWriter(str(tmp_path / "nowhere" / "x"))
