"""The study of made estimates: its table, and what its cells are shares of."""

import pytest

from calibration.regression import agreement
from tests.studies.logs.agreement_study import NAMES, Cell, cell, main, pooled


def test_a_share_is_of_the_parameters_that_are_told():
    alike, apart = cell(2, 0.0, 40, 1.5), cell(8, 4.0, 40, 1.5)
    assert alike.sets == apart.sets == 40 * len(NAMES)
    assert alike.told > 0.98 * alike.sets
    assert apart.told < 0.1 * apart.sets
    few, many = Cell(2, 0.0, 10, 10, 0.9, 1.0, 1.0), Cell(2, 1.0, 40, 30, 0.5, 1.0, 1.0)
    assert pooled([few, many]) == pytest.approx(0.6)


def test_more_degrees_of_freedom_that_the_mean_costs_are_wider_intervals(monkeypatch, capsys):
    monkeypatch.setattr(agreement, "MEAN_COSTS", 0.0)
    narrow = cell(2, 2.0, 40, 1.5)
    assert main(["--sets", "10", "--costs", "1"]) == 0
    shown = capsys.readouterr().out
    assert "90 % intervals hold in 0." in shown
    assert len(shown.splitlines()) == 27
    assert cell(2, 2.0, 40, 1.5).width > 2.0 * narrow.width
