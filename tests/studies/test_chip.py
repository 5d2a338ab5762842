"""``python -m tests.studies.chip``: what it leaves out when it goes on, and what it prints."""

import argparse
import subprocess
from dataclasses import replace
from functools import partial

import pytest

from host_bridge.config import load_vehicle
from host_bridge.config.boards.heap import HeapNeed, RuntimeHeap
from host_bridge.config.boards.measured import MeasuredSteps
from host_bridge.deploy.hil.on_chip import largest
from tests.studies import chip, chip_heap, chip_steps, chip_summary

BOARD = chip.Board("/dev/board", "/dev/board", "rp2040", "1.29.0")
PROGRAM, OLDER = "0123456789abcdef", "fedcba9876543210"
ARGS = argparse.Namespace(link="usb", model="auto", board="pico", wiring="f1tenth", how="a test")
STEPS = MeasuredSteps(
    chip="rp2040", wiring="f1tenth", is_configured=True, is_paired=False, micropython="1.29.0",
    link="usb", model="auto", mhz=200, beat_us=10_000, state="driving", heard=1, steps=800,
    mean_us=7290, median_us=7270, p99_us=8290, longest_us=8390, missed=2, program=PROGRAM,
    date="2026-11-26", how="a test",
)  # fmt: skip
NEED = HeapNeed(
    "rp2040", "f1tenth", False, "car", "1.29.0", "usb", 204_000, PROGRAM, "2026-11-26", "a test"
)


@pytest.fixture
def tables(monkeypatch):
    """Put rows into the place of the measured tables."""

    def put(needs=(), steps=()):
        monkeypatch.setattr(chip, "read_needs", lambda: list(needs))
        monkeypatch.setattr(chip, "read_measured", lambda: list(steps))

    return put


def all_steps(is_paired, beat_us):
    """All rows that the steps of a car with this period make."""
    return [
        replace(STEPS, is_paired=is_paired, beat_us=beat_us, state=state, heard=heard)
        for run in chip_steps.runs_of(is_paired)
        for state, heard, _ in run.situations(beat_us)
    ]


def is_done(piece):
    return chip.is_done(piece, BOARD, ARGS, PROGRAM)


def test_heap_and_steps_are_measured_with_each_period_that_the_car_may_have():
    found = chip.pieces("f1tenth", None)
    assert len(set(found)) == len(found)
    least_us = round(load_vehicle("f1tenth").step_s * 1e6)
    beats = [beat for beat in chip.BEATS_US if beat >= least_us]
    assert {piece.beat_us for piece in found} == {0, *beats}
    assert {piece.is_paired for piece in found} == {False, True}
    assert {piece.beat_us for piece in chip.pieces("f1tenth", "heap")} == {0}
    assert {piece.beat_us for piece in chip.pieces("f1tenth", "steps")} == set(beats)


def test_a_heap_is_measured_until_both_rows_are_there(tables):
    piece = chip.Piece("f1tenth", False)
    tables()
    assert not is_done(piece)
    tables(needs=[NEED])
    assert not is_done(piece)
    tables(needs=[NEED, replace(NEED, what="hitl")])
    assert is_done(piece)
    assert not is_done(replace(piece, is_paired=True))


@pytest.mark.parametrize(
    "other",
    [{"program": OLDER}, {"micropython": "1.28.0"}, {"link": "uart"}, {"wiring": "autorally"}],
)
def test_a_heap_of_another_program_release_link_or_car_is_not_this_one(tables, other):
    tables(needs=[NEED, replace(NEED, what="hitl", **other)])
    assert not is_done(chip.Piece("f1tenth", False))


def test_a_release_keeps_the_smallest_heap_of_its_builds():
    older = RuntimeHeap("rp2040", "1.28.0", 239_232, "2026-11-26", "one build")
    known = RuntimeHeap("rp2040", "1.29.0", 227_008, "2026-11-26", "one build")
    same, less, more = (
        replace(known, heap=heap, how="another build") for heap in (227_008, 226_000, 233_792)
    )
    assert chip_heap.least_heaps([older, known], more) == [older, known]
    assert chip_heap.least_heaps([older, known], less) == [older, less]
    assert chip_heap.least_heaps([older, known], same) == [older, same]
    assert chip_heap.least_heaps([older], more) == [older, more]


@pytest.mark.parametrize("is_paired", [False, True])
@pytest.mark.parametrize("beat_us", chip.BEATS_US)
def test_steps_are_measured_until_no_row_lacks(tables, is_paired, beat_us):
    rows = all_steps(is_paired, beat_us)
    assert len(rows) >= 2
    piece = chip.Piece("f1tenth", is_paired, beat_us)
    tables(steps=rows)
    assert is_done(piece)
    for lacks in range(len(rows)):
        tables(steps=rows[:lacks] + rows[lacks + 1 :])
        assert not is_done(piece)


@pytest.mark.parametrize(
    "other",
    [
        {"program": OLDER}, {"micropython": "1.28.0"}, {"link": "uart"}, {"model": "40"},
        {"beat_us": 20_000}, {"is_paired": True}, {"wiring": "autorally"}, {"chip": "rp2350"},
    ],
)  # fmt: skip
def test_steps_of_another_program_release_link_model_period_key_car_or_chip_are_not_these(
    tables, other
):
    rows = all_steps(False, 10_000)
    tables(steps=[replace(rows[0], **other), *rows[1:]])
    assert not is_done(chip.Piece("f1tenth", False, 10_000))


def test_a_row_of_steps_has_its_median_and_what_was_missed():
    bins = {"bins": [(7000, 60), (7100, 40)], "steps": 100, "longest_us": 7180, "spent_us": 708_000}
    rows = [{"kind": kind, "heard": heard, **bins} for kind, heard in (("standing", 0),
            ("driving", 0), ("driving", 1))]  # fmt: skip
    facts = chip_steps.Facts(PROGRAM, "1.29.0", is_paired=False, beat_us=10_000)
    found = {"rows": rows, "mhz": 200, "missed": 3}
    standing, driving = chip_steps.rows_of(chip_steps.ONE, found, facts, ARGS)
    assert (standing.state, standing.median_us, standing.missed) == ("standing", 7100, None)
    assert (driving.median_us, driving.p99_us, driving.longest_us) == (7100, 7180, 7180)
    assert (driving.steps, driving.mean_us, driving.missed) == (200, 7080, 3)


def test_the_table_has_a_row_for_each_drive_with_one_source_and_marks_an_older_program():
    needs = [NEED, replace(NEED, what="hitl", needs=205_500, program=OLDER)]
    needs.append(replace(NEED, is_paired=True, link="uart"))
    steps = [STEPS, replace(STEPS, heard=2), replace(STEPS, state="standing", heard=0)]
    steps.append(replace(STEPS, model="40", program=OLDER, median_us=None, missed=None))
    rows = list(chip_summary.rows_of(needs, {"1.29.0": 227_000}, steps, {"f1tenth": PROGRAM}))
    usb = ("f1tenth", "", "1.29.0", "usb", "23.0", "(21.5)", "10")
    assert rows == [
        (*usb, "40", "(-)", "(8.29)", "(8.39)", "(-)", OLDER),
        (*usb, "auto", "7.27", "8.29", "8.39", "2 of 800", PROGRAM),
        ("f1tenth", "key", "1.29.0", "uart", "23.0", *["-"] * 8),
    ]
    assert {len(row) for row in rows} == {len(chip_summary.HEADS)}


def test_the_tables_that_are_kept_are_printed_whole():
    lines = chip_summary.table("rp2040", dict.fromkeys(chip.CARS, PROGRAM))
    for car in chip.CARS:
        assert any(line.startswith(f"{car} ") and "key" in line for line in lines)


class Bench:
    """What stands for a board here: it keeps what was done to it, and fails as it is told to."""

    def __init__(self, monkeypatch, failing=()):
        self.done, self.words, self.failing = [], [], failing
        monkeypatch.setattr(chip, "_store", self.store)
        monkeypatch.setattr(chip, "_tandem", self.command)
        monkeypatch.setattr(chip.chip_heap, "keep", self.keep_heap)
        monkeypatch.setattr(chip.chip_steps, "measure", self.measure)
        monkeypatch.setattr(chip.chip_steps, "keep", lambda path, rows: self.do("kept"))

    def do(self, what):
        self.done.append(what)
        if what in self.failing:
            raise subprocess.CalledProcessError(3, what)

    def command(self, *words):
        self.words.append(words)
        self.do(words[0])

    def store(self, board, args, key):
        self.do("key" if any(key) else "no key")

    def keep_heap(self, bench, args):
        self.do(f"heap of {args.wiring}{', with a key' if args.key else ''}")

    def measure(self, bench, args):
        self.do(f"steps{', with a key' if args.key else ''}")
        return []


def measured(monkeypatch, pieces, failing=(), patience=1.0):
    """What was done to measure these, and what is said to have failed."""
    bench = Bench(monkeypatch, failing)
    args = argparse.Namespace(**{**vars(ARGS), "patience": patience})
    failed = list(chip._car_measured(BOARD, "f1tenth", pieces, args))
    return bench.done, failed


PIECES = [
    chip.Piece("f1tenth", False),
    chip.Piece("f1tenth", False, 10_000),
    chip.Piece("f1tenth", True),
    chip.Piece("f1tenth", True, 20_000),
]


def test_a_car_is_flashed_once_and_each_piece_measured_with_its_key_which_is_taken_away(
    monkeypatch,
):
    done, failed = measured(monkeypatch, PIECES)
    assert not failed
    assert done == [
        *("no key", "flash", "heap of f1tenth", "config", "steps", "kept", "key"),
        *("heap of f1tenth, with a key", "config", "steps, with a key", "kept", "no key"),
    ]


def test_a_piece_that_fails_leaves_the_others_and_is_named(monkeypatch):
    done, failed = measured(monkeypatch, PIECES, failing=["steps", "heap of f1tenth, with a key"])
    assert done.count("kept") == 1
    assert done[-1] == "no key"
    first, second = failed
    assert first.startswith("f1tenth, steps at 10 ms, /dev/board: ")
    assert second.startswith("f1tenth, with a key, heap, /dev/board: ")


def test_a_car_over_a_uart_is_flashed_by_both_ports_and_configured_by_its_link(monkeypatch):
    bench = Bench(monkeypatch)
    board = replace(BOARD, port="/dev/uart", repl="/dev/usb")
    args = argparse.Namespace(**{**vars(ARGS), "patience": 1.0})
    assert not list(chip._car_measured(board, "f1tenth", PIECES[:2], args))
    (flash, config) = bench.words
    assert " ".join(flash).endswith("--port /dev/uart --repl /dev/usb --no-selftest")
    assert config[:3] == ("config", "write", "serial:///dev/uart")


@pytest.mark.parametrize(("patience", "tries"), [(1.0, 1), (30.0, 3)])
def test_a_slow_board_is_flashed_again_and_one_that_is_not_flashed_is_not_measured(
    monkeypatch, patience, tries
):
    done, failed = measured(monkeypatch, PIECES, failing=["flash"], patience=patience)
    assert done == ["no key", *["flash"] * tries]
    (why,) = failed
    assert why.startswith("f1tenth, /dev/board: ")


def is_at_most(right, asked, number):
    asked.append(number)
    return number <= right


@pytest.mark.parametrize("limit", [1, 2, 3, 32])
def test_the_largest_is_found_from_any_guess_and_soon_from_a_good_one(limit):
    for right in range(limit):
        for guess in (None, *range(-2, limit + 3)):
            asked: list[int] = []
            found = largest(partial(is_at_most, right, asked), limit, guess)
            assert found == right
            assert len(asked) == len(set(asked))
            if guess == right:
                assert len(asked) <= 2
            if guess is None:
                assert len(asked) <= limit.bit_length()
