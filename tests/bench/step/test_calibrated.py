"""Which rows of the table of measured steps an estimate can be fitted to."""

from dataclasses import replace

from host_bridge.config.boards.measured import read_measured
from tests.bench.step.calibrated import with_enough_rows

ROW = replace(read_measured()[0], wiring="one", link="usb", micropython="9.9.9", heard=0)
OTHER = replace(ROW, wiring="other")


def test_a_model_with_no_more_rows_than_unknowns_is_left_out():
    """A rate and a constant for each of two wirings are three: three rows would fit exactly."""
    three = [ROW, replace(ROW, heard=1), OTHER]
    assert with_enough_rows(three) == []
    four = [*three, replace(OTHER, heard=1)]
    assert with_enough_rows(four) == four


def test_a_model_is_not_counted_with_another_one():
    several = [replace(ROW, heard=heard) for heard in range(3)]
    assert with_enough_rows([*several, replace(ROW, micropython="9.9.8")]) == several
