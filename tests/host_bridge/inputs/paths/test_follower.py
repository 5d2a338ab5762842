"""The input that follows a path: begins from neutral, ends at rest, stops where it cannot go on."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

from host_bridge.config import load_vehicle
from host_bridge.core import (
    CarMotion,
    CarStatus,
    Observed,
    OperatorRequest,
    Profile,
    SeenCar,
    State,
)
from host_bridge.core.errors import UsageFault
from host_bridge.inputs.paths import Path, make
from host_bridge.inputs.paths import follower as follower_module
from host_bridge.inputs.paths.follower import PathFollower
from host_bridge.inputs.paths.mppi.plan_driving import PlanDriving
from host_bridge.inputs.paths.path_options import PathOptions, parse_options
from host_bridge.inputs.paths.speed_profile import SpeedProfile
from tests.host_bridge.inputs.made_inputs import context
from tests.host_bridge.inputs.paths.mppi.made_planner import Told, steady

VEHICLE = load_vehicle("f1tenth_vesc")  # whose cap is 4 m/s
MOTION = CarMotion(0, 0, 0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
STATUS = CarStatus(
    0, State.ACTIVE, (), None, (), Profile.TRACK, 5, 5, 5, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, 0
)
LINE = Path([[0, 0], [5, 0]])
LOOP = Path([[0, 0], [4, 0], [4, 4], [0, 4]], is_loop=True)


def following(path=LINE, **options):
    follower = PathFollower(lambda: path, PathOptions(**options))
    asyncio.run(follower.open(context([VEHICLE])))
    return follower


class Scene:
    """A car that is put where the test says."""

    def __init__(self, follower):
        self.follower, self.now_us = follower, 1_000_000

    def at(self, x_m, y_m=0.0, yaw_rad=0.0, speed_mps=1.0, for_us=10_000, is_permitted=True):
        self.now_us += for_us
        motion = replace(MOTION, captured_us=self.now_us, x_m=x_m, y_m=y_m, yaw_rad=yaw_rad)
        return self.seen(motion, speed_mps, is_permitted)

    def seen(self, motion, speed_mps=1.0, is_permitted=True):
        status = replace(STATUS, speed_mps=speed_mps)
        car = SeenCar("car", True, VEHICLE, status, motion, None, None)
        observed = Observed((car,), is_driving=True, is_permitted=is_permitted)
        return self.follower.step(self.now_us, observed)


def test_it_begins_in_neutral_where_the_car_stands_and_steers_back_to_the_path():
    scene = Scene(following())
    command = scene.at(7.0, 3.0, 0.0)  # wherever it reckons itself: that is the path's beginning
    assert command.is_held
    assert command.speed_mps == 0.0
    assert command.steer_rad == pytest.approx(0.0)
    command = scene.at(7.2, 3.1, for_us=200_000)
    assert command.speed_mps > 1.0
    assert command.steer_rad < -0.05, "it is to the left of it"
    assert scene.at(7.2, 2.9).steer_rad > 0.05


def test_at_says_where_else_the_car_stands():
    scene = Scene(following(at=(2.0, 0.2, 0.0)))
    assert scene.at(0.0).steer_rad < -0.05
    assert scene.follower.tracking_error.projection.left_m == pytest.approx(0.2)
    assert scene.follower.tracking_error.projection.along_m == pytest.approx(2.0, abs=0.2)


@pytest.mark.parametrize("law", ["pursuit", "stanley"])
def test_both_laws_steer_by_no_more_than_the_lock(law):
    scene = Scene(following(law=law, far_m=9.0))
    scene.at(0.0)
    assert scene.at(0.2, 0.3, 1.5).steer_rad == -VEHICLE.steer_max_rad


def test_it_comes_to_rest_at_the_end_and_only_then_is_over():
    scene = Scene(following())
    scene.at(0.0)
    assert scene.at(4.9, for_us=200_000, speed_mps=0.3).speed_mps < 0.5
    assert scene.at(4.99, speed_mps=0.3).speed_mps == 0.0
    assert scene.follower.requests() == ()
    scene.at(5.0, speed_mps=0.0)
    assert [*scene.follower.requests(), *scene.follower.requests()] == [OperatorRequest.END]
    assert scene.follower.figures()["path"]["cross_track_worst_m"] == 0.0


def round_it(scene, step_m=0.1):
    for i in range(1, round(LOOP.length_m / step_m) + 1):
        x_m, y_m = LOOP.at(i * step_m)
        command = scene.at(x_m, y_m, LOOP.yaw_at(i * step_m), for_us=100_000)
    return command


def test_a_loop_is_driven_so_many_laps_which_are_timed():
    scene = Scene(following(LOOP, laps=2))
    scene.at(0.0)
    assert round_it(scene).speed_mps > 0.5
    (lap_s,) = scene.follower.tracking_error.lap_times_s
    words = f"lap 2 of 2, last {lap_s:.2f} s, best {lap_s:.2f} s (+0.00)"
    assert scene.follower.status_text(0) == words
    assert round_it(scene).speed_mps == 0.0
    assert scene.follower.status_text(0).startswith("lap 2 of 2, last ")
    tracking_error = scene.follower.tracking_error
    assert tracking_error.lap_times_s == pytest.approx([16.0, 16.0], abs=0.2)
    scene.at(0.0, speed_mps=0.0)
    assert scene.follower.requests() == (OperatorRequest.END,)


@pytest.mark.parametrize("top_mps", [0.05, 0.1, 0.2, 1.0])
@pytest.mark.parametrize("speeds_mps", [None, 0.1, 1.5])
def test_it_is_never_faster_than_who_drives_it_asked_for(top_mps, speeds_mps):
    corners = [[0, 0], [4, 0], [4, 4], [0, 4]]
    path = Path(corners, None if speeds_mps is None else np.full(4, speeds_mps), is_loop=True)
    profile = SpeedProfile(path, top_mps, 2.0, 0.3)
    fastest = max(profile.speed_at(along_m) for along_m in np.arange(0.0, path.length_m, 0.05))
    assert fastest == pytest.approx(min(top_mps, speeds_mps or top_mps))


def test_without_an_end_it_goes_on_until_somebody_ends_it():
    scene = Scene(following(LOOP, laps=0))
    scene.at(0.0)
    for _ in range(3):
        assert round_it(scene).speed_mps > 0.5
    assert scene.follower.progress_s() is None


def test_too_far_beside_the_path_the_car_is_stopped_and_says_why():
    scene = Scene(following())
    scene.at(0.0)
    assert scene.at(1.0, 0.6).lost == ""
    assert "0.70 m beside its path, at most 0.66" in scene.at(1.0, 0.7).lost
    assert scene.at(1.0, 0.0).lost, "until a person has seen it"
    scene.follower.let_go()
    assert scene.at(1.0, 0.0).lost == ""


def test_a_car_that_says_nothing_new_of_where_it_is_is_stopped():
    scene = Scene(following())
    scene.at(0.0)
    motion = replace(MOTION, captured_us=scene.now_us)
    scene.now_us += 300_000
    assert scene.seen(motion).lost == ""
    scene.now_us += 10_000
    assert "nothing new of where it is" in scene.seen(motion).lost


def test_let_go_it_waits_and_goes_on_from_neutral():
    scene = Scene(following())
    scene.at(0.0)
    assert scene.at(1.0, for_us=200_000).speed_mps > 0.0
    released = scene.at(1.1, is_permitted=False)
    assert not released.is_held
    scene.now_us += 5_000_000
    again = scene.at(1.1)
    assert (again.is_held, again.speed_mps, again.lost) == (True, 0.0, "")


@pytest.mark.parametrize(
    ("query", "what"),
    [
        ("?law=magic", "law"),
        ("?laps=-1", "laps"),
        ("?laps=many", "laps"),
        ("?at=1,2", "at"),
        ("?at=1,2,north", "at"),
        ("?far=0", "far"),
        ("?lookahead=inf", "lookahead"),
        ("?speed=3", "speed"),
        ("?law=mppi&wide=0", "wide"),
        ("?law=mppi&cost=cheap", "cost"),
        ("?law=mppi&seed=any", "seed"),
        ("?wide=0.5", "wide is for law=mppi alone"),
    ],
)
def test_what_is_no_option_is_refused(query, what):
    with pytest.raises(UsageFault, match=what):
        make(f"line.csv{query}", {}, lambda: 0)


def test_a_file_has_to_be_named_and_options_are_understood():
    with pytest.raises(UsageFault, match="which path"):
        make("", {}, lambda: 0)
    options = parse_options(
        {"law": "stanley", "laps": "0", "loop": "0", "lateral": "3", "far": "1"}
    )
    assert (options.law, options.laps, options.is_loop, options.lateral_mps2, options.far_m) == (
        "stanley",
        0,
        False,
        3.0,
        1.0,
    )


@pytest.fixture
def planned(monkeypatch):
    """A follower whose planner says what the test says."""
    source = Told()

    async def told(*args, **words):
        return PlanDriving(source)

    monkeypatch.setattr(follower_module, "plan_driving", told)
    return Scene(following(law="mppi")), source


def test_mppi_plans_steering_and_speed_and_before_its_first_plan_the_car_waits(planned):
    scene, source = planned
    scene.at(0.0)
    assert scene.at(0.0, for_us=110_000, speed_mps=0.0).speed_mps == 0.0
    source.plan = steady(scene.now_us, 0.2, 1.5)
    command = scene.at(0.1)
    assert (command.steer_rad, command.speed_mps, command.lost) == (0.2, 1.5, "")
    assert source.asked[-1].steer_rad == STATUS.steer_rad
    asyncio.run(scene.follower.close())
    assert source.is_closed


def test_mppi_drives_no_faster_than_the_path_s_end_allows(planned):
    scene, source = planned
    scene.at(0.0)
    source.plan = steady(scene.now_us + 110_000, 0.0, 3.0)
    assert scene.at(4.9, for_us=110_000, speed_mps=0.3).speed_mps < 0.5


@pytest.mark.parametrize(
    ("plan", "fault", "why"),
    [
        (None, "The planner has ended", "The planner has ended"),
        ((0.1, float("nan")), "", "no number"),
        ((float("inf"), 1.0), "", "no number"),
    ],
)
def test_a_planner_that_ends_or_says_nonsense_stops_the_car_for_good(planned, plan, fault, why):
    scene, source = planned
    scene.at(0.0)
    source.plan = steady(scene.now_us)
    assert scene.at(0.1).lost == ""
    source.why = fault
    source.plan = plan and steady(scene.now_us, *plan)
    assert why in scene.at(0.2).lost
    source.plan, source.why = steady(scene.now_us), ""
    assert why in scene.at(0.3).lost, "until a person has seen it"
    scene.follower.let_go()
    assert scene.at(0.3).lost == ""


def test_a_planner_that_hangs_stops_the_car_within_fifteen_hundredths_of_a_second(planned):
    scene, source = planned
    scene.at(0.0)
    source.plan = steady(scene.now_us)
    for _ in range(15):
        assert scene.at(0.1).lost == ""
    assert "160 ms old, at most 150" in scene.at(0.1).lost


def slow(*speeds):
    """A straight path of 1 m a row, with these speeds."""
    points = [[float(n), 0.0] for n in range(len(speeds))]
    return following(Path(points, np.array(speeds, dtype=float), is_loop=False))


def test_a_slow_speed_on_the_way_is_driven_as_it_is_asked():
    follower = slow(1.0, 0.1, 0.1, 0.1, 1.0)
    assert follower._profile.speed_at(2.0) == pytest.approx(0.1)
    assert follower.limit_notes() == ()
    assert slow(0.1, 0.1, 0.1)._profile.speed_at(1.0) == pytest.approx(0.1)


def test_a_path_that_begins_and_ends_at_rest_sets_off_and_arrives():
    follower = slow(0.0, 0.0, 1.0, 1.0, 0.0)
    assert follower._profile.speed_at(0.0) == pytest.approx(0.2)
    assert follower._profile.speed_at(2.0) == pytest.approx(1.0)
    assert follower._profile.speed_at(4.0) == pytest.approx(0.2)


def test_a_speed_that_is_not_driven_is_said():
    notes = slow(9.0, 9.0, 9.0).limit_notes()
    assert notes == ("the path asks for up to 9.00 m/s; at most 4.00 m/s are driven",)
    bend = Path([[0, 0], [2, 0], [2.3, 0.3], [2.3, 2]], np.array([3.0] * 4), is_loop=False)
    note = following(bend).limit_notes()[0]
    assert "asks for more than bends at 2 m/s^2 allow" in note
    assert following(LINE).limit_notes() == ()
