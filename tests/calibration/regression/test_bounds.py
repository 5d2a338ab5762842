"""Values at or beyond the bound of what can be: a time at 0, negative play, a reversed sign."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.logs.trace import Series
from calibration.regression.identify import identify
from host_bridge.config import load_vehicle
from tests.calibration.regression.test_constant_speed import driven

SPEEDS_MPS = (1.0, 1.8, 2.6)


def found(early_s=0.0, sign=1.0):
    """What a made drive tells whose gyro speaks so long before its time, or with this sign."""
    trace = driven(SPEEDS_MPS)
    t_s, values = trace.inertial
    heard = replace(trace, inertial=Series(t_s - early_s, sign * values))
    return identify([heard], load_vehicle("f1tenth"))


@pytest.mark.fit
def test_a_delay_at_its_bound_is_said_to_be_with_its_end():
    delay = found(early_s=0.3).estimate("steer_delay_s")
    assert (delay.value, delay.low) == (0.0, 0.0)
    assert f"at its bound of 0: told is that it is {delay.high:.2g} s at most" in delay.why
    assert not found().estimate("steer_delay_s").why


@pytest.mark.fit
def test_a_free_play_is_never_negative():
    play = found().estimate("steer_play_rad")
    assert play.is_estimated
    assert 0.0 <= play.low <= play.value <= play.high
    assert np.isfinite(play.high)


@pytest.mark.fit
def test_a_reversed_sign_is_named_and_makes_no_map():
    told = found(sign=-1.0)
    assert told.steering_map is None
    for name in ("steer_trim_rad", "steer_gain_left", "steer_gain_right", "steer_lag_s"):
        assert "a sign is reversed" in told.estimate(name).why
