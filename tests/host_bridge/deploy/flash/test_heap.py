"""The heap that a board must have, by tables of a few rows, and by those that were measured."""

import pytest

from host_bridge.config.boards import heap as tables
from host_bridge.config.boards import load_board
from host_bridge.config.boards.heap import SPARE, HeapNeed, RuntimeHeap, heap_need, runtime_heaps
from host_bridge.core.errors import RefusedFault
from host_bridge.deploy.flash.board.board import BoardFacts
from host_bridge.deploy.flash.board.heap import fitting_releases, refuse_small_heap

PICO = load_board("pico")
NEEDS = {("small", False): 200_000, ("small", True): 209_000, ("large", False): 205_000,
         ("large", True): 214_000}  # fmt: skip
HEAPS = {"1.9.0": 230_000, "1.28.0": 225_000, "1.29.0": 210_000}


@pytest.fixture(autouse=True)
def measured(monkeypatch):
    told = ("hash", "2026-11-26", "a test")
    needs = [
        HeapNeed("rp2040", *key, "car", "1.29.0", "usb", size, *told) for key, size in NEEDS.items()
    ]
    needs.append(HeapNeed("rp2040", "small", False, "hitl", "1.29.0", "usb", 999_999, *told))
    heaps = [RuntimeHeap("rp2040", *row, *told[1:]) for row in reversed(HEAPS.items())]
    monkeypatch.setattr(tables, "read_needs", lambda: needs)
    monkeypatch.setattr(tables, "read_runtimes", lambda: heaps)


def refused(wiring, heap, is_paired, board=PICO, taken=0):
    facts = BoardFacts("a Pico", (1, 29, 0), b"id", heap, taken)
    return refuse_small_heap(board, wiring, facts, is_paired, "/dev/car")


@pytest.mark.parametrize(("wiring", "is_paired"), NEEDS)
def test_it_needs_its_own_and_four_kilobytes_more(wiring, is_paired):
    least = NEEDS[wiring, is_paired] + SPARE
    row = refused(wiring, least, is_paired)
    assert row == {"heap_bytes": least, "heap_needed_bytes": NEEDS[wiring, is_paired]}
    with pytest.raises(RefusedFault, match="too little heap"):
        refused(wiring, least - 1, is_paired)


def test_a_car_that_was_never_measured_is_taken_for_the_largest():
    with pytest.raises(RefusedFault, match="large, which is the largest known, takes 205"):
        refused("another", 205_000, False)


def test_a_chip_of_which_nothing_is_known_refuses_nothing():
    assert refused("small", 1, False, load_board("pico2")) == {"heap_bytes": 1}
    assert "not measured" in fitting_releases(load_board("pico2"), "small")


@pytest.mark.parametrize(
    ("wiring", "is_paired", "heap", "ways", "others"),
    [
        ("small", False, 200_000, ["MicroPython 1.29.0 "], ["1.28.0", "--forget"]),
        ("small", True, 210_000, ["MicroPython 1.28.0 ", "--forget"], ["1.29.0"]),
        ("large", True, 206_000, ["MicroPython 1.28.0 "], ["--forget"]),  # nor without its key
    ],
)
def test_the_remedy_names_what_makes_room(wiring, is_paired, heap, ways, others):
    with pytest.raises(RefusedFault) as caught:
        refused(wiring, heap, is_paired)
    for way in (*ways, "a Pico 2"):
        assert way in caught.value.remedy
    for way in others:
        assert way not in caught.value.remedy
    assert f"{heap / 1000:.1f} kB, of MicroPython 1.29.0" in caught.value.got


def test_what_a_boot_py_holds_is_not_the_cars():
    assert refused("small", 234_096, False, taken=30_000)["heap_bytes"] == 204_096
    with pytest.raises(RefusedFault) as caught:
        refused("small", 234_095, False, taken=30_000)
    assert caught.value.got == "204.1 kB, of MicroPython 1.29.0: its boot.py holds 30.0 kB"
    assert "remove its boot.py" in caught.value.remedy
    assert "put MicroPython" not in caught.value.remedy  # this one has room
    with pytest.raises(RefusedFault) as caught:  # nor has it any without its boot.py
        refused("small", 203_000, False, taken=10_000)
    assert "boot.py" not in caught.value.remedy
    assert "put MicroPython 1.28.0 " in caught.value.remedy  # 1.29.0 has none beside the boot.py


def test_a_dry_run_names_the_newest_release_with_room(monkeypatch):
    assert fitting_releases(PICO, "small").startswith("take 1.29.0; small takes 200.0 kB; ")
    assert fitting_releases(PICO, "large", is_paired=True).startswith("take 1.28.0; ")
    assert list(runtime_heaps("rp2040")) == ["1.9.0", "1.28.0", "1.29.0"]
    monkeypatch.setattr(tables, "read_runtimes", lambda: [])
    assert "not measured" in fitting_releases(PICO, "small")


def test_hardware_in_the_loop_is_a_need_of_its_own():
    assert heap_need("rp2040", "small", False, "hitl").needs == 999_999
    assert heap_need("rp2040", "small", False).needs == 200_000


def test_all_three_cars_were_measured_on_the_chip(monkeypatch):
    monkeypatch.undo()
    rows = tables.read_needs()
    assert len({row.key for row in rows}) == len(rows) > 0
    assert {row.micropython for row in rows} <= {*runtime_heaps("rp2040")}
    for wiring in ("f1tenth", "f1tenth_vesc", "autorally"):
        for what in ("car", "hitl"):
            bare, paired = (heap_need("rp2040", wiring, key, what) for key in (False, True))
            assert bare.wiring == paired.wiring == wiring, what
            assert 150_000 < bare.needs < paired.needs < 240_000
    newest = max(runtime_heaps("rp2040").items())
    assert newest[0] >= "1.29"
    for wiring in ("f1tenth", "f1tenth_vesc", "autorally"):
        need = heap_need("rp2040", wiring, True).needs
        assert newest[1] >= need + SPARE, f"{wiring} with a key has no room on {newest}"
