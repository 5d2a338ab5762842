"""``tandem record`` of several cars, and what it refuses."""

from __future__ import annotations

import pytest

from host_bridge.logs.reading import read
from host_bridge.sharing.services import make_host
from host_bridge.station.backend.replay_backend import ReplayBackend
from tests.host_bridge.cli.programs import program, serving, tandem, until
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support.evidence import some

pytestmark = pytest.mark.process(drives=True)


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as it:
        yield it


def test_several_cars_are_in_one_log(tmp_path):
    log = tmp_path / "two.mcap"
    with serving("sim://nigel", "one"), serving("sim://f1tenth", "two"):
        done = tandem("record", "one", "two", "-o", str(log), "--seconds", "1")
        assert done.returncode == 0, done.stderr
        twice = tandem("record", "one", "one", "-o", str(tmp_path / "no.mcap"), "--seconds", "1")
        assert twice.returncode == 2
        assert "named twice" in twice.stderr
    heard = {it.car for it in read(log) if it.topic == "down"}
    assert heard == {"one", "two"}
    shown = ReplayBackend(log, make_host().vehicles, lambda: 0)
    shown.seek(1.0, plays=False)
    for car in some(shown.car_rows()):  # what happened before the log began is in it
        assert "started: it was switched on" in [it["text"] for it in car["events"]], car["name"]


def test_each_line_of_standard_input_is_a_mark(tmp_path):
    log = tmp_path / "marked.mcap"
    with serving("sim://nigel", "one"):
        words = ("record", "one", "-o", str(log), "--marks")
        with program(*words) as recording:
            assert recording.stdin
            assert recording.stderr
            recording.stderr.readline()
            recording.stdin.write("the bump\n\n")
            recording.stdin.flush()
            until(lambda: len(marks(log)) == 2, "the marks to be in the log")
    assert [it.partition(" s: ")[2] for it in marks(log)] == ["the bump", "2"]
    assert "mark at" in tandem("log", str(log)).stdout


def marks(log):
    notes = [it.value["text"] for it in read(log) if it.topic == "notes"]
    return [it for it in notes if it.startswith("mark at ")]


@pytest.mark.parametrize("word", ["run.jsonl", "=run.jsonl", "one=", "two=run.jsonl"])
def test_a_lidar_that_is_no_car_of_the_log_is_refused(tmp_path, word):
    with serving("sim://nigel", "one"):
        words = ("-o", str(tmp_path / "log.mcap"), "--seconds", "1", "--lidar", word)
        done = tandem("record", "one", *words)
    assert done.returncode == 2
    assert word in done.stderr


def test_a_lidar_that_is_not_there_is_told(tmp_path):
    with serving("sim://nigel", "one"):
        words = ("-o", str(tmp_path / "log.mcap"), "--lidar", f"one={tmp_path / 'none'}")
        done = tandem("record", "one", *words)
    assert done.returncode == 3
    assert "No such file" in done.stderr
