"""``tandem vehicles --check``: what it prints, for people and for programs, and its exit code."""

import json

import pytest

from host_bridge.config.boards.reading import FOLDER
from tests.host_bridge.cli.programs import tandem
from tests.support.evidence import every

pytestmark = pytest.mark.process


def test_one_pair_shows_its_budget():
    done = tandem("vehicles", "nigel", "--check", "--board", "weact_rp2350b")
    assert done.returncode == 0, done.stderr
    assert "nigel on weact_rp2350b" in done.stdout
    assert "the wiring is in order" in done.stdout
    rows = {line[:20].strip(): line.split() for line in done.stdout.splitlines()}
    assert rows["pins"][1:] == ["39", "44"]
    assert rows["state machines"][2:4] == ["5", "12"]
    for what in ("PWM slices", "PIO instructions", "UARTs", "I2C", "ADC inputs", "hard timers"):
        assert what in rows


def test_what_was_asked_for_and_does_not_fit_exits_with_5():
    done = tandem("vehicles", "nigel", "--check", "--board", "pico")
    assert done.returncode == 5
    assert "does not fit" in done.stdout
    assert "too many" in done.stdout
    assert "remedy: it is wired on weact_rp2350b" in done.stdout


def test_all_pairs_as_json_say_what_may_be_flashed():
    done = tandem("vehicles", "--check", "--json")
    assert done.returncode == 0, done.stderr
    reports = json.loads(done.stdout)
    wired = {(r["board"], r["vehicle"]) for r in reports if r["is_wired"]}
    assert ("pico", "f1tenth") in wired
    assert ("pico", "nigel") not in wired
    assert every(r["refusals"] == [] for r in reports if r["is_wired"])
    assert every(r["refusals"] for r in reports if not r["is_wired"])
    assert {row["what"] for row in reports[0]["budget"]} >= {"pins", "UARTs", "I2C"}


def test_a_wiring_that_is_wrong_is_refused_with_every_reason(tmp_path):
    text = (FOLDER / "pico.toml").read_text()
    path = tmp_path / "mine.toml"
    path.write_text(text.replace("pulse = 2,", "pulse = 23,").replace("adc = 26,", "adc = 22,"))
    done = tandem("vehicles", "f1tenth", "--check", "--board", str(path))
    assert done.returncode == 5
    assert done.stdout.count("refused: ") == 2
    assert "2 refused" in done.stdout
    assert "mine.toml:" in done.stdout


def test_a_board_without_the_check_is_a_mistake():
    done = tandem("vehicles", "nigel", "--board", "pico")
    assert done.returncode == 2
    assert "--check" in done.stderr


def test_a_board_that_is_not_there_is_told():
    done = tandem("vehicles", "--check", "--board", "pcio")
    assert done.returncode == 5
    assert "did you mean pico?" in done.stderr
