"""Drives with a gamepad, against the car's program in virtual time: who drives, and each way of
losing the pad, with the metres that the plant ran after it."""

from __future__ import annotations

import asyncio

import pytest

from host_bridge.core import Cause, State
from host_bridge.drive.controls import open_inputs
from host_bridge.drive.drive import Phase
from host_bridge.drive.options import DriveOptions
from host_bridge.inputs.gamepad import (
    GamepadInput,
    LivenessCheck,
    PadMapping,
    PadMappings,
    Sdl,
    VirtualPad,
)
from host_bridge.inputs.manoeuvres import Constant, ManoeuvrePlayer
from sim_mock.world import plant_of
from tests.host_bridge.drive.drives import DriveOfInputs, Rig, vehicle

CAR = vehicle("f1tenth_vesc")  # one with a plain ESC may 2 m/s
SPEED_MPS = 3.0
METRES = 1.6  # from 3 m/s: 200 ms until it is noticed, the brake, and a beat of each


class Ride(DriveOfInputs):
    """An F1TENTH with a VESC, a pad that trembles each 10 ms, and what it may let drive."""

    def __init__(self, folder, liveness=LivenessCheck.REPORTS, program=False):
        self.sdl = Sdl()
        self.pad = VirtualPad(self.sdl, "Ride pad")
        facts = self.sdl.pads()[0]
        PadMappings(folder).keep(PadMapping(facts.guid, facts.name, "", liveness))
        plant = plant_of(CAR, 1)
        self.truth = plant
        self.input = GamepadInput("", PadMappings(folder))
        player = ManoeuvrePlayer(lambda context, limits: Constant(1.5, 60.0)) if program else None
        hand = "gamepad" if program else None
        options = DriveOptions(("car",), hand=hand, speed_mps=SPEED_MPS)
        controls = asyncio.run(
            open_inputs(options, [CAR], True, player or self.input, self.input, lambda: 0)
        )
        super().__init__(Rig("red", plant=plant, of=CAR), source=controls.source.name)
        self.begin(controls, "drive@test")

    def before_tick(self):
        self.pad.tremble()

    @property
    def status(self):
        return self.rigs[0].car.status

    def arm(self):
        self.until(lambda: self.drive.phase is Phase.DRIVING)
        self.advance(0.05)

    def at_speed(self, mps=SPEED_MPS):
        self.arm()
        self.pad.press("leftshoulder")
        self.until(lambda: self.status.state is State.ACTIVE)
        self.pad.move("righttrigger", 1.0)
        self.until(lambda: self.status.speed_mps > 0.97 * mps)

    def stop_distance(self):
        """Until the plant stands; the metres that it ran."""
        begun_m = self.rigs[0].car.motion.distance_m
        begun_us = self.now_us
        self.until(lambda: abs(self.status.speed_mps) < 0.02)
        self.advance(0.1)
        metres = self.rigs[0].car.motion.distance_m - begun_m
        print(f"{metres:.2f} m, {(self.now_us - begun_us) / 1000 - 100:.0f} ms")
        return metres

    def close(self):
        asyncio.run(self.input.close())
        if self.pad._joystick:
            self.pad.unplug()
        self.sdl.close()


@pytest.fixture
def ride(tmp_path):
    rides = []

    def begin(**words) -> Ride:
        rides.append(Ride(tmp_path, **words))
        return rides[-1]

    yield begin
    for it in rides:
        it.close()


def test_a_pad_drives_at_its_cap_and_lb_released_brakes_into_hold(ride):
    it = ride()
    it.at_speed()
    it.pad.press("leftshoulder", False)
    assert 0.3 < it.stop_distance() < 1.2
    assert it.status.state is State.HOLD


def test_a_steady_hand_on_a_pad_that_trembles_drives_on(ride):
    it = ride()
    it.at_speed()
    it.advance(5.0)
    assert it.status.state is State.ACTIVE


# --- each way of losing it: (what happens, why the car says that it stopped)


def unplugged(it):
    it.pad.unplug()


def frozen(it):
    """The program that reads it, its driver or its radio says nothing any more."""
    it.pad.is_frozen = True


def battery_empty_zeros(it):
    """Pads that say zeros as they go: LB is released, so it is a release."""
    it.pad.rest()
    it.pad.is_frozen = True


def dongle_repeats(it):
    """The dongle says the last values again and again: nothing of that is new."""
    it.pad.is_noisy = False
    it.pad.move("righttrigger", 1.0)


LOSSES = [
    (unplugged, Cause.STOP_REQUEST, State.STOPPED),
    (frozen, Cause.FROZEN_INPUT, State.STOPPED),
    (dongle_repeats, Cause.FROZEN_INPUT, State.STOPPED),
    (battery_empty_zeros, None, State.HOLD),
]


@pytest.mark.parametrize(("lose", "cause", "state"), LOSSES, ids=[it[0].__name__ for it in LOSSES])
def test_a_pad_that_is_lost_stops_the_car_within_metres(ride, lose, cause, state):
    it = ride()
    it.at_speed()
    lose(it)
    assert 0.3 < it.stop_distance() < METRES
    assert it.status.first_cause is cause
    assert it.status.state is state


def test_unplugged_and_plugged_in_again_it_drives_only_after_release_and_a_word(ride):
    it = ride()
    it.at_speed()
    it.pad.unplug()
    it.stop_distance()
    assert "unplugged" in it.drive.notice
    it.pad.plug()
    it.pad.press("leftshoulder")
    it.pad.move("righttrigger", 1.0)
    it.advance(2.0)
    assert it.status.state is State.STOPPED
    it.pad.press("start")
    it.advance(0.02)
    it.pad.press("start", False)
    it.until(lambda: it.drive.phase is Phase.DRIVING)
    it.advance(1.0)
    assert it.status.state is State.HOLD, "what was held before is no grip"
    it.pad.move("righttrigger", 0.0)
    it.pad.press("leftshoulder", False)
    it.advance(0.05)
    it.pad.press("leftshoulder")
    it.until(lambda: it.status.state is State.ACTIVE)


def test_a_pad_that_shows_no_life_ends_held_or_frozen_alike_within_its_cap(ride):
    it = ride(liveness=LivenessCheck.PRESSES)
    it.at_speed(0.3)
    it.pad.is_frozen = True
    assert it.stop_distance() < 0.5
    assert it.status.state is State.HOLD


def test_any_button_without_a_role_stops_and_says_so(ride):
    it = ride()
    it.at_speed()
    it.pad.press("b")
    assert it.stop_distance() < 1.2
    assert it.status.first_cause is Cause.STOP_REQUEST
    assert it.pad.rumbled_ms


# --- LB by hand, RB a program


def test_a_program_drives_only_while_rb_is_held(ride):
    it = ride(program=True)
    it.arm()
    it.advance(0.5)
    assert it.status.state is State.HOLD
    it.pad.press("rightshoulder")
    it.until(lambda: it.status.speed_mps > 1.4)
    it.pad.press("rightshoulder", False)
    assert it.stop_distance() < 0.6
    assert it.status.state is State.HOLD


def test_lb_takes_over_from_the_program_and_gives_back(ride):
    it = ride(program=True)
    it.arm()
    it.pad.press("rightshoulder")
    it.until(lambda: it.status.speed_mps > 1.4)
    it.pad.press("leftshoulder")
    it.until(lambda: abs(it.status.speed_mps) < 0.2)  # the hand asks for nothing yet
    it.pad.move("righttrigger", 1.0)
    it.until(lambda: it.status.speed_mps > 1.4)
    it.pad.move("righttrigger", 0.0)
    it.pad.press("leftshoulder", False)
    it.until(lambda: abs(it.status.speed_mps) > 1.4)
    assert it.status.state is State.ACTIVE
