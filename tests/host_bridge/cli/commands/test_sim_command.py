"""``tandem sim``: a real process, what its sensors write, and what it refuses."""

from __future__ import annotations

import json
import os
import shlex
import signal
import threading

import pytest

from host_bridge.cli.commands.sim import LineReader
from host_bridge.core.errors import DataFileFault, UsageFault
from tests.host_bridge.cli.programs import program, serving, tandem, until
from tests.support.evidence import every

pytestmark = pytest.mark.process


def rows_of(path):
    """The whole lines that are there by now."""
    return [json.loads(line) for line in path.read_text().split("\n")[:-1]]


def test_what_its_sensors_see_can_be_read_while_it_runs(tmp_path):
    path = tmp_path / "run.jsonl"
    words = ("sim", "f1tenth", "--track", "corridor", "--sensors", str(path), "--json")
    with program(*words) as process:
        assert json.loads(process.stdout.readline())["device"]
        until(path.exists, "the file")
        until(lambda: {r["sensor"] for r in rows_of(path)} >= {"lidar", "position"}, "scans")
        assert process.poll() is None
    scan = next(row for row in rows_of(path) if row["sensor"] == "lidar")
    assert len(scan["ranges_m"]) == len(scan["truth"]["ranges_m"]) == 1081
    middle_m = scan["truth"]["ranges_m"][540]
    assert middle_m == pytest.approx(8.0 - (0.2733 - 0.17145), abs=0.002)  # to the far wall
    assert scan["ranges_m"][540] in (None, pytest.approx(middle_m, abs=0.06))
    assert every(row["taken_s"] <= row["time_s"] for row in rows_of(path))


def test_a_named_pipe_feeds_another_program(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with program("sim", "nigel", "--sensors", str(pipe), "--json") as process:
        assert json.loads(process.stdout.readline())["device"]
        with open(pipe) as reader:
            rows = [json.loads(reader.readline()) for _ in range(200)]
        assert {row["sensor"] for row in rows} >= {"truth", "imu", "wheels"}
        assert process.poll() is None, "a reader that goes away must not end the car"


def test_a_command_that_it_shows_can_be_pasted_from_a_folder_with_a_space_in_its_name(tmp_path):
    folder = tmp_path / "my cars"
    folder.mkdir()
    with program("sim", "nigel", "--link", str(folder / "port")) as process:
        shown = [process.stdout.readline() for _ in range(4)]
    words = [shlex.split(line) for line in shown[2:]]
    uri = f"serial://{folder / 'port'}"
    assert [it[2:] for it in words] == [
        ["tandem", "drive", "--car", uri],
        ["tandem", "monitor", uri],
    ]


@pytest.mark.parametrize("words", [(), ("--name", "red")])
def test_a_car_of_a_file_of_ones_own_is_known_to_every_command(words, tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    file = tmp_path / "slash.toml"
    file.write_text('base = "f1tenth"\ntitle = "Our Slash"\n\n[geometry]\nwheelbase_m = 0.324\n')
    with program("sim", str(file), *words, "--json") as process:
        device = json.loads(process.stdout.readline())["device"]
        found = tandem("identify", f"serial://{device}", "--json")
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)[0]["vehicle"] == "slash"


def test_faults_reach_the_car_that_it_starts(tmp_path):
    """Its runstop opens by itself: told by the car over its port."""
    with program("sim", "nigel", "--fault", "runstop@0.5s", "--json") as process:
        device = json.loads(process.stdout.readline())["device"]
        with serving(f"serial://{device}", "troubled"):
            refused = tandem("arm")
        assert refused.returncode != 0
        assert "the stop loop was open" in refused.stderr


def test_the_list_is_there_for_people_and_for_programs():
    told = tandem("sim", "--list")
    assert told.returncode == 0
    choices = json.loads(tandem("sim", "--list", "--json").stdout)
    assert {"twin", "single_track", "autorally_full"} <= {row["name"] for row in choices["models"]}
    names = [row["name"] for rows in choices.values() for row in rows]
    assert {"autorally", "stuck_servo", "payload"} <= set(names)
    assert every(name in told.stdout for name in names)


def test_a_line_that_it_does_not_take_is_said_and_does_it_no_harm():
    with program("sim", "nigel", "--json") as process:
        json.loads(process.stdout.readline())
        process.stdin.write("deaf\nunplug\nplug\n")
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["device"]  # of the plug that came last
        process.send_signal(signal.SIGINT)
        errors = process.stderr.read()
    assert "no 'deaf' here; it takes runstop open" in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("f1tenth", "--track", "monza"), "there is autorally, corridor, oval"),
        (("f1tenth", "--fault", "flat_tyre@3s"), "there is stuck_servo"),
        (("f1tenth", "--map", "/nowhere.yaml"), "No such file"),
        (("f1tenth", "--track", "oval", "--start", "0,0.9,0"), "say start=X,Y,YAW_DEG"),
        (("f1tenth", "--sensors", "/nowhere/run.jsonl"), "there is no folder /nowhere"),
        (("f1tenth", "--seed", "one"), "seed='one'"),
        ((), "no vehicle is named"),
    ],
)
def test_what_is_wrong_is_refused_in_words_before_anything_starts(words, said):
    done = tandem("sim", *words)
    assert done.returncode == UsageFault.exit_code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("option", ["--link", "--trace"])
def test_what_is_in_the_way_of_its_files_stays_and_is_told(option, tmp_path):
    thesis, link = tmp_path / "thesis.txt", tmp_path / "link"
    thesis.write_text("three years of work")
    link.symlink_to(thesis)
    (tmp_path / "folder").mkdir()
    for name, said in (
        ("thesis.txt", "none is overwritten"),
        ("link", "none is overwritten"),
        ("folder", "none is overwritten"),
        ("nowhere/port", "No such file or directory"),
    ):
        done = tandem("sim", "f1tenth", option, str(tmp_path / name))
        assert done.returncode == DataFileFault.exit_code, name
        assert said in done.stderr
        assert name in done.stderr
        assert "Traceback" not in done.stderr
    assert link.read_text() == "three years of work"


def test_a_link_that_an_earlier_car_left_is_replaced(tmp_path):
    link = tmp_path / "port"
    link.symlink_to("/dev/pts/999999")
    with program("sim", "f1tenth", "--link", str(link), "--json") as process:
        device = json.loads(process.stdout.readline())["device"]
        assert os.readlink(link) == device
        process.send_signal(signal.SIGINT)


def test_what_a_car_says_first_may_come_in_pieces():
    ours, theirs = os.pipe()
    with os.fdopen(ours, "rb") as said:
        os.write(theirs, b"under ")
        later = threading.Timer(0.05, os.write, (theirs, b"MicroPython\nand "))
        later.start()
        assert LineReader(said).first() == ["under MicroPython"]
        later.join()
        os.close(theirs)
        assert LineReader(said).first() == []


def test_each_start_is_a_board_of_its_own_unless_it_is_said_which(tmp_path):
    words = ("sim", "nigel", "--name", "red", "--json")
    found = []
    for more in ((), (), ("--board", "1"), ("--board", "1", "--name", "blue")):
        with program(*words, *more) as process:
            found.append(json.loads(process.stdout.readline())["board_id"])
    one, other, named, renamed = found
    assert len({one, other, named}) == 3
    assert named == renamed
