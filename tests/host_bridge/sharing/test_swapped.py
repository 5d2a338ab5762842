"""One car is unplugged and another one comes to its port: real programs, real pseudo-terminals."""

from __future__ import annotations

import json
import os

import pytest

from host_bridge.logs.reading import cars_in, read, summary
from host_bridge.sharing.endpoints.served import served
from tests.host_bridge.cli.programs import program, serving, tandem, until, virtual_car
from tests.host_bridge.sharing.desk import runtime_folder
from tests.support.evidence import every, some

pytestmark = pytest.mark.process


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    with runtime_folder(monkeypatch) as path:
        yield path


def point(port, link):
    """The operating system gives this port to the car behind that link."""
    port.unlink(missing_ok=True)
    port.symlink_to(os.path.realpath(link))


def row_of(name):
    rows = json.loads(tandem("cars", "--json").stdout)
    return next(row for row in rows if row["name"] == name)


@pytest.mark.parametrize(
    ("vehicle", "name"), [("nigel", "nig"), ("f1tenth", "red")], ids=["another", "equal"]
)
def test_a_car_that_comes_to_the_port_of_another_is_not_driven_by_its_name(vehicle, name, tmp_path):
    port, log = tmp_path / "ttyACM0", tmp_path / "swap.mcap"
    red, other = tmp_path / "red", tmp_path / "other"
    with (
        virtual_car("f1tenth", red, "--name", "red") as one,
        virtual_car(vehicle, other, "--name", name),
    ):
        point(port, red)
        with serving(f"serial://{port}", "red", "--record", str(log)):
            until(lambda: row_of("red")["state"] == "STANDBY", "a car that stands by")
            [known] = served()
            one.stdin.write("unplug\n")
            one.stdin.flush()
            point(port, other)
            until(lambda: row_of("red")["trouble"], "another car to be noticed")
            row = row_of("red")
            assert (row["vehicle"], row["state"]) == ("f1tenth", None)
            assert known.board_id in row["trouble"]
            shown = tandem("cars").stdout
            assert "another car" in shown
            for words in (
                ("drive", "--car", "red", "--input", "script:straight", "--seconds", "2"),
                ("arm", "red"),
                ("trim", "--car", "red", "steer_us=5"),
                ("config", "write", "red", "step_s=0.02"),
                ("monitor", "red"),
            ):
                refused = tandem(*words)
                assert refused.returncode == 3, (words, refused.stderr)
                assert f"board {known.board_id}" in refused.stderr, words
                assert f"this is {name} (board " in refused.stderr, words
                assert "write" not in refused.stderr, words
    assert cars_in(summary(log).facts)["red"]["board_id"] == known.board_id
    identities = some(it.value for it in read(log) if it.topic == "identity")
    assert every(row["board_id"] == known.board_id for row in identities)
    [cut] = [note for note in summary(log).notes if note.startswith("cut here: ")]
    assert cut.startswith("cut here: another car is there: red (f1tenth, board")


def test_a_backup_is_restored_onto_its_own_board_unless_another_is_said(tmp_path):
    kept = str(tmp_path / "red.json")
    with serving("sim://nigel?name=red&board=1", "red"):
        assert tandem("backup", "--car", "red", kept).returncode == 0
        assert tandem("restore", "--car", "red", kept).returncode == 0
    with serving("sim://nigel?name=blue&board=2", "blue"):
        [there] = served()
        refused = tandem("restore", "--car", "blue", kept)
        assert refused.returncode == 3
        assert "red (nigel, board" in refused.stderr
        assert f"blue (nigel, board {there.board_id})" in refused.stderr
        assert tandem("restore", "--car", "blue", kept, "--board", "12").returncode == 2
        done = tandem("restore", "--car", "blue", kept, "--board", there.board_id)
        assert done.returncode == 0, done.stderr
    with program("serve", "--car", "sim://nigel?name=red&board=3", "--name", "red") as refused:
        errors = refused.stderr.read()
        assert refused.wait() == 3
    assert f"red (nigel, board {there.board_id})" in errors
    assert "is meant, and this is red (board" in errors
    assert "--board ID" in errors
