"""Twins compared: pure cases with exact answers, then two real programs on different plants."""

from __future__ import annotations

import math
import random

import pytest

from host_bridge.cars.divergence import (
    PERSIST_US,
    Alarm,
    Divergence,
    MotionHistory,
    MotionSample,
    interpolated,
    position_from,
)
from host_bridge.core import DivergenceLimits
from sim_mock.plant.parameters import Patch
from sim_mock.world import plant_of
from tests.host_bridge.drive.drives import Drive, Rig, vehicle

LIMITS = DivergenceLimits(steer_rad=0.05, speed_mps=0.3, yaw_rate_radps=0.3, path_m=0.3)


def sample(time_us: int, **values: float) -> MotionSample:
    still = dict.fromkeys(
        ("steer_rad", "speed_mps", "yaw_rate_radps", "x_m", "y_m", "yaw_rad"), 0.0
    )
    return MotionSample(time_us, **{**still, **values})


def circling(
    time_us: int, radius_m: float = 2.0, speed_mps: float = 2.0, at: float = 0.0
) -> MotionSample:
    """Left round a circle; ``at`` turns and shifts the frame that it reckons in."""
    turn = speed_mps / radius_m * time_us * 1e-6
    x, y = radius_m * math.sin(turn), radius_m * (1 - math.cos(turn))
    return sample(
        time_us,
        speed_mps=speed_mps,
        yaw_rate_radps=speed_mps / radius_m,
        x_m=x * math.cos(at) - y * math.sin(at) + at,
        y_m=x * math.sin(at) + y * math.cos(at) - at,
        yaw_rad=math.remainder(turn + at, math.tau),
    )


def compared(car: list[MotionSample], twin: list[MotionSample]) -> Divergence:
    divergence = Divergence(LIMITS)
    for ours, theirs in zip(car, twin, strict=True):
        divergence.car.add(ours)
        divergence.twin.add(theirs)
        divergence.step()
    return divergence


def test_twins_that_report_at_different_instants_and_in_different_frames_agree():
    rng = random.Random(1)
    times = [10_000 * i for i in range(500)]
    car = [circling(t + rng.randrange(3000)) for t in times]
    twin = [circling(t + 4000 + rng.randrange(3000), at=2.5) for t in times]
    # the frames' origins are taken at one instant, so that only interpolation errs
    divergence = compared(car, twin)
    assert divergence.compared > 400
    assert divergence.alarms() == ()
    assert max(d.amount for d in divergence.differences) < 0.002


def test_without_alignment_the_same_twins_would_differ():
    """The alignment earns its place: 0.1 s of delay at 3 m/s is 0.3 m of path."""
    late = sample(0, x_m=3.0 * 0.1)
    assert math.dist(position_from(sample(0), late), (0, 0)) == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("what", "values", "amount"),
    [
        ("steering", {"steer_rad": -0.06}, 0.06),
        ("speed", {"speed_mps": 0.4}, 0.4),
        ("yaw rate", {"yaw_rate_radps": -0.5}, 0.5),
    ],
)
def test_a_difference_is_named_with_amount_limit_and_since_when(what, values, amount):
    times = range(0, 1_000_000, 10_000)
    twin = [sample(t, **(values if t >= 400_000 else {})) for t in times]
    divergence = compared([sample(t) for t in times], twin)
    (alarm,) = divergence.alarms()
    assert (alarm.what, alarm.amount) == (what, pytest.approx(amount))
    assert alarm.since_us == 400_000
    assert what in str(alarm)
    assert f"limit {alarm.limit:.3g}" in str(alarm)


def test_a_path_is_measured_from_the_pose_at_reset():
    divergence = Divergence(LIMITS)
    for t in range(0, 2_000_000, 10_000):
        divergence.car.add(sample(t, x_m=t * 1e-6))
        divergence.twin.add(sample(t, x_m=7.0 + t * 0.5e-6))
        divergence.step()
        if t == 1_000_000:
            assert divergence.differences[-1].amount == pytest.approx(0.5)
            divergence.reset()
    assert divergence.differences[-1].amount == pytest.approx(0.5, abs=0.02)
    assert [alarm.what for alarm in divergence.alarms()] == ["path"]


def test_an_alarm_comes_and_goes_only_when_it_lasts():
    alarm = Alarm()
    for t in range(0, PERSIST_US, 10_000):
        alarm.step(True, t)
    assert alarm.since_us is None
    alarm.step(False, PERSIST_US)
    for t in range(PERSIST_US, 2 * PERSIST_US + 10_000, 10_000):
        alarm.step(True, t)
    assert alarm.since_us == PERSIST_US
    alarm.step(False, 700_000)
    assert alarm.since_us == PERSIST_US
    alarm.step(False, 700_000 + PERSIST_US)
    assert alarm.since_us is None


def test_nothing_is_said_of_a_time_that_one_of_them_has_not_reached():
    track = MotionHistory()
    assert track.at(0) is None
    track.add(sample(1000, x_m=1.0))
    assert track.at(999) is None
    assert track.at(1001) is None
    assert track.at(1000) == sample(1000, x_m=1.0)
    track.add(sample(500, x_m=9.0))
    assert track.latest_us() == 1000


def test_a_heading_is_interpolated_the_shorter_way_round():
    between = interpolated(sample(0, yaw_rad=3.1), sample(100, yaw_rad=-3.1), 50)
    assert math.remainder(between.yaw_rad, math.tau) == pytest.approx(math.pi, abs=1e-9)


def drive_twins(twin: Rig) -> tuple[int, set[str]]:
    """How many instants were compared, and what gave an alarm at any of them."""
    drive = Drive(Rig("a"), twin)
    divergence = Divergence(vehicle().divergence)
    drive.arm()
    divergence.reset()
    alarms: set[str] = set()
    drive.go(3.0, 0.15)
    for _ in range(300):
        drive.advance(0.01)
        for rig, track in zip(drive.rigs, (divergence.car, divergence.twin), strict=True):
            for one in rig.car.samples:
                track.add(one)
            rig.car.samples.clear()
        divergence.step()
        alarms |= {alarm.what for alarm in divergence.alarms()}
    return divergence.compared, alarms


def test_equal_twins_agree():
    compared, alarms = drive_twins(Rig("b", phase_us=4000, seed=2))
    assert compared > 200
    assert alarms == set()


def test_a_twin_on_a_slippery_patch_is_found():
    plant = plant_of(vehicle(), 2, patches=(Patch(3.0, 1.0, 2.5, 0.1),))
    _, alarms = drive_twins(Rig("b", phase_us=4000, plant=plant))
    assert "yaw rate" in alarms
