"""A log that finds no room: it is said at once, said again at the end, and told by the exit code;
nobody stops driving for it. And a log that runs for an hour takes no memory.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tracemalloc

import pytest

from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.clock import ManualClock
from host_bridge.logs.new_file import SpilledList
from host_bridge.logs.reading import summary
from host_bridge.sharing.owner.recording import new_recorder
from tests.host_bridge.cli.programs import program, serving, tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support import patience
from tests.support.evidence import every

SMALL_KB = 64
HOUR_FLUSHES = 4 * 3600


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


@pytest.fixture
def small_disk(tmp_path):
    """A file system of its own that is soon full."""
    if os.getuid() != 0 or not shutil.which("mount"):
        pytest.skip("only root can mount a small file system to fill")
    path = tmp_path / "disk"
    path.mkdir()
    made = ["mount", "-t", "tmpfs", "-o", f"size={SMALL_KB}k", "none", str(path)]
    if subprocess.run(made, check=False).returncode:
        pytest.skip("this machine mounts no small file system to fill")
    yield path
    subprocess.run(["umount", "-l", str(path)], check=True)


def drive_csv(folder, seconds):
    path = folder / "drive.csv"
    rows = "".join(f"{n / 10},steering,0.0\n" for n in range(seconds * 10))
    path.write_text("t_s,channel,value_norm\n" + rows)
    return path


@pytest.mark.process(drives=True)
def test_a_drive_says_at_once_and_at_the_end_that_its_log_found_no_room(small_disk, folder):
    csv = drive_csv(folder, 6)
    log = small_disk / "drive.mcap"
    words = ("--car", "sim://nigel", "--input", f"csv:{csv}", "--record", str(log))
    done = tandem("drive", *words, within_s=60)
    assert done.returncode == DataFileFault.exit_code, done.stdout + done.stderr
    assert "NOT RECORDED ANY MORE" in done.stdout
    reported_at = done.stdout.index("NOT RECORDED ANY MORE")
    assert done.stdout.count("\n", reported_at) > 3  # it went on, and was not the last to be told
    assert "the log cannot be written" in done.stderr
    assert "No space left on device" in done.stderr


@pytest.mark.process(drives=True)
def test_whoever_serves_and_records_says_it_too(small_disk):
    log = str(small_disk / "served.mcap")
    words = ("serve", "--car", "sim://nigel", "--name", "car", "--record", log)
    with program(*words) as process:
        for line in process.stdout:
            if "the log cannot be written" in line:
                break
        process.send_signal(signal.SIGINT)
        output = patience.communicate(process, 20)
    assert "No space left on device" in output[1]


@pytest.mark.process(drives=True)
@pytest.mark.parametrize("ended", ["over", "interrupted"])
def test_whoever_follows_and_records_says_it_at_once_and_at_the_end(small_disk, folder, ended):
    log = small_disk / "followed.mcap"
    words = ("follow", "leader", "sim://f1tenth?name=twin", "--record", str(log))
    with serving("sim://f1tenth", "leader"):
        with program(*words, "--seconds", "8" if ended == "over" else "60") as process:
            for line in process.stderr:
                if "NOT RECORDED ANY MORE" in line:
                    break
            if ended == "interrupted":
                process.send_signal(signal.SIGINT)
            output = patience.communicate(process, 60)
        assert "the log cannot be written" in output[1]
        assert "No space left on device" in output[1]
        assert process.returncode == (DataFileFault.exit_code if ended == "over" else 130)


@pytest.mark.process(drives=True)
def test_a_drive_that_is_recorded_to_its_end_is_no_fault(tmp_path, folder):
    csv = drive_csv(folder, 1)
    log = tmp_path / "drive.mcap"
    words = ("--car", "sim://nigel", "--input", f"csv:{csv}", "--record", str(log))
    done = tandem("drive", *words, within_s=60)
    assert done.returncode == 0, done.stderr
    assert "NOT RECORDED" not in done.stdout
    assert summary(log).is_complete


@pytest.mark.exhaustive
def test_an_hour_of_recording_takes_no_memory(tmp_path):
    """An hour's flushes, by the clock of the recorder; with a frame each, for the time it takes."""
    clock = ManualClock()
    log = new_recorder(tmp_path / "hour.mcap", clock)
    frame = b"\0" + bytes(range(1, 40)) + b"\0"

    def run(flushes):
        for _ in range(flushes):
            clock.advance(250_000)
            log.frame("car", "down", frame, clock.now_us())
            log.frame("car", "up", frame, clock.now_us())

    run(1000)
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    run(HOUR_FLUSHES)
    grown = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    log.close()
    assert log.fault is None
    assert grown < 1_000_000, f"{grown / 1e6:.1f} MB in an hour"
    found = summary(tmp_path / "hour.mcap")
    assert found.is_complete
    assert found.counts["car", "down"] == HOUR_FLUSHES + 1000


def test_the_index_is_whole_for_who_reads_by_it(tmp_path):
    """Players seek by it."""
    from mcap.reader import make_reader

    clock = ManualClock()
    log = new_recorder(tmp_path / "log.mcap", clock)
    for _ in range(20):
        clock.advance(250_000)
        log.frame("car", "down", b"\0abc\0", clock.now_us())
    log.close()
    with (tmp_path / "log.mcap").open("rb") as stream:
        found = make_reader(stream).get_summary()
    assert len(found.chunk_indexes) == found.statistics.chunk_count > 15
    assert every(index.message_index_offsets for index in found.chunk_indexes[1:])


def test_a_spilled_list_is_a_list(tmp_path):
    spilled = SpilledList(tmp_path)
    for n in range(100):
        spilled.append({"n": n})
    assert list(spilled) == [{"n": n} for n in range(100)]
    assert len(spilled) == 100
    assert list(tmp_path.iterdir()) == []  # it has no name
    spilled.close()
