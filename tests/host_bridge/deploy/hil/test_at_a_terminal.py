"""``tandem hil`` as a process: a board that is flashed first, and a person at a terminal."""

import json
import os
import re
import signal

import pytest

from host_bridge.config.boards import load_board
from host_bridge.core.errors import INTERRUPTED
from host_bridge.deploy.hil import parts
from host_bridge.deploy.hil.report.limits import LIMITS
from host_bridge.deploy.hil.report.report import PASS
from tests.host_bridge.cli.programs import program, tandem, terminal, until, virtual_car
from tests.host_bridge.deploy.flash.far_end import RESET, repl_board
from tests.support import patience

pytestmark = pytest.mark.process(drives=True)


def rows_of(out):
    """By what they are."""
    return {row["what"]: row for row in json.loads(out.read_text())["rows"]}


def row_of(rows, key):
    return rows[LIMITS[key].what]


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))


def test_a_bare_board_is_flashed_as_the_days_first_part(tmp_path):
    pico = load_board("pico")
    board = tmp_path / "node_pico.toml"
    board.write_text(pico.document.path.read_text().replace(pico.machine, "JS with Emscripten"))
    port, out = tmp_path / "port", tmp_path / "report.json"
    words = ["--vehicle", "f1tenth", "--board", str(board), "--only", "flash", "--out", str(out)]
    with repl_board(tmp_path / "board", "flashed") as (device, repl):
        port.symlink_to(device)
        with program("hil", str(port), *words) as day:
            assert repl.wait(90.0) == RESET
            port.unlink()
            with virtual_car("f1tenth", port, "--board", "flashed"):
                _, trouble = patience.communicate(day, 90.0)
                assert day.returncode == 0, trouble
    [row] = [row for row in json.loads(out.read_text())["rows"] if row["verdict"] == PASS]
    assert row["what"] == LIMITS["flash"].what
    assert row["got"] == "0 files"
    assert row["detail"]["slot"] == "a"


# --- at a terminal


def wait_for(stream, word):
    for line in stream:
        if word in line:
            return
    raise AssertionError(f"it ended without a word of {word}")


def say(car, line):
    car.stdin.write(f"{line}\n")
    car.stdin.flush()


def test_at_a_terminal_a_person_opens_the_loop_and_pulls_the_power(tmp_path):
    port, out = tmp_path / "port", tmp_path / "report.json"
    words = ["--only", "runstop,power", "--pulls", "1", "--patience", "0.2", "--out", str(out)]
    with (
        terminal() as (typing, stdin),
        virtual_car("f1tenth", port, "--board", "bench") as car,
        program("hil", str(port), *words, stdin=stdin) as day,
    ):
        wait_for(day.stderr, "Press Enter")
        os.write(typing, b"\n")
        for asked, line in (("Open the", "runstop open"), ("Close the", "runstop close")):
            wait_for(day.stderr, asked)
            say(car, line)
        wait_for(day.stderr, "POWER 1 of 1")
        os.write(typing, b"\n")
        wait_for(day.stderr, "Pull the power NOW")
        car.send_signal(signal.SIGINT)
        wait_for(day.stderr, "it is gone")
        until(lambda: not port.exists(), "the port's end")
        with virtual_car("f1tenth", port, "--board", "bench"):
            _, trouble = patience.communicate(day, 90.0)
    assert day.returncode == 0, trouble
    rows = rows_of(out)
    assert row_of(rows, "runstop_hand")["verdict"] == PASS
    assert row_of(rows, "power_standby")["verdict"] == PASS, row_of(rows, "power_standby")


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM], ids=["Ctrl-C", "kill"])
def test_ctrl_c_and_a_polite_kill_end_in_order(tmp_path, ending):
    port, out = tmp_path / "port", tmp_path / "report.json"
    words = ["--only", "told,runstop", "--seconds", "600", "--patience", "5", "--out", str(out)]
    with (
        terminal() as (_, stdin),
        virtual_car("f1tenth", port),
        program("hil", str(port), *words, stdin=stdin) as day,
    ):
        wait_for(day.stderr, "s of 600 driven")
        day.send_signal(ending)
        _, trouble = patience.communicate(day, 20.0)
        found = json.loads(tandem("identify", f"serial://{port}", "--json").stdout)[0]
    assert day.returncode == INTERRUPTED, trouble
    assert re.search("written: .*report.json", trouble)
    rows = rows_of(out)
    assert row_of(rows, "stop_answer")["got"]
    assert row_of(rows, "beats_1")["how"] == "ended by Ctrl-C"
    assert row_of(rows, "runstop_hand")["how"] == parts.ENDED
    assert found["state"] == "STOPPED"
