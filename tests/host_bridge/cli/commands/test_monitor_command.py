"""``tandem monitor`` shows every car on any terminal, its state in the state's colour."""

from __future__ import annotations

import re
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import pytest

from host_bridge.cli.commands.monitor import fitted, painted
from host_bridge.cli.output.status_line import folded, short_line
from host_bridge.core import State
from host_bridge.drive.drive import Phase
from tests.host_bridge.drive.test_drive import Day
from tests.support.evidence import every

NAMES = ("red", "blue", "the-yellow-one-of-lab-4", "violet", "white", "pink", "turquoise", "orange")


@pytest.fixture
def cars() -> list[Any]:
    """Eight cars: one that stands and one that is unplugged, each under four names."""
    day = Day()
    day.until_phase(Phase.DRIVING)
    day.drive_off()
    day.rigs[1].is_plugged = False
    day.until(lambda: day.states()[0] is State.STOPPED and not day.rigs[1].car.is_online())
    whys = ("", "nothing comes from the car")
    return [
        SimpleNamespace(car=Named(day.rigs[n % 2].car, name), why_offline=whys[n % 2])
        for n, name in enumerate(NAMES)
    ]


class Named:
    """A car under another name."""

    def __init__(self, car: Any, name: str) -> None:
        self._car, self.name = car, name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._car, name)


def rows_of(cars: Sequence[Any], columns: int, rows: int) -> list[str]:
    details = "    stop sources: stop loop* there, driver's seat silent, stop box silent, " * 2
    whole = [[short_line(it.car), "    why", details] for it in cars]
    lines = fitted(cars, whole, columns, rows)
    return [row for line in lines for row in folded(line, columns)]


@pytest.mark.parametrize("count", [2, 5, 8])
@pytest.mark.parametrize(("columns", "rows"), [(60, 14), (80, 24), (120, 40)])
def test_every_car_is_on_the_screen_with_its_state(cars, columns, rows, count):
    shown = rows_of(cars[:count], columns, rows)
    assert len(shown) < rows, "else the terminal scrolls at each drawing"
    assert max(map(len, shown)) <= columns
    heads = [row for row in shown if row.startswith(NAMES)]
    assert len(heads) == count
    assert every(re.search(r"  (STOPPED|NO LINK)", row) for row in heads)


def test_with_less_room_than_cars_it_says_how_many_are_not_shown(cars):
    shown = rows_of(cars, 60, 6)
    assert len(shown) == 5
    assert shown[-1] == "4 more cars: make the terminal higher"
    assert "stop sources" in " ".join(rows_of(cars, 60, 99))
    assert "stop sources" not in " ".join(rows_of(cars, 60, 30))


def test_a_state_has_its_colour_and_without_colours_it_is_bold(cars, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    shown = [painted(cars, row) for row in rows_of(cars, 60, 14)]
    assert re.match("red +\x1b\\[1;31mSTOPPED\x1b\\[0m", shown[0])
    assert re.match("blue +\x1b\\[1;31mNO LINK\x1b\\[0m", shown[1])
    monkeypatch.setenv("NO_COLOR", "1")
    shown = [painted(cars, row) for row in rows_of(cars, 60, 14)]
    assert not re.search("\x1b\\[[0-9;]*3[0-9]", "".join(shown))
    assert "\x1b[1mSTOPPED\x1b[0m" in shown[0]
