"""A program that drives while the page is held, against the car's program in virtual time: who has
the car, and each way of losing the page, in metres of the plant."""

from __future__ import annotations

import asyncio

import pytest

from host_bridge.core import Cause, State
from host_bridge.drive.controls import open_inputs
from host_bridge.drive.drive import Phase
from host_bridge.drive.options import DriveOptions
from host_bridge.inputs.manoeuvres import Constant, ManoeuvrePlayer
from host_bridge.station.server.page_seat import FRAME, PageSeat
from tests.host_bridge.drive.drives import DriveOfInputs, Rig, vehicle

SPEED_MPS = 1.5
FULL = 32_767
FRAME_US = 16_667  # of a browser at 60 Hz


class Ride(DriveOfInputs):
    """A car, a page that is held or not, and a program that drives straight on."""

    def __init__(self, is_real=False):
        car = vehicle()
        self.frame = {"held": 0, "steer": 0, "speed": 0}
        self.sends = True
        self.due_us = 0
        self.seat = PageSeat(lambda: self.now_us, lambda lines: None, is_guard=True)
        player = ManoeuvrePlayer(lambda context, limits: Constant(SPEED_MPS, 60.0))
        options = DriveOptions(("car",), input="script:straight", hand=self.seat, speed_mps=2.0)
        controls = asyncio.run(
            open_inputs(options, [car], not is_real, player, self.seat, lambda: 0)
        )
        super().__init__(Rig("red", of=car), source=controls.source.name)
        self.begin(controls, "page@test")

    def before_tick(self):
        if self.sends and self.now_us >= self.due_us:
            self.due_us = self.now_us + FRAME_US
            it = self.frame
            self.seat.hear(FRAME.pack(1, it["held"], it["steer"], it["speed"], 0))

    @property
    def status(self):
        return self.rigs[0].car.status

    def stop_distance(self):
        begun_m = self.rigs[0].car.motion.distance_m
        begun_us = self.now_us
        self.until(lambda: abs(self.status.speed_mps) < 0.02)
        self.advance(0.1)
        metres = self.rigs[0].car.motion.distance_m - begun_m
        print(f"{metres:.2f} m, {(self.now_us - begun_us) / 1000 - 100:.0f} ms")
        return metres

    def at_speed(self):
        self.until(lambda: self.drive.phase is Phase.DRIVING)
        self.advance(0.2)
        assert abs(self.status.speed_mps) < 0.02, "nothing drives before it is held"
        self.frame["held"] = 1
        self.until(lambda: self.status.speed_mps > 0.9 * SPEED_MPS)


@pytest.fixture(params=[False, True], ids=["virtual", "as a real one"])
def ride(request):
    it = Ride(request.param)
    it.at_speed()
    return it


def test_let_go_it_brakes_and_held_again_it_goes_on(ride):
    ride.frame["held"] = 0
    assert ride.stop_distance() < 0.7
    assert ride.status.state is State.HOLD
    ride.frame["held"] = 1
    ride.until(lambda: ride.status.speed_mps > 0.9 * SPEED_MPS)


def test_a_page_that_is_silent_while_it_lets_a_program_drive_stops_the_car(ride):
    """Its socket is open, and the program goes on: nothing but the page's age tells."""
    ride.sends = False
    assert ride.stop_distance() < 0.6
    assert ride.status.state is State.STOPPED
    assert "silent" in ride.drive.notice
    ride.sends = True
    ride.advance(1.0)
    assert ride.status.state is State.STOPPED


def test_a_page_whose_socket_is_lost_stops_the_car(ride):
    ride.sends = False
    ride.seat.leave()
    assert ride.stop_distance() < 0.6
    assert ride.status.first_cause is Cause.STOP_REQUEST


def test_to_steer_takes_over_and_the_program_waits_for_a_new_hold(ride):
    ride.frame.update(steer=FULL // 5, speed=FULL // 4)
    ride.until(lambda: abs(ride.status.speed_mps - 0.5) < 0.1)
    assert ride.status.steer_rad > 0.02
    assert ride.seat.takes_over
    ride.frame.update(steer=0)
    ride.advance(1.0)
    assert ride.status.speed_mps == pytest.approx(0.5, abs=0.1), "still the hand's"
    ride.frame.update(held=0, speed=0)
    ride.until(lambda: abs(ride.status.speed_mps) < 0.02)
    assert not ride.seat.takes_over
    ride.frame["held"] = 1
    ride.until(lambda: ride.status.speed_mps > 0.9 * SPEED_MPS)


def test_a_thumb_that_rests_beside_the_middle_takes_nothing_over(ride):
    ride.frame.update(steer=FULL // 11, speed=FULL)
    ride.advance(1.0)
    assert ride.status.speed_mps == pytest.approx(SPEED_MPS, abs=0.1)
