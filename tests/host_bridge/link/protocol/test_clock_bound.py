"""How well a car's clock has to be known: what its vehicle file says, in claims and in words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from host_bridge.core import DriveCommand, State
from host_bridge.drive.drive import ARMED_THERE, FleetDrive, Phase, _unsure_clock
from tests.host_bridge.drive.drives import Drive, Rig, vehicle


def wide(bound_us: int):
    of = vehicle()
    return replace(of, parameters={**of.parameters, "clock_bound_us": [bound_us]})


@pytest.mark.parametrize(
    ("allowed_us", "bound_us", "is_known"),
    [
        (10_000, 9_000, True),
        (10_000, 9_001, False),
        (30_000, 29_000, True),
        (30_000, 29_001, False),
    ],
)
def test_claims_begin_once_the_clock_is_known_as_well_as_the_file_wants_it(
    allowed_us, bound_us, is_known
):
    drive = Drive(Rig("red", of=wide(allowed_us)), source="remote")
    car = drive.rigs[0].car
    assert "nothing is known" in car.clock_text()
    drive.until(car.connection.is_bound)
    car.connection.clock.bound_us = bound_us
    assert car.is_clock_known() == is_known
    assert car.clock_text() == f"known to {bound_us / 1000:.1f} ms, and this car allows " + (
        f"{allowed_us // 1000}"
    )
    drive.control_task.tick(drive.now_us)
    assert (drive.fleet.claims_sent > 0) == is_known


class Nobody:
    """Controls at which nobody is."""

    input = guardian = None

    def step(self, now_us, cars, is_driving, *, is_between_ticks=False):
        return DriveCommand()

    def let_go(self):
        """Nothing is held."""


def test_a_guest_is_told_that_this_path_is_too_long_and_once_it_is_short_who_arms():
    drive = Drive(Rig("red"), source="remote")
    car = drive.rigs[0].car
    car.is_afar = True
    drive.until(lambda: car.is_clock_known() and car.status.state is State.STANDBY)
    known_us = car.connection.clock.bound_us
    driven = FleetDrive(drive.fleet, Nobody(), drive.now_us, sender_name="guest")
    car.connection.clock.bound_us = 21_000
    driven.step(drive.now_us)
    assert driven.phase is Phase.STOPPED
    assert driven.notice == driven.refusal
    assert "red cannot be driven over this path" in driven.notice
    assert "known to 21.0 ms, and this car allows 10" in driven.notice
    car.connection.clock.bound_us = None
    assert "its clock is not known yet." in _unsure_clock(drive.fleet)
    car.connection.clock.bound_us = known_us
    driven.step(drive.now_us)
    assert (driven.notice, driven.refusal) == (ARMED_THERE, "")
