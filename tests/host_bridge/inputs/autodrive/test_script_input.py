"""A script drives the real program in virtual time: only while it is let, only while it answers."""

import pytest

from host_bridge.core import Cause, InputLimits, Sender, State
from host_bridge.drive.control_task import ControlTask
from host_bridge.drive.controls import Controls
from host_bridge.inputs.autodrive import ScriptInput
from host_bridge.inputs.autodrive.exchange import ScriptExchange
from host_bridge.inputs.autodrive.script_input import ScriptOptions
from host_bridge.inputs.keyboard import KeyboardSeat
from host_bridge.inputs.keyboard.keys import KeyEvent, KeyEventKind
from sim_mock.autodrive import wire
from tests.host_bridge.drive.drives import Drive, Rig, vehicle
from tests.host_bridge.inputs.made_inputs import Person, context

LEASE_S = 0.75
CAP_MPS = 0.13
DEFAULTS = ScriptOptions()
SLOW = ScriptOptions(every_s=2.0)
LIMITS = InputLimits(CAP_MPS, CAP_MPS, 0.4)


class Day(Drive):
    """A Nigel; a script that answers every ``period_s`` with ``keys``; a person with SPACE."""

    def __init__(self, *, has_seat=True, period_s=0.5, script_options=DEFAULTS):
        nigel = vehicle("nigel")
        super().__init__(Rig("nigel", of=nigel), source="seat")
        self.bind()
        source = nigel.source("devkit")
        self.seat = KeyboardSeat(LIMITS, has_releases=True)
        self.script = ScriptInput("127.0.0.1:4567", None, script_options)
        self.script.prepare(context([nigel], speed_mps=CAP_MPS))
        person = Person(seat=self.seat) if has_seat else None
        controls = Controls(self.script, source, LIMITS, person, needs_hand=has_seat)
        self.control_task = ControlTask(
            self.fleet,
            source,
            lambda now_us: controls.step(now_us, (), is_driving=True),
            nigel.source("seat"),
        )
        self.period_us = round(period_s * 1e6)
        self.keys = {"V1 Throttle": "0.2", "V1 Steering": "0.25"}
        self.answers = True
        self.due_us = 0
        self.connect()

    def connect(self):
        self.script.exchange = ScriptExchange(self.now_us)

    def advance(self, seconds):
        for _ in range(round(seconds * 100)):
            if getattr(self, "keys", None) and self.answers and self.now_us >= self.due_us:
                self.due_us = self.now_us + self.period_us
                if self.script.exchange:
                    self.script.exchange.take(wire.write_bridge(self.keys), self.now_us)
            super().advance(0.01)

    def until(self, holds, limit_s=3.0):
        for step in range(round(limit_s * 100)):
            if holds():
                return step * 0.01
            self.advance(0.01)
        raise AssertionError(f"not within {limit_s} s: {self.status}, {self.rigs[0].codes()}")

    @property
    def status(self):
        return self.rigs[0].car.status

    def space(self, kind=KeyEventKind.PRESSED):
        self.seat.on_key(KeyEvent("space", kind), self.now_us)

    def arm_and_answer(self):
        self.arm()
        self.advance(0.3)

    def drive_off(self):
        self.arm_and_answer()
        self.space()
        self.until(lambda: self.is_in(State.ACTIVE))
        self.until(lambda: self.status.speed_mps > 0.05)


@pytest.fixture
def day():
    return Day()


def name_of(day, number):
    return next(source.name for source in vehicle("nigel").sources if source.id == number)


def test_nobody_holds_so_the_script_drives_nothing(day):
    day.arm_and_answer()
    day.advance(1.0)
    assert day.is_in(State.HOLD)
    assert day.status.speed_mps == 0.0
    assert day.script.status_text(day.now_us) == (
        "The script at 127.0.0.1:4567 answers. A throttle above 0.47 is cut, for throttle 1 is "
        "0.267 m/s and the Devkit script may 0.13; --scale fit makes 1 of that."
    )


def test_while_space_is_held_the_scripts_shares_are_the_simulators(day):
    day.drive_off()
    day.advance(2.0)
    assert day.is_in(State.ACTIVE)
    assert name_of(day, day.status.drive_source) == "devkit"
    assert day.status.speed_mps == pytest.approx(0.0569, abs=0.005)
    assert day.status.steer_rad == pytest.approx(0.25 * 0.5236, abs=0.01)


def test_no_share_is_more_than_its_source_may(day):
    day.keys = {"V1 Throttle": "1", "V1 Steering": "0"}
    day.drive_off()
    day.advance(3.0)
    assert 0.9 * CAP_MPS < day.status.speed_mps < 1.1 * CAP_MPS


def test_the_devkits_brake_brakes(day):
    day.drive_off()
    day.keys = {**day.keys, "V1 Brake": "1"}
    day.until(lambda: abs(day.status.speed_mps) < 0.02)
    assert day.is_in(State.ACTIVE)


@pytest.mark.parametrize(
    "keys", [{"V1 Reset": "True"}, {"V1 CoSim": "1", "V1 PosX": "1", "V1 PosY": "0", "V1 RotW": "1",
                                    "V1 RotX": "0", "V1 RotY": "0", "V1 RotZ": "0"}]
)  # fmt: skip
def test_a_car_that_cannot_be_put_elsewhere_stands_while_the_script_wants_that(day, keys):
    day.drive_off()
    day.keys = {**day.keys, **keys}
    day.until(lambda: abs(day.status.speed_mps) < 0.02)
    assert "only a virtual car of this command does" in day.script.status_text(day.now_us)
    day.keys = {"V1 Throttle": "0.2", "V1 Steering": "0", "V1 Reset": "False"}
    day.until(lambda: day.status.speed_mps > 0.05)
    assert day.is_in(State.ACTIVE)


def test_released_it_holds_and_held_again_it_goes_on(day):
    day.drive_off()
    day.space(KeyEventKind.RELEASED)
    day.until(lambda: day.is_in(State.HOLD))
    day.until(lambda: abs(day.status.speed_mps) < 0.02)
    day.space()
    day.until(lambda: day.status.speed_mps > 0.05)


@pytest.mark.parametrize("gone", ["silent", "cut off", "nonsense"])
def test_a_script_that_is_gone_stops_the_car_within_its_lease(day, gone):
    day.drive_off()
    day.advance(0.5)
    if gone == "cut off":
        day.script.exchange = None
    day.answers = gone == "nonsense"
    day.keys = {"V1 Throttle": "nan", "V1 Steering": "0"}
    waited_s = day.until(lambda: not day.is_in(State.ACTIVE))
    assert waited_s <= LEASE_S + 0.02
    day.until(lambda: day.is_in(State.STOPPED))
    assert day.status.first_cause is Cause.SILENCE


def test_a_script_that_is_back_drives_on_only_after_a_clear_an_arm_and_a_new_hold(day):
    day.drive_off()
    day.answers = False
    day.until(lambda: day.is_in(State.STOPPED))
    day.answers = True
    day.advance(1.0)
    assert day.is_in(State.STOPPED)
    day.finish(day.fleet.clear(day.now_us))
    day.finish(day.fleet.arm(day.now_us))
    day.advance(1.0)
    assert day.is_in(State.HOLD), "SPACE has been down all the time: that permits nothing"
    day.space(KeyEventKind.RELEASED)
    day.space()
    day.until(lambda: day.status.speed_mps > 0.05)


def test_space_before_the_script_is_there_permits_nothing(day):
    day.answers = False
    day.arm()
    day.space()
    day.advance(0.5)
    day.answers = True
    day.advance(1.5)
    assert day.is_in(State.HOLD)
    assert not day.seat.is_held(day.now_us)


@pytest.mark.parametrize("hz", [2, 4, 10])
def test_loops_from_two_a_second_on_drive_without_a_stop(hz):
    day = Day(period_s=1.0 / hz)
    day.drive_off()
    day.advance(10.0)
    assert day.is_in(State.ACTIVE)


def test_a_loop_that_is_slower_than_its_lease_stops(day):
    day.drive_off()
    day.period_us = 800_000
    day.until(lambda: day.is_in(State.STOPPED), 4.0)


def driven_slowly(period_s):
    """A day whose script answers so rarely, with the car on its way."""
    day = Day(period_s=period_s, script_options=SLOW)
    day.keys = {"V1 Throttle": "1", "V1 Steering": "0"}
    day.arm_and_answer()
    day.space()
    day.until(lambda: day.status.speed_mps > 0.03)
    return day


def test_one_that_looks_at_pictures_drives_slowly_without_a_stop():
    """Half a hertz, and a little less: at stop.blind_m over what an answer counts for."""
    day = driven_slowly(2.2)
    begun_m = day.rigs[0].car.motion.distance_m
    day.advance(20.0)
    assert day.is_in(State.ACTIVE)
    assert day.rigs[0].car.motion.distance_m - begun_m == pytest.approx(20.0 * 0.04, rel=0.05)


def test_when_that_one_falls_silent_the_car_goes_no_farther_than_it_may_blind():
    day = driven_slowly(2.0)
    day.until(lambda: day.due_us - day.now_us > 1_980_000, 4.0)  # it has just answered
    day.answers = False
    begun_m = day.rigs[0].car.motion.distance_m
    waited_s = day.until(lambda: not day.is_in(State.ACTIVE), 4.0)
    assert 2.3 < waited_s <= 2.5 + 0.02
    day.until(lambda: day.is_in(State.STOPPED))
    assert day.status.first_cause is Cause.SILENCE
    went_m = day.rigs[0].car.motion.distance_m - begun_m
    assert 0.05 < went_m <= vehicle("nigel").blind_m + 0.01


def test_a_stop_from_elsewhere_holds_against_script_and_hand(day):
    day.drive_off()
    day.fleet.stop(Sender.COMMAND, "somebody", day.now_us)
    day.until(lambda: day.is_in(State.STOPPED))
    day.advance(1.0)
    assert day.is_in(State.STOPPED)


def test_without_a_seat_the_deadman_follows_the_script():
    day = Day(has_seat=False)
    day.arm_and_answer()
    day.until(lambda: day.status.speed_mps > 0.05)


def test_words_say_what_is_amiss(day):
    assert "does not answer" in day.script.status_text(day.now_us + 10_000_000)
    day.keys = {"V1 Steering": "0"}
    day.connect()
    day.advance(0.6)
    assert "without a throttle" in day.script.status_text(day.now_us)
    day.script.exchange = None
    day.script.fault = "Connection refused"
    assert day.script.status_text(day.now_us) == "No script at 127.0.0.1:4567: Connection refused."
