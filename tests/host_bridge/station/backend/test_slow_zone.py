"""Slow lowers each cap that is higher, raises none, and says of which car it did not."""

from __future__ import annotations

import asyncio

import pytest

from host_bridge.station.backend.slow_zone import SLOW_MPS, SlowZone
from tests.host_bridge.cli.programs import serving, tandem, until
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.station.backend.talk import talking_to
from tests.host_bridge.station.stage import PORTS


class Commands:
    def __init__(self, answers: dict[str, str]) -> None:
        self.asked: list[tuple[str, ...]] = []
        self._answers = answers

    async def run(self, *words: str) -> tuple[bool, object]:
        self.asked.append(words)
        why = self._answers.get(words[-1], "")
        return not why, why or {}


def lowered(caps: dict[str, float | None], answers: dict[str, str]) -> tuple[Commands, SlowZone]:
    commands = Commands(answers)
    zone = SlowZone(commands.run)
    asyncio.run(zone.lower("Phone", caps))
    return commands, zone


def test_only_what_is_faster_is_asked():
    caps = {"red": 4.0, "blue": SLOW_MPS, "low": 0.3, "new": None}
    commands, _ = lowered(caps, {})
    assert commands.asked == [("cap", "1", "--car", "red"), ("cap", "1", "--car", "new")]


def test_a_car_that_refuses_is_named_with_its_reason():
    _, zone = lowered({"red": 4.0, "blue": 4.0}, {"blue": "nothing is heard of it"})
    assert zone.row({"red": 1.0, "blue": 4.0}) == {
        "by": "Phone",
        "cap_mps": 1.0,
        "slow": ["red"],
        "missing": {"blue": "nothing is heard of it"},
    }


def test_it_is_over_when_no_car_is_slow():
    _, zone = lowered({"red": 4.0}, {})
    assert zone.row({"red": 1.0})
    assert zone.row({"red": 4.0}) is None


def test_before_anybody_pressed_it_nothing_is_shown():
    assert SlowZone().row({"low": 0.3}) is None


@pytest.mark.process
@pytest.mark.smoke
def test_any_page_lowers_the_cap_of_a_car_and_the_board_holds_it(monkeypatch):
    with (
        runtime_folder(monkeypatch),
        serving("sim://f1tenth", "red"),
        talking_to(PORTS + 44) as station,
    ):
        until(lambda: station.picture()["cars"], "the car on the page")
        station.tell(do="slow", by="Phone")
        until(lambda: (station.picture()["slow"] or {}).get("slow") == ["red"], "the cap")
        assert station.picture()["cars"][0]["cap_mps"] == SLOW_MPS
        assert tandem("cap", "0.5", "--car", "red").returncode == 0
        station.tell(do="slow", by="Phone")
        until(lambda: station.picture()["cars"][0]["cap_mps"] == 0.5, "the lower cap to stay")
