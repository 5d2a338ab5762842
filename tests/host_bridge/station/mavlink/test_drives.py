"""A hand at a station: what it drives, and each way of losing it, in metres of the plant."""

from __future__ import annotations

import pytest
from pymavlink.dialects.v20 import development as mavlink

from host_bridge.core import Cause, OperatorAction, Sender, State, arm_action
from host_bridge.core.codes import Action
from tests.host_bridge.station.mavlink.rover import AFAR, KEY, Rover, StationEnd
from tests.support.evidence import every

EVERY_S = 0.04  # a joystick at 25 Hz
CAP_MPS = 2.0  # of the source `remote` of this vehicle
UNPROVEN_MPS = 0.3
FULL = 980  # of 1000: at its end a stick does not tremble


class Ride:
    """A rover that a station drives; ``trembles`` is the stick of a living hand."""

    def __init__(self, *, is_virtual=True, address=None, key=None, deadman=None, of=None):
        self.rover = Rover(is_virtual=is_virtual, has_guest=key == KEY, deadman=deadman, of=of)
        self.station = StationEnd(self.rover, *([address] if address else []), key=key)
        self.x, self.r, self.buttons = 0, 0, 0
        self.trembles = True
        self.trembles_elsewhere = False  # an axis that drives nothing
        self.is_sending = True
        self._count = 0

    def turn(self):
        """One packet of the joystick, and 40 ms."""
        self._count += 1
        tremble = self._count % 3 if self.trembles and self.x else 0
        if self.is_sending:
            elsewhere = self._count % 2 if self.trembles_elsewhere else 0
            self.station.sticks(self.x + tremble, self.r, self.buttons, z=elsewhere)
        self.rover.advance(EVERY_S)

    def go_on(self, seconds):
        for _ in range(round(seconds / EVERY_S)):
            self.turn()

    def until(self, is_so, limit_s=5.0):
        for _ in range(round(limit_s / EVERY_S)):
            if is_so():
                return
            self.turn()
        raise AssertionError(f"not within {limit_s} s: {self.station.texts()}")

    def arm(self):
        self.station.arm()
        self.until(lambda: self.rover.state in (State.HOLD, State.ACTIVE))

    def arm_beside(self):
        """As the person beside a real car, by tandem arm."""
        car = self.rover.car
        request = car.request(arm_action(car.profile(), Sender.COMMAND), self.rover.now_us)
        self.until(lambda: request.result is not None)
        assert request.result.is_done, str(request.result)

    def drive(self, x=FULL):
        self.until(lambda: self.rover.state is State.ACTIVE)
        self.go_on(0.2)
        self.x = x
        self.go_on(2.0)

    def stop_distance(self, turn):
        """Until the plant stands; the metres that it ran."""
        begun_m = self.rover.car.motion.distance_m
        begun_us = self.rover.now_us
        for _ in range(200):
            if abs(self.rover.speed_mps) < 0.02:
                break
            turn()
        for _ in range(3):
            turn()
        metres = self.rover.car.motion.distance_m - begun_m
        print(f"{metres:.2f} m, {(self.rover.now_us - begun_us) / 1e6 - 3 * EVERY_S:.2f} s")
        return metres


@pytest.fixture
def ride():
    it = Ride()
    it.arm()
    return it


def driven(it, x=FULL):
    it.drive(x)
    assert it.rover.speed_mps > 0.9 * CAP_MPS
    return it


def test_a_living_hand_drives_as_fast_as_a_guest_may_and_right_is_right(ride):
    driven(ride)
    ride.r = 300
    ride.go_on(0.5)
    got = ride.station.all_of("ATTITUDE")[-1]
    assert got.yawspeed > 0.1
    assert ride.station.all_of("LOCAL_POSITION_NED")[-1].x > 1.0
    ride.x = 0
    assert ride.stop_distance(ride.turn) < 1.5
    assert ride.rover.state is State.ACTIVE


def test_backward_is_backward(ride):
    ride.drive(-FULL)
    assert ride.rover.speed_mps < -0.3


def silent(ride):
    ride.is_sending = False


def link_cut(ride):
    ride.station.is_cut = True


LOSSES = {"station killed or suspended": silent, "link cut": link_cut}


@pytest.mark.parametrize("loss", LOSSES)
def test_a_station_that_is_lost_stops_the_car(ride, loss):
    driven(ride)
    LOSSES[loss](ride)
    assert 0.2 < ride.stop_distance(ride.turn) < 0.9
    assert ride.rover.car.status.first_cause is Cause.SILENCE
    assert ride.rover.state in (State.STOPPING, State.STOPPED)


def test_a_gateway_that_is_lost_stops_the_car(ride):
    driven(ride)
    ride.rover.is_host_alive = False
    assert 0.2 < ride.stop_distance(lambda: ride.rover.advance(EVERY_S)) < 0.9


def test_a_window_that_hangs_and_repeats_its_last_value_slows_down_and_lets_go(ride):
    driven(ride)
    ride.trembles = False
    ride.go_on(0.12)  # at once it may be a steady hand
    assert ride.rover.speed_mps > 0.9 * CAP_MPS
    assert 0.4 < ride.stop_distance(ride.turn) < 1.7
    ride.go_on(1.0)
    assert ride.rover.state is State.HOLD
    ride.trembles = True
    ride.go_on(1.0)
    assert ride.rover.speed_mps < 0.02  # the stick has to come to rest first
    ride.x = 0
    ride.go_on(0.5)
    driven(ride)


def test_a_stick_at_its_very_end_slows_down_and_is_let_go_after_3_s(ride):
    """The worst of a window that hangs: the last value is the end of the stick."""
    driven(ride)
    ride.trembles, ride.x = False, 1000
    ride.go_on(2.4)
    assert ride.rover.state is State.ACTIVE
    assert 0.2 < ride.rover.speed_mps < 1.1 * UNPROVEN_MPS
    ride.go_on(1.0)
    assert ride.rover.state is State.HOLD
    assert ride.rover.speed_mps < 0.02


def test_a_window_that_hangs_with_the_stick_at_its_end_goes_so_far(ride):
    driven(ride)
    ride.trembles, ride.x = False, 1000
    assert 1.5 < ride.stop_distance(ride.turn) < 2.4


def test_a_hand_that_holds_the_stick_at_its_end_and_trembles_elsewhere_drives_on(ride):
    """Each axis tells of a hand, also one that drives nothing."""
    ride.trembles, ride.trembles_elsewhere = False, True
    driven(ride, 1000)
    ride.go_on(4.0)
    assert ride.rover.speed_mps > 0.9 * CAP_MPS


def test_a_steady_hand_that_never_trembled_is_held_to_the_pads_speed(ride):
    ride.trembles = False
    ride.until(lambda: ride.rover.state is State.ACTIVE)
    ride.x = FULL
    ride.go_on(0.3)
    for _ in range(3):
        ride.x -= 1  # moved each 0.8 s, so the hold lasts
        ride.go_on(0.8)
        assert ride.rover.car.status.target_mps <= UNPROVEN_MPS
    assert ride.rover.state is State.ACTIVE


def test_a_stick_that_is_not_at_rest_at_the_arm_moves_nothing():
    it = Ride()
    it.x = 800
    it.arm()
    it.go_on(1.0)
    assert it.rover.state is State.HOLD
    assert it.rover.speed_mps < 0.02


def test_two_stations_at_once_and_the_first_has_the_car(ride):
    driven(ride)
    other = StationEnd(ride.rover, ("127.0.0.1", 14_551), system=254)
    for _ in range(25):
        other.sticks(x=-FULL)
        ride.turn()
    assert ride.rover.speed_mps > 0.9 * CAP_MPS
    assert "has the car" in other.texts()
    other.arm()
    other.disarm()  # and it stops the car all the same
    assert ride.stop_distance(ride.turn) < 0.6
    assert ride.rover.car.status.first_cause is Cause.STOP_REQUEST


def test_a_second_station_has_the_car_once_the_first_is_silent(ride):
    driven(ride)
    ride.is_sending = False
    ride.go_on(4.0)
    assert ride.rover.gateway.driver.holder is None
    other = StationEnd(ride.rover, ("127.0.0.1", 14_551), system=254)
    other.arm()
    ride.until(lambda: other.acks(mavlink.MAV_CMD_COMPONENT_ARM_DISARM) == [0])
    assert str(ride.rover.gateway.driver.holder).startswith("254/")


def test_a_mode_that_holds_brakes_into_hold(ride):
    driven(ride)
    ride.station.command(mavlink.MAV_CMD_DO_SET_MODE, 1, 4)
    ride.stop_distance(ride.turn)
    assert ride.rover.state is State.HOLD


def test_a_joystick_that_never_armed_here_claims_nothing():
    """So it ends no autonomy, and its silence stops nobody's drive."""
    it = Ride()
    it.go_on(0.5)
    it.arm_beside()
    it.x = 500
    it.go_on(1.0)
    assert it.rover.fleet.claims_sent == 0
    it.is_sending = False
    it.go_on(1.0)
    assert it.rover.state is State.HOLD


# --- a real car, as the gateway treats one


def test_a_real_car_that_a_person_armed_is_driven_signed_while_the_button_is_held():
    it = Ride(is_virtual=False, key=KEY, deadman=4)
    it.go_on(0.3)
    it.arm_beside()
    it.buttons = 1 << 4
    driven(it)
    it.buttons = 0
    assert it.stop_distance(it.turn) < 0.9
    assert it.rover.state is State.HOLD


def test_a_guest_whose_age_timesync_tells_drives_as_fast_as_a_guest_may():
    it = Ride(is_virtual=False, address=AFAR, key=KEY, deadman=4)
    it.go_on(0.3)
    it.arm_beside()
    it.buttons = 1 << 4
    driven(it)


def test_a_guest_whose_age_nobody_tells_drives_as_slow_as_such_a_pad():
    it = Ride(is_virtual=False, address=AFAR, key=KEY, deadman=4)
    it.station.answers_times = False
    it.go_on(0.3)
    it.arm_beside()
    it.buttons = 1 << 4
    it.drive()
    assert 0.2 < it.rover.speed_mps < 1.2 * UNPROVEN_MPS


def test_a_hold_that_was_on_its_way_for_long_is_none():
    """Packets that come late all at once, in order: each is as old as the newest answer."""
    it = Ride(is_virtual=False, address=AFAR, key=KEY, deadman=4)
    it.go_on(0.3)
    it.arm_beside()
    it.buttons = 1 << 4
    driven(it)
    it.station.answers_times = False  # their answers are stuck behind them
    it.stop_distance(it.turn)
    assert it.rover.car.status.first_cause is Cause.SILENCE


def test_a_stop_needs_a_clear_and_arming_gives_it(ride):
    ride.station.disarm()
    ride.until(lambda: ride.rover.state is State.STOPPED)
    ride.arm()
    driven(ride)
    assert every(it.code is not None for it in ride.rover.car.events)


def test_arming_is_refused_in_the_cars_own_words(ride):
    driven(ride)
    ride.station.disarm()
    ride.turn()
    ride.station.arm()  # while it still rolls
    ride.until(lambda: 2 in ride.station.acks(mavlink.MAV_CMD_COMPONENT_ARM_DISARM))
    assert "did not clear" in ride.station.texts()


def test_nothing_is_armed_by_a_clear_alone(ride):
    ride.station.disarm()
    ride.until(lambda: ride.rover.state is State.STOPPED)
    car = ride.rover.car
    request = car.request(OperatorAction(Action.CLEAR, Sender.COMMAND), ride.rover.now_us)
    ride.until(lambda: request.result is not None)
    ride.go_on(1.0)
    assert ride.rover.state is State.STANDBY
