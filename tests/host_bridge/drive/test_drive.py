"""A drive against the real firmware, in virtual time: arming, stopping together, ending."""

from dataclasses import replace

import pytest

from firmware.protocol import messages
from host_bridge.cars.actions import SENDER_BYTES, short_sender
from host_bridge.core import InputLimits, OperatorRequest, State
from host_bridge.drive.controls import Controls
from host_bridge.drive.drive import Phase
from host_bridge.inputs.keyboard import KeyboardSeat
from host_bridge.inputs.keyboard.keys import KeyEvent, KeyEventKind
from host_bridge.inputs.manoeuvres import Constant
from sim_mock.world import plant_of
from tests.host_bridge.drive.drives import DriveOfInputs, Rig, vehicle
from tests.host_bridge.inputs.made_inputs import Person, playing
from tests.support.evidence import every

LIMITS = InputLimits(4.0, 1.0, 0.4)


class Day(DriveOfInputs):
    """Two cars on one clock; the person at the seat strikes keys."""

    LIMIT_S = 4.0

    def __init__(self, *, manoeuvre=None, seconds=None):
        name = "script" if manoeuvre else "seat"
        super().__init__(*self.make_cars(), source=name)
        self.seat = KeyboardSeat(LIMITS, has_releases=True)
        source = vehicle().source(name)
        person = Person(seat=self.seat)
        self.player = playing(manoeuvre) if manoeuvre else None
        controls = Controls(self.player or person, source, LIMITS, None if manoeuvre else person)
        self.begin(controls, "drive@test", seconds)

    def make_cars(self):
        return Rig("red"), Rig("blue", board_us=7_000_000, seed=2)

    def until_phase(self, phase):
        self.until(lambda: self.drive.phase is phase)

    def states(self):
        return [rig.car.status.state for rig in self.rigs]

    def press(self, name, kind=KeyEventKind.PRESSED):
        request = self.seat.on_key(KeyEvent(name, kind), self.now_us)
        if request:
            self.drive.handle(request, self.now_us)

    def drive_off(self):
        self.press("space")
        self.until(lambda: self.is_in(State.ACTIVE))
        for _ in range(5):
            self.press("w")
        self.until(lambda: every(rig.car.status.speed_mps > 1.0 for rig in self.rigs))


@pytest.fixture
def day():
    return Day()


def test_before_its_first_step_a_drive_has_seen_nothing():
    """A screen and a log may ask it as soon as it is made."""
    drive = Day().drive
    assert [drive.skew_us, drive.worst_skew_us, drive.begun_us, drive.log_fault] == [None] * 4
    assert (drive.notice, drive.refusal, drive.overrunning_cars) == ("", "", [])
    assert not drive.is_completed
    assert drive.phase is Phase.ARMING


@pytest.fixture
def driving(day):
    day.until_phase(Phase.DRIVING)
    day.drive_off()
    return day


def test_a_seat_held_before_all_cars_are_armed_moves_nothing(day):
    day.press("space")
    day.press("w")
    assert day.drive.read(day.now_us).is_held is False
    day.until_phase(Phase.DRIVING)
    assert day.is_in(State.HOLD)


def test_a_car_that_refuses_to_arm_is_named_with_the_reason_and_no_car_is_armed(day):
    day.rigs[1].world.runstop_closed = False
    day.until_phase(Phase.STOPPED)
    assert "blue did not arm" in day.drive.notice
    assert "the stop loop was open" in day.drive.notice
    assert State.HOLD not in day.states()


def test_what_stopped_it_has_to_be_gone_before_r_arms(day):
    day.rigs[1].world.runstop_closed = False
    day.until_phase(Phase.STOPPED)
    day.press("r")
    day.until_phase(Phase.STOPPED)
    assert "a cause to stop is still present" in day.drive.notice
    day.rigs[1].world.runstop_closed = True
    day.advance(0.05)
    day.press("r")
    day.until_phase(Phase.DRIVING)
    assert day.is_in(State.HOLD)


def test_the_first_arming_forgets_no_stop(day):
    day.stop()
    day.until_phase(Phase.STOPPED)
    assert "clear it first" in day.drive.notice
    assert day.drive.begun_us is None


def test_e_stops_all_cars_and_only_r_and_a_new_press_drive_on(driving):
    driving.press("e")
    driving.until(lambda: driving.is_in(State.STOPPED))
    assert driving.drive.phase is Phase.STOPPED
    driving.press("space")
    driving.advance(0.5)
    assert driving.is_in(State.STOPPED)
    driving.press("r")
    driving.until_phase(Phase.DRIVING)
    driving.advance(0.5)
    assert driving.is_in(State.HOLD), "the deadman has to be held anew"
    driving.drive_off()
    assert [len(trip.stops) for trip in driving.drive.trips] == [1, 1]
    assert "the driver's seat (drive@test) asked for a stop" in driving.drive.trips[0].stops[0]


def test_a_frozen_terminal_stops_all_cars_by_name(driving):
    driving.drive.handle(OperatorRequest.FROZE, driving.now_us)
    driving.until(lambda: driving.is_in(State.STOPPED))
    assert "frozen terminal" in driving.rigs[0].car.why_stopped()


def test_a_car_that_stops_stops_its_twin(driving):
    driving.rigs[0].world.runstop_closed = False
    driving.until(lambda: driving.is_in(State.STOPPED))
    assert "the stop loop was open" in driving.drive.trips[0].stops[0]
    assert "red fell out" in driving.drive.trips[1].stops[0]


@pytest.mark.parametrize(
    ("car", "sent"),
    [("red", "red fell out"), ("a long car name", "a long  fell out"), ("ünäüö", "ünäü fell out")],
)
def test_of_a_long_name_a_stop_names_as_much_as_leaves_room_for_what_happened(car, sent):
    assert short_sender(car, "fell out") == sent
    assert len(sent.encode()) <= SENDER_BYTES
    assert ("sender_name", f"b{SENDER_BYTES}") in {row[:2] for row in messages.Stop.FIELDS}


def test_a_car_that_is_lost_stops_its_twin_and_comes_back_unarmed(driving):
    driving.rigs[0].is_plugged = False
    driving.until_phase(Phase.STOPPED)
    assert "Lost red" in driving.drive.notice
    assert "cable" in driving.drive.notice
    driving.until(lambda: driving.rigs[1].car.status.state is State.STOPPED)
    driving.rigs[0].is_plugged = True
    driving.advance(1.0)
    assert driving.rigs[0].car.status.state is State.STOPPED
    driving.press("r")
    driving.until_phase(Phase.DRIVING)


def test_a_release_holds_both_and_driving_on_begins_from_neutral(driving):
    driving.press("space", KeyEventKind.RELEASED)
    driving.until(lambda: driving.is_in(State.HOLD))
    driving.until(lambda: every(abs(rig.car.status.speed_mps) < 0.05 for rig in driving.rigs))
    driving.press("space")
    driving.advance(0.5)
    assert driving.is_in(State.ACTIVE)
    assert abs(driving.rigs[0].car.status.target_mps) == 0


def test_quit_comes_to_rest_before_it_disarms(driving):
    driving.press("escape")
    assert driving.drive.phase is Phase.RESTING
    driving.press("space")
    driving.until(driving.drive.is_over, 6.0)
    assert driving.is_in(State.STANDBY)
    assert every(abs(rig.world.plant.truth.vx_mps) < 0.1 for rig in driving.rigs)
    assert driving.drive.trips[0].stops == []


def test_quit_twice_does_not_wait(driving):
    driving.press("escape")
    driving.press("escape")
    assert driving.drive.is_over()
    driving.advance(0.05)
    assert every(state in (State.STOPPING, State.STOPPED) for state in driving.states())


def test_a_manoeuvre_is_driven_to_its_end_and_the_cars_agree():
    day = Day(manoeuvre=Constant(1.0, duration_s=2.0))
    day.until(day.drive.is_over, 12.0)
    assert day.drive.is_completed
    assert day.is_in(State.STANDBY)
    assert day.fleet.agreement().is_equal()
    assert day.fleet.agreement().agreed > 200
    for trip, rig in zip(day.drive.trips, day.rigs, strict=True):
        assert trip.distance_m == pytest.approx(rig.world.plant.truth.x_m, rel=0.03)
        assert trip.top_mps == pytest.approx(1.0, rel=0.15)
    assert day.drive.worst_skew_us is not None
    assert day.drive.worst_skew_us < 11_000  # a step of the cars, and what the clocks do not know


def test_the_time_that_was_asked_for_ends_it():
    day = Day(seconds=1.0)
    day.until(day.drive.is_over)
    assert day.drive.is_completed
    assert 1.0 <= day.drive.lasted_s(day.now_us) < 1.6


def with_limits(of, **limits):
    return replace(of, divergence=replace(of.divergence, **limits))


class Mismatched(Day):
    """The second car drags a load that the first does not have; both are what they are."""

    def __init__(self, payload_kg=6.0, **limits):
        self.of = with_limits(vehicle(), **limits)
        self.payload_kg = payload_kg
        super().__init__()

    def make_cars(self):
        heavy = plant_of(self.of, 2, payload_kg=self.payload_kg, payload_x_m=-0.12)
        blue = Rig("blue", board_us=7_000_000, seed=2, plant=heavy, of=self.of)
        return Rig("red", of=self.of), blue


def turn_hard(day):
    day.until_phase(Phase.DRIVING)
    day.drive_off()
    for _ in range(9):
        day.press("a")


def test_cars_that_drift_apart_stop_where_the_vehicle_file_says_so():
    day = Mismatched(path_m=0.1, on_exceed="stop")
    turn_hard(day)
    day.until(lambda: day.drive.phase is Phase.STOPPED, 15.0)
    assert "too far apart" in day.drive.notice
    assert "path differs" in day.drive.notice
    assert day.drive.notice.endswith("--record FILE.mcap, tandem replay FILE.mcap")
    day.until(lambda: day.states() == [State.STOPPED] * 2, 5.0)
    reasons = [rig.car.why_stopped() for rig in day.rigs]
    assert every("apart: path" in reason for reason in reasons), reasons


def test_they_can_be_armed_again_and_are_compared_anew():
    day = Mismatched(path_m=0.1, on_exceed="stop")
    turn_hard(day)
    day.until(lambda: day.drive.phase is Phase.STOPPED, 15.0)
    day.until(lambda: day.states() == [State.STOPPED] * 2, 5.0)
    day.press("r")
    day.until_phase(Phase.DRIVING)
    day.advance(1.0)
    assert day.drive.phase is Phase.DRIVING
    assert not day.drive.divergences[0].alarms()


def test_where_it_does_not_they_are_told_of_and_drive_on():
    day = Mismatched(path_m=0.1)
    turn_hard(day)
    day.until(day.drive.divergences[0].alarms, 15.0)
    day.advance(1.0)
    assert day.drive.phase is Phase.DRIVING
    assert day.is_in(State.ACTIVE)


def test_cars_that_agree_drive_on_under_limits_that_stop():
    day = Mismatched(payload_kg=0.0, on_exceed="stop")
    turn_hard(day)
    day.advance(3.0)
    assert day.drive.phase is Phase.DRIVING


def test_r_arms_no_other_board_in_the_place_of_one_whatever_its_configuration():
    """The same name, vehicle and numbers: only the board differs."""
    day = Day()
    day.until_phase(Phase.DRIVING)
    red = day.rigs[0]
    own = red.world
    red.world = Rig("red", board="2", seed=3).world
    red.car.closed(day.now_us)
    day.advance(0.3)
    red.car.opened(day.now_us)
    day.advance(1.0)
    assert day.drive.phase is Phase.STOPPED
    for _ in range(2):
        for part in ("red (f1tenth, board", own.board_id.hex(), red.world.board_id.hex()):
            assert part in day.drive.notice
        assert "write" not in day.drive.notice
        assert day.drive.notice.count(red.car.remedy) == 1
        day.drive.handle(OperatorRequest.ARM, day.now_us)
        day.advance(2.0)
        assert day.drive.phase is Phase.STOPPED
        assert not any(rig.world.enable for rig in day.rigs)
    own.advance(own.now_us + 5_000_000)  # it was not heard meanwhile, and stood still
    red.world = own
    red.car.closed(day.now_us)
    red.car.opened(day.now_us)
    day.advance(1.0)
    day.drive.handle(OperatorRequest.ARM, day.now_us)
    day.until_phase(Phase.DRIVING)
