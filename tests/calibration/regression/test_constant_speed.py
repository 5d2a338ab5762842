"""A car that drives at one speed tells its steering gain, but not its understeer."""

from math import tan

import numpy as np
import pytest

from calibration.logs.trace import DriveTrace, Series
from calibration.regression.steering import estimate_steering
from host_bridge.config import load_vehicle

GAIN, UNDERSTEER, LENGTH_M = 0.95, 0.0085, 0.33


def driven(speeds_mps, seed=4, seconds=90.0, *, gain=GAIN, understeer=UNDERSTEER, file="made"):
    """A made F1TENTH: delay 0.1 s, lag 0.06 s, and wheels that wander by 0.02 rad within 1 s."""
    noise, step_s = np.random.default_rng(seed), 0.02
    wheel = wander = speed = travel = steer = 0.0
    waiting, rows = [0.0] * 5, []
    for k in range(int(seconds / step_s)):
        t_s = k * step_s
        if k % 60 == 0:
            steer = float(noise.choice([-0.34, -0.2, -0.1, 0.0, 0.1, 0.2, 0.34]))
        is_at_rest = t_s < 3.0 or t_s > seconds - 3.0
        wanted = 0.0 if is_at_rest else speeds_mps[int(t_s / 6.0) % len(speeds_mps)]
        speed += (wanted - speed) * step_s / 0.2
        waiting.append(steer)
        wheel += (gain * waiting.pop(0) - wheel) * step_s / 0.06
        wander += -wander * step_s + noise.normal(0.0, 0.02) * np.sqrt(2.0 * step_s)
        slip = LENGTH_M * (1.0 + understeer * speed**2)
        yaw = speed * tan(wheel + wander) / slip + noise.normal(0.0, 0.01)
        travel += (speed + noise.normal(0.0, 0.01) * (speed > 0.02)) * step_s
        rows.append((t_s, steer, travel, yaw))
    t_s, steered, rolled, yaw = np.array(rows).T
    nothing = np.zeros_like(yaw)
    return DriveTrace(
        file, "", "made", "f1tenth",
        steering=Series(t_s, steered[None, :]),
        travel=Series(t_s, rolled[None, :]),
        inertial=Series(t_s, np.array([yaw, nothing, nothing])),
    )  # fmt: skip


def found_in(trace):
    findings, _ = estimate_steering([trace], load_vehicle("f1tenth"))
    return {one.name: one for one in findings}


@pytest.mark.fit
@pytest.mark.parametrize("seed", [4, 5])
def test_at_one_speed_the_gain_is_told_and_understeer_is_not(seed):
    found = found_in(driven([1.3], seed))
    for name in ("steer_gain_left", "steer_gain_right"):
        assert found[name].low <= GAIN <= found[name].high
        assert found[name].high - found[name].low < 0.25
    understeer = found["understeer_s2_per_m2"]
    assert not understeer.is_estimated
    assert "its speed hardly varies" in understeer.why


@pytest.mark.fit
def test_at_several_speeds_both_are_told():
    found = found_in(driven([1.0, 1.8, 2.6]))
    for name, true in (("steer_gain_left", GAIN), ("understeer_s2_per_m2", UNDERSTEER)):
        assert found[name].low <= true <= found[name].high
    assert found["understeer_s2_per_m2"].high < 0.1
