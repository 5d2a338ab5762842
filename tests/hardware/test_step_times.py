"""``tandem vehicles --check`` and a car's beat: by steps that were timed, and refused by them."""

import dataclasses
import re
from pathlib import Path

import pytest

from host_bridge.cli import main as cli
from host_bridge.config.boards import check, load_board
from host_bridge.config.boards import step_time as by_time
from host_bridge.config.boards.measured import COLUMNS, MeasuredSteps, read_measured
from host_bridge.config.boards.pins import checking
from tests.studies.chip_tables import merge, write
from tests.support.evidence import some

BOARDS = Path(__file__).resolve().parents[2] / "hardware" / "boards"
ROW = MeasuredSteps(
    chip="rp2040", wiring="f1tenth", is_configured=True, is_paired=False, micropython="1.28.0",
    link="usb", model="", mhz=200, beat_us=20_000, state="driving", heard=1, steps=6000,
    mean_us=7000, median_us=None, p99_us=9000, longest_us=9500, missed=0,
    program="0123456789abcdef", date="2026-11-22", how="a bench of this test",
)  # fmt: skip


@pytest.fixture
def timed(monkeypatch):
    """Put these rows into the place of the table."""

    def put(*rows):
        monkeypatch.setattr(by_time, "read_measured", lambda: list(rows))

    return put


def step_row(report):
    return next(row for row in report.budget if row.what == by_time.WHAT)


def unhurried(name):
    """A board with nothing to say about the beat."""
    return dataclasses.replace(load_board(name), step_s=0.0)


def test_a_car_whose_steps_take_longer_than_its_beat_is_refused_in_a_sentence(
    timed, capsys, monkeypatch
):
    timed(dataclasses.replace(ROW, p99_us=11_400))
    monkeypatch.setattr(checking, "load_board", unhurried)
    code = cli.main(["vehicles", "f1tenth", "--check", "--board", "pico"])
    said = capsys.readouterr().out
    assert code == 5
    assert (
        "f1tenth on pico: a step takes 11.4 ms of its 10; write step_s = 0.02 in the vehicle "
        "file, or take a faster board"
    ) in said
    assert "a bench of this test, 2026-11-22, program 0123456789abcdef" in said


def test_a_car_whose_steps_fit_is_in_order_and_says_who_timed_them(timed, capsys):
    timed(dataclasses.replace(ROW, heard=2), dataclasses.replace(ROW, heard=8, p99_us=9_900))
    assert cli.main(["vehicles", "f1tenth", "--check", "--board", "pico"]) == 0
    said = capsys.readouterr().out
    assert "the wiring is in order" in said
    row = step_row(check("pico", "f1tenth"))
    assert (row.used, row.available) == (9000, 20_000)
    assert "9900 with 4" in row.detail


def test_the_worst_of_a_chips_models_counts(timed):
    twice = dataclasses.replace(ROW, heard=2)
    timed(twice, dataclasses.replace(twice, model="auto", p99_us=20_100))
    assert not check("pico", "f1tenth").fits


def test_a_longer_beat_hears_more_and_may_hold(timed, tmp_path):
    """At 20 ms a source that claims at 100 Hz is heard twice a step."""
    timed(ROW, dataclasses.replace(ROW, heard=2, p99_us=12_000))
    board, wiring = load_board("pico"), _wiring("f1tenth")
    found = by_time.step_time(board, wiring, "f1tenth", 20_000)
    assert (found.p99_us, found.refusal) == (12_000, "")
    timed(ROW, dataclasses.replace(ROW, heard=2, p99_us=21_000))
    said = by_time.step_time(board, wiring, "f1tenth", 20_000).refusal
    assert said.endswith("of its 20; take a faster board")


def _wiring(name):
    from host_bridge.config.boards.pins.checking import load_needs
    from host_bridge.config.boards.reading import read_wiring

    board = load_board("pico")
    needs = load_needs(board, name)
    return read_wiring(board, needs.wiring, needs.channels)


def test_a_wiring_that_was_not_timed_takes_the_dearest_that_was_and_says_so(timed):
    twice = dataclasses.replace(ROW, heard=2)
    timed(twice, dataclasses.replace(twice, wiring="autorally", p99_us=9_700))
    row = step_row(check("pico", "f1tenth_vesc"))
    assert row.used == 9_700
    assert "that of autorally over usb, for f1tenth_vesc over usb was not timed" in row.detail


def test_a_car_without_a_configuration_or_one_that_stands_is_no_measure(timed):
    rows = [{"state": "standing"}, {"is_configured": False}, {"mhz": 125}, {"chip": "rp2350"}]
    timed(*(dataclasses.replace(ROW, **changed) for changed in rows))
    report = check("pico", "f1tenth")
    assert not any(row.what == by_time.WHAT for row in report.budget)
    assert any("never timed on this chip at 200 MHz" in text for text in report.lacks)


@pytest.mark.parametrize("board", ["pico2", "weact_rp2350b", "nucleo_f767zi", "esp32s3_devkitc"])
def test_chips_that_nobody_timed_are_said_to_be_so(board):
    assert any("never timed on this chip" in text for text in check(board, "f1tenth").lacks)


def test_a_runstop_box_has_no_beat_to_hold(timed):
    timed()
    report = check("pico", "runstop_box")
    assert not any("never timed" in text for text in report.lacks)


def test_what_is_measured_anew_takes_the_place_of_the_old_and_nothing_else(tmp_path):
    other = dataclasses.replace(ROW, heard=2)
    newer = dataclasses.replace(ROW, p99_us=8_000, date="2026-12-01")
    rows = merge([ROW, other], [newer], lambda row: row.situation)
    assert sorted(rows, key=lambda row: row.heard) == [newer, other]
    path = tmp_path / "times.csv"
    write(path, COLUMNS, rows)
    assert read_measured(path) == rows


def test_a_car_is_refused_if_and_only_if_the_table_says_that_it_is_late():
    for wiring in some(sorted({row.wiring for row in read_measured()})):
        report = check("pico", wiring)
        row = step_row(report)
        assert (row.used > row.available) == any("a step takes" in it for it in report.refusals)


def test_the_table_says_of_each_row_on_what_and_when():
    rows = read_measured()
    assert len({row.situation for row in rows}) == len(rows)
    for row in rows:
        assert row.how, row
        assert re.fullmatch(r"\d{4}-\d\d-\d\d", row.date), row
        assert re.fullmatch(r"[0-9a-f]{16}", row.program), row
        assert row.steps >= 40
        assert row.mean_us <= row.p99_us + 50
        assert row.p99_us <= row.longest_us
