"""Who may hold the deadman. Refusal before permission."""

from dataclasses import replace
from types import SimpleNamespace

import pytest

from host_bridge.core import Profile
from host_bridge.core.errors import DataFileFault, UsageFault, VehicleFileFault
from host_bridge.drive.controls import (
    DriveContext,
    _check_guardian,
    input_names,
    make_input,
    source_name,
)
from host_bridge.drive.options import DriveOptions
from host_bridge.inputs.autodrive import ScriptInput
from host_bridge.inputs.manoeuvres import CsvManoeuvre
from tests.host_bridge.drive.drives import vehicle
from tests.host_bridge.inputs.made_inputs import Person, taken


def made(text, **options):
    return make_input(text, options, lambda: 0)


def test_the_kinds_of_inputs_are_found_by_their_entry_points():
    assert {"csv", "devkit", "gamepad", "keyboard", "script"} <= set(input_names())


@pytest.mark.parametrize("text", ["keybord", "gamepod:0", "", "csv"])
def test_what_is_no_input_is_refused_with_those_there_are(text):
    with pytest.raises(UsageFault, match=r"unknown input|which file") as raised:
        made(text)
    assert "csv:" in raised.value.expected


def test_what_was_nearly_right_is_named():
    with pytest.raises(UsageFault) as raised:
        made("scrpt:slalom")
    assert raised.value.remedy == "did you mean script?"


@pytest.mark.parametrize("text", ["csv:straight.csv", "script:straight", "devkit:127.0.0.1:1"])
def test_a_real_car_needs_a_hand_while_a_program_drives(text):
    with pytest.raises(UsageFault, match="only while somebody holds SPACE"):
        taken(made(text), [vehicle()], is_virtual=False)


def test_with_a_real_car_a_file_is_played_under_the_seat_and_its_deadman():
    person = Person()
    controls = taken(made("script:straight"), [vehicle()], is_virtual=False, person=person)
    assert controls.source.name == "seat"
    assert controls.is_held_by_hand()
    assert not controls.step(0, (), is_driving=True).is_held


def test_without_key_release_a_file_is_played_slowly():
    person = Person(has_releases=False)
    controls = taken(made("script:straight"), [vehicle()], is_virtual=False, person=person)
    assert controls.source.name == "seat_slow"
    assert controls.input.manoeuvre.at(1.0)[1] <= 0.3


def test_a_program_holds_the_deadman_of_virtual_cars_only_as_the_source_that_says_so():
    controls = taken(made("script:straight"), [vehicle()], is_virtual=True)
    assert controls.source.name == "script"
    assert not controls.is_held_by_hand()
    assert controls.step(0, (), is_driving=True).is_held


@pytest.mark.parametrize(
    ("has_releases", "name", "cap"), [(True, "seat", 2.0), (False, "seat_slow", 0.3)]
)
def test_what_the_terminal_can_do_decides_on_source_and_speed(has_releases, name, cap):
    person = Person(has_releases)
    controls = taken(person, [vehicle()], is_virtual=False, person=person)
    assert controls.source.name == name
    assert controls.limits.speed_mps == cap


@pytest.mark.parametrize(("asked_mps", "speed_mps"), [(1.0, 1.0), (9.0, 2.0)])
def test_the_speed_that_is_asked_for_only_lowers(asked_mps, speed_mps):
    person = Person()
    controls = taken(person, [vehicle()], is_virtual=False, person=person, speed_mps=asked_mps)
    assert controls.limits.speed_mps == speed_mps


@pytest.mark.parametrize(
    ("name", "profile", "cap"),
    [("f1tenth", Profile.RACE, 4.0), ("f1tenth", Profile.STAND, 1.0), ("f1tenth_vesc", None, 4.0)],
)
def test_nor_is_more_asked_for_than_the_profile_allows(name, profile, cap):
    person = Person()
    limits = taken(person, [vehicle(name)], is_virtual=False, person=person, profile=profile).limits
    assert limits.speed_mps == cap
    assert limits.reverse_mps == 1.0


def test_the_weaker_car_decides_on_the_reach():
    cars = [vehicle("f1tenth"), vehicle("nigel")]
    person = Person()
    limits = taken(person, cars, is_virtual=False, person=person).limits
    assert limits.speed_mps == pytest.approx(0.44)
    assert limits.steer_rad == min(car.steer_max_rad for car in cars)


def test_cars_whose_sources_differ_are_not_driven_together():
    other = vehicle()
    sources = tuple(replace(source, lease_s=0.1) for source in other.sources)
    cars = [vehicle(), replace(other, sources=sources)]
    person = Person()
    with pytest.raises(UsageFault, match="their sources seat differ"):
        taken(person, cars, is_virtual=False, person=person)


def test_a_vehicle_without_the_source_is_named():
    bare = replace(vehicle(), sources=())
    with pytest.raises(VehicleFileFault, match=r"\[sources.script\]"):
        taken(made("script:straight"), [bare], is_virtual=True)


def test_an_unknown_manoeuvre_names_those_there_are():
    with pytest.raises(UsageFault, match="straight, slalom, skidpad"):
        made("script:figure")


def test_a_file_that_is_none_is_refused_with_its_line(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("t_s,channel,value_norm\n0.0,throttle,1.5\n")
    with pytest.raises(DataFileFault, match=r"x\.csv:2"):
        taken(made(f"csv:{path}"), [vehicle()], is_virtual=True)


def test_a_file_is_scaled_to_the_top_speed_that_is_asked_for(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("t_s,channel,value_norm\n0.0,throttle,1.0\n1.0,throttle,1.0\n")
    controls = taken(made(f"csv:{path}"), [vehicle()], is_virtual=True, speed_mps=0.5)
    assert isinstance(controls.input.manoeuvre, CsvManoeuvre)
    assert controls.input.manoeuvre.at(0.5)[1] == 0.5


class Alone(ScriptInput):
    """A Devkit script that nobody connects to."""

    async def open(self, context):
        self.prepare(context)


def test_a_devkit_script_needs_a_deadman_whose_release_is_seen():
    person = Person(has_releases=False)
    with pytest.raises(UsageFault, match="does not report the release of keys"):
        taken(Alone("127.0.0.1:4567", None), [vehicle()], is_virtual=False, person=person)


def test_a_devkit_script_has_its_own_source_and_the_seats_deadman():
    script, person = Alone("127.0.0.1:4567", None), Person()
    controls = taken(script, [vehicle()], is_virtual=False, person=person)
    assert (controls.source.name, controls.guardian.name) == ("devkit", "seat")
    assert controls.is_held_by_hand()
    assert controls.limits.speed_mps == 0.3
    assert not controls.step(0, (), is_driving=True).is_held


@pytest.mark.parametrize("person", [None, Person(has_releases=False)])
def test_a_devkit_script_of_a_virtual_car_needs_nobody(person):
    script = Alone("127.0.0.1:4567", None)
    controls = taken(script, [vehicle()], is_virtual=True, person=person)
    assert not controls.is_held_by_hand()
    assert controls.status_text(0) == "No script at 127.0.0.1:4567."


def test_a_vehicle_that_the_simulator_has_not_needs_to_be_like_one():
    with pytest.raises(UsageFault, match="has no 'autorally'"):
        taken(Alone("127.0.0.1:4567", None), [vehicle("autorally")], is_virtual=True)
    script = Alone("127.0.0.1:4567", "roboracer")
    taken(script, [vehicle("autorally")], is_virtual=True)
    assert script.like.top_mps == 22.88


def test_what_was_opened_is_closed_when_the_next_cannot_be():
    class Watched(Person):
        is_open = False

        async def open(self, context):
            self.is_open = True
            await super().open(context)

        async def close(self):
            self.is_open = False

    person = Watched()
    with pytest.raises(DataFileFault):
        taken(made("csv:/nowhere.csv"), [vehicle()], is_virtual=True, person=person)
    assert not person.is_open


@pytest.mark.parametrize("is_lockstep", [False, True])
def test_an_input_is_told_of_the_cars_their_sensors_and_whether_time_waits(is_lockstep):
    sensors = [object()]
    options = DriveOptions((None,), is_lockstep=is_lockstep)
    context = DriveContext(
        options, [vehicle()], lambda: 7, car_names=["red"], sensors=lambda: sensors
    )
    assert context.is_lockstep is is_lockstep
    assert context.car_names == ("red",)
    assert context.sensors is sensors
    assert DriveContext(options, [vehicle()], lambda: 7).sensors == ()


def test_a_terminal_without_releases_drives_no_car_from_afar():
    assert source_name("seat_slow", is_afar=False) == "seat_slow"
    with pytest.raises(UsageFault):
        source_name("seat_slow", is_afar=True)


def test_from_afar_the_hand_is_the_guests_own_source():
    """A person at another host holds a program's deadman as the guest's source, not as the seat."""
    guests = source_name("seat", is_afar=True)
    assert guests != "seat"
    guardian = SimpleNamespace(name=guests)
    _check_guardian(SimpleNamespace(name="script", needs=guests), guardian, "seat", is_afar=True)
    with pytest.raises(UsageFault):
        _check_guardian(
            SimpleNamespace(name="script", needs=guests), guardian, "seat", is_afar=False
        )
