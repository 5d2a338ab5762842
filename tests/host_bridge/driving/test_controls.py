"""Who may hold the deadman. Refusal before permission."""

from dataclasses import replace

import pytest

from host_bridge.driving.controls import choose
from host_bridge.driving.plan import Plan
from host_bridge.errors import DataFileFault, UsageFault, VehicleFileFault
from host_bridge.interfaces.keyboard import Keyboard
from tests.host_bridge.drives import vehicle


def keyboard(*, has_releases):
    found = Keyboard(0)
    found.receive_data(b"\x1b[?0u\x1b[?11u" if has_releases else b"\x1b[?62c", 0)
    return found


def script(name="straight", **options):
    return Plan(("car",), "script", name, **options)


@pytest.mark.parametrize("kind", ["csv", "script"])
def test_a_real_car_needs_a_hand_while_a_file_plays(kind):
    with pytest.raises(UsageFault, match="only while somebody holds SPACE"):
        choose(Plan(("car",), kind, "straight"), [vehicle()], False, None)


def test_with_a_real_car_a_file_is_played_under_the_seat_and_its_deadman():
    controls = choose(script(), [vehicle()], False, keyboard(has_releases=True))
    assert controls.source.name == "seat"
    assert controls.seat is not None
    controls.player.start()
    assert not controls.person.read(0).is_held


def test_without_key_release_a_file_is_played_slowly():
    controls = choose(script(), [vehicle()], False, keyboard(has_releases=False))
    assert controls.source.name == "seat_slow"
    assert controls.player.manoeuvre.at(1.0)[1] <= 0.3


def test_a_program_holds_the_deadman_of_virtual_cars_only_as_the_source_that_says_so():
    controls = choose(script(), [vehicle()], True, None)
    assert controls.source.name == "script"
    assert controls.seat is None


@pytest.mark.parametrize(
    ("has_releases", "name", "cap"), [(True, "seat", 4.0), (False, "seat_slow", 0.3)]
)
def test_what_the_terminal_can_do_decides_on_source_and_speed(has_releases, name, cap):
    controls = choose(Plan(("car",)), [vehicle()], False, keyboard(has_releases=has_releases))
    assert controls.source.name == name
    assert controls.reach.speed_mps == cap


def test_the_speed_that_is_asked_for_only_lowers():
    hands = keyboard(has_releases=True)
    assert choose(Plan(("car",), speed_mps=1.0), [vehicle()], False, hands).reach.speed_mps == 1.0
    assert choose(Plan(("car",), speed_mps=9.0), [vehicle()], False, hands).reach.speed_mps == 4.0


def test_the_weaker_car_decides_on_the_reach():
    cars = [vehicle("f1tenth"), vehicle("nigel")]
    reach = choose(Plan(("a", "b")), cars, False, keyboard(has_releases=True)).reach
    assert reach.speed_mps == pytest.approx(0.44)
    assert reach.steer_rad == min(car.steer_max_rad for car in cars)


def test_cars_whose_sources_differ_are_not_driven_together():
    other = vehicle()
    sources = tuple(replace(source, lease_s=0.1) for source in other.sources)
    with pytest.raises(UsageFault, match="their sources seat differ"):
        choose(
            Plan(("a", "b")),
            [vehicle(), replace(other, sources=sources)],
            False,
            keyboard(has_releases=True),
        )


def test_a_vehicle_without_the_source_is_named():
    bare = replace(vehicle(), sources=())
    with pytest.raises(VehicleFileFault, match=r"\[sources.script\]"):
        choose(script(), [bare], True, None)


def test_an_unknown_manoeuvre_names_those_there_are():
    with pytest.raises(UsageFault, match="straight, slalom, skidpad"):
        choose(script("figure"), [vehicle()], True, None)


def test_a_file_that_is_none_is_refused_with_its_line(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("t_s,channel,value_norm\n0.0,throttle,1.5\n")
    with pytest.raises(DataFileFault, match=r"x\.csv:2"):
        choose(Plan(("car",), "csv", str(path)), [vehicle()], True, None)


def test_a_file_is_scaled_to_the_top_speed_that_is_asked_for(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("t_s,channel,value_norm\n0.0,throttle,1.0\n1.0,throttle,1.0\n")
    plan = Plan(("car",), "csv", str(path), speed_mps=0.5)
    assert choose(plan, [vehicle()], True, None).player.manoeuvre.at(0.5)[1] == 0.5


DEVKIT = Plan(("car",), "devkit", "127.0.0.1:4567")


def test_a_devkit_script_needs_a_hand_with_a_real_car():
    with pytest.raises(UsageFault, match="only while somebody holds SPACE"):
        choose(DEVKIT, [vehicle()], False, None)


def test_a_devkit_script_needs_a_deadman_whose_release_is_seen():
    with pytest.raises(UsageFault, match="does not report the release of keys"):
        choose(DEVKIT, [vehicle()], False, keyboard(has_releases=False))


def test_a_devkit_script_has_its_own_source_and_the_seats_deadman():
    hands = keyboard(has_releases=True)
    controls = choose(DEVKIT, [vehicle()], False, hands)
    assert (controls.source.name, controls.guardian.name) == ("devkit", "seat")
    assert controls.seat is hands.seat
    assert controls.reach.speed_mps == 0.3
    assert not controls.person.read(0).permits_autonomy


@pytest.mark.parametrize("hands", [None, keyboard(has_releases=False)])
def test_a_devkit_script_of_a_virtual_car_needs_nobody(hands):
    controls = choose(DEVKIT, [vehicle()], True, hands)
    assert controls.seat is None
    assert controls.words(0) == "No script at 127.0.0.1:4567."


def test_a_vehicle_that_the_simulator_has_not_needs_to_be_like_one():
    with pytest.raises(UsageFault, match="has no 'autorally'"):
        choose(DEVKIT, [vehicle("autorally")], True, None)
    like = replace(DEVKIT, like="roboracer")
    assert choose(like, [vehicle("autorally")], True, None).script.like.top_mps == 22.88
