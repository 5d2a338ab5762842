"""A program at a station: velocities, under a permission, and each way of losing it."""

from __future__ import annotations

import math
import tempfile
from functools import lru_cache
from pathlib import Path

import pytest
from pymavlink.dialects.v20 import development as mavlink

from host_bridge.config import load_vehicle
from host_bridge.core import Cause, State
from host_bridge.station.mavlink.driving.driver import DISARM_FIRST
from host_bridge.station.mavlink.driving.offboard import NOT_A_NUMBER, ONLY_BODY
from tests.host_bridge.station.mavlink.rover import KEY, StationEnd
from tests.host_bridge.station.mavlink.test_drives import Ride

VEHICLE = """
base = "f1tenth"
title = "driven by a program"

[sources.offboard]
priority = 15
actuators = ["steering", "drive", "brake"]
lease_s = 0.25
speed_cap_mps = 1.0
attended = false
counter = false
on_silence = "stop"
needs = "{needs}"
"""
ALL_BUT_VELOCITY = 0b0000_0101_1100_0111  # the yaw rate counts too
SET_MODE = mavlink.MAV_CMD_DO_SET_MODE
OFFBOARD, MANUAL = 15, 0


@lru_cache
def with_program(needs="remote"):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "program.toml"
        path.write_text(VEHICLE.format(needs=needs))
        return load_vehicle(str(path))


def velocity(vx=0.8, yaw_rate=0.0, frame=mavlink.MAV_FRAME_BODY_NED, mask=ALL_BUT_VELOCITY):
    return mavlink.MAVLink_set_position_target_local_ned_message(
        0, 1, 1, frame, mask, 0, 0, 0, vx, 0, 0, 0, 0, 0, 0, yaw_rate
    )


class Programmed(Ride):
    """A rover whose station sends velocities, beside its sticks or without any."""

    def __init__(self, **options):
        super().__init__(of=with_program(), **options)
        self.has_sticks = False
        self.velocity = velocity()

    def turn(self):
        if self.is_sending:
            self.station.send(self.velocity)
        if self.has_sticks:
            super().turn()
        else:
            self.rover.advance(0.04)


@pytest.fixture
def programmed():
    it = Programmed()
    it.station.command(SET_MODE, 1, OFFBOARD)
    it.arm()
    it.go_on(2.5)
    assert it.rover.speed_mps > 0.7
    return it


def test_a_program_drives_a_virtual_car_and_turns_right_by_a_positive_yaw_rate(programmed):
    it = programmed
    it.velocity = velocity(yaw_rate=0.6)
    it.go_on(1.0)
    assert it.station.all_of("ATTITUDE")[-1].yawspeed == pytest.approx(0.6, abs=0.1)
    assert it.rover.car.status.drive_source == 8


def test_its_silence_stops_the_car(programmed):
    programmed.is_sending = False
    assert programmed.stop_distance(programmed.turn) < 0.7
    assert programmed.rover.car.status.first_cause is Cause.SILENCE


def test_a_mode_that_holds_brakes_and_another_source_needs_a_disarm(programmed):
    it = programmed
    it.station.command(SET_MODE, 1, MANUAL)
    assert DISARM_FIRST in it.station.texts()
    it.station.command(SET_MODE, 1, 4)
    it.go_on(2.0)
    assert it.rover.state is State.HOLD
    it.station.command(SET_MODE, 1, OFFBOARD)
    it.go_on(2.0)
    assert it.rover.state is State.HOLD or it.rover.speed_mps > 0.5


def test_velocities_in_another_mode_move_nothing():
    it = Programmed()
    it.arm()
    it.go_on(1.0)
    assert it.rover.speed_mps < 0.02


@pytest.mark.parametrize(
    ("message", "why"),
    [
        (velocity(frame=mavlink.MAV_FRAME_LOCAL_NED), ONLY_BODY),
        (velocity(mask=ALL_BUT_VELOCITY | 0b1_1000), ONLY_BODY),
        (velocity(vx=math.nan), NOT_A_NUMBER),
        (velocity(yaw_rate=math.inf), NOT_A_NUMBER),
    ],
)
def test_what_is_no_velocity_ahead_is_refused_in_words(message, why):
    it = Programmed()
    it.station.send(message)
    assert why in it.station.texts()


def test_a_car_whose_file_lets_no_program_drive_says_so():
    it = Ride()
    it.station.send(velocity())
    it.station.command(SET_MODE, 1, OFFBOARD)
    assert it.station.acks(SET_MODE) == [mavlink.MAV_RESULT_DENIED]
    assert "[sources.offboard]" in it.station.texts()
    it = Ride(of=with_program("seat"))
    it.station.send(velocity())
    assert 'needs = "remote"' in it.station.texts()


def test_a_real_car_is_driven_by_a_program_while_the_person_holds_the_button():
    it = Programmed(is_virtual=False, key=KEY, deadman=4)
    it.has_sticks = True
    it.station.command(SET_MODE, 1, OFFBOARD)
    it.go_on(0.3)
    it.arm_beside()
    it.go_on(0.5)
    assert it.rover.speed_mps < 0.02
    it.buttons = 1 << 4
    it.go_on(2.5)
    assert it.rover.speed_mps > 0.7
    it.buttons = 0
    assert it.stop_distance(it.turn) < 0.6
    assert it.rover.state is State.HOLD


def test_a_program_of_another_station_is_not_followed(programmed):
    other = StationEnd(programmed.rover, ("127.0.0.1", 14_551), system=254)
    other.send(velocity(vx=-1.0))
    programmed.go_on(0.2)
    assert programmed.rover.speed_mps > 0.7
    assert "has the car" in other.texts()
