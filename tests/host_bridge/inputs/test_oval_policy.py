"""A policy is trained, laps the oval as a bare body, and then drives the car with its program."""

from __future__ import annotations

from math import cos, sin, tan
from types import SimpleNamespace

import numpy as np
import pytest

from host_bridge.drive.lockstep.campaign.case import run_case
from host_bridge.drive.lockstep.campaign.plan import read_plan
from host_bridge.inputs.policies.policy import save_policy
from host_bridge.sharing.services import make_host
from tests.host_bridge.inputs import oval_policy
from tests.support.evidence import some

# The oval is 8.9 m: 22 s a lap at 0.4 m/s
CAMPAIGN = """\
[campaign]
title = "Does the policy lap the oval?"
repetitions = 3
[case]
vehicle = "nigel"
track = "oval"
controller = "policy:{file}"
duration_s = 50.0
speed_mps = 0.4
[oracles]
completed = true
no_stop = true
no_collision = true
on_track = true
laps_at_least = 2
"""


def as_a_body(policy, reach_m, seconds):
    """Drive a body that rolls without slip; return the metres and the largest way off the line."""
    line, x_m, y_m, yaw_rad, farthest_m = oval_policy.centre(), 0.0, 0.0, 0.0, 0.0
    period_s = policy.period_ms * 1e-3
    steps = round(seconds / period_s)
    for _ in range(steps):
        motion = SimpleNamespace(x_m=x_m, y_m=y_m, yaw_rad=float(oval_policy.wrapped(yaw_rad)))
        steer_rad, speed_mps = policy.decide(None, motion)
        x_m += speed_mps * period_s * cos(yaw_rad)
        y_m += speed_mps * period_s * sin(yaw_rad)
        yaw_rad += speed_mps * period_s * tan(steer_rad) / reach_m
        off_m = float(np.hypot(*(line - (x_m, y_m)).T).min())
        farthest_m = max(farthest_m, off_m)
    return steps * period_s * oval_policy.SPEED_MPS, farthest_m, yaw_rad


@pytest.mark.exhaustive(as_a_whole=True)  # trains for some seconds, and drives 150 s
@pytest.mark.timeout(600)
def test_a_trained_policy_laps_the_oval_as_a_body_and_as_a_car(tmp_path):
    vehicle = make_host().vehicles.load("nigel")
    reach_m = vehicle.wheelbase_m - vehicle.turns_ahead_m  # both axles steer: half of it
    policy, error_rad = oval_policy.trained(reach_m)
    assert error_rad < 0.05
    driven_m, farthest_m, yaw_rad = as_a_body(policy, reach_m, 50.0)
    assert driven_m > 2 * 8.9
    assert farthest_m < 0.15
    assert yaw_rad > 2 * 6.0, "twice round"
    file = tmp_path / "oval.npz"
    save_policy(policy, file)
    (tmp_path / "campaign.toml").write_text(CAMPAIGN.format(file=file), encoding="utf-8")
    for case in some(list(read_plan(tmp_path / "campaign.toml").cases())):
        row = run_case(case.spec, make_host().vehicles)
        assert row["outcome"] == "passed", row["why"]
        assert row["laps"] >= 2
        assert row["path_error_max_m"] is None, "it is no path that drives"
