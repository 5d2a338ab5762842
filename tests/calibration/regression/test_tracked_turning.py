"""A drive without a gyro: how it turns, how far it goes and how it steers, by what tracked it."""

from math import tan

import numpy as np
import pytest

from calibration.logs.trace import DriveTrace, Series
from calibration.logs.trace_csv import read_trace_csv
from calibration.logs.turning import with_turning
from calibration.regression.identify import identify
from host_bridge.config import load_vehicle

F1TENTH = load_vehicle("f1tenth")
GAIN, SPEED_MPS, PERIOD_S = 0.9, 1.0, 0.025
ANGLES_RAD = (0.2, -0.2, 0.1, -0.1, 0.3, -0.3)


def seen(angles_rad, *, ahead_m=0.0, heading=False) -> DriveTrace:
    """A walk whose wheels follow at once, each angle held for 3 s; tracked at 40 Hz."""
    noise = np.random.default_rng(3)
    rows, place, yaw = [], 0j, 0.0
    for k in range(int(3.0 * len(angles_rad) / PERIOD_S)):
        steer = angles_rad[int(k * PERIOD_S / 3.0)]
        yaw += SPEED_MPS * tan(GAIN * steer) / F1TENTH.wheelbase_m * PERIOD_S
        place += SPEED_MPS * np.exp(1j * yaw) * PERIOD_S
        at = place + ahead_m * np.exp(1j * yaw)
        blur = 0.0005 * noise.normal(size=2)
        rows.append((k * PERIOD_S, steer, at.real + blur[0], at.imag + blur[1], yaw))
    t_s, steered, x, y, yaws = np.array(rows).T
    columns = [x, y, yaws] if heading else [x, y]
    return DriveTrace(
        "made", "", "made", "f1tenth",
        steering=Series(t_s, steered[None, :]), places=Series(t_s, np.array(columns)),
    )  # fmt: skip


@pytest.mark.parametrize("heading", [False, True])
def test_in_a_circle_the_places_tell_yaw_rate_and_travel(heading):
    found = with_turning(seen((0.2,) * 3, heading=heading))
    wanted = SPEED_MPS * tan(GAIN * 0.2) / F1TENTH.wheelbase_m
    assert np.nanmedian(found.inertial.values[0]) == pytest.approx(wanted, rel=0.01)
    assert np.ptp(found.travel.values[0]) == pytest.approx(9.0 * SPEED_MPS, rel=0.02)
    assert found.turning.has_heading == heading


def test_with_a_heading_a_car_that_backs_up_goes_back():
    t_s, (x, y, yaw) = seen((0.1, 0.0), heading=True).places
    back = Series(t_s, np.array([x[::-1], y[::-1], yaw[::-1]]))
    found = with_turning(DriveTrace("", "", "", "", places=back))
    assert found.travel.values[0][-1] == pytest.approx(-6.0 * SPEED_MPS, rel=0.03)


def test_a_gyro_goes_before_and_a_pose_that_never_turns_has_no_heading():
    t_s, (x, y, yaw) = seen((0.2, -0.2), heading=True).places
    still = DriveTrace("", "", "", "", places=Series(t_s, np.array([x, y, 0.0 * yaw])))
    assert not with_turning(still).turning.has_heading
    gyro = DriveTrace("", "", "", "", places=still.places, inertial=Series(t_s, yaw[None, :]))
    assert with_turning(gyro) is gyro
    few = DriveTrace("", "", "", "", places=Series(t_s[:5], np.array([x[:5], y[:5]])))
    assert not with_turning(few).inertial.is_present


def test_a_table_may_have_headings(tmp_path):
    path = tmp_path / "seen.csv"
    path.write_text("t_s,x_m,y_m,yaw_rad\n0,0,0,0.5\n1,1,0,0.6\n2,2,0,0.7\n")
    assert read_trace_csv(path, F1TENTH).places.values[2].tolist() == [0.5, 0.6, 0.7]


@pytest.mark.fit
@pytest.mark.parametrize("ahead_m", [0.0, 0.3])
@pytest.mark.parametrize("heading", [False, True])
def test_the_steering_is_told_and_what_places_cannot_tell_is_not(heading, ahead_m):
    found = identify([seen(ANGLES_RAD * 2, ahead_m=ahead_m, heading=heading)], F1TENTH)
    wanted = {"steer_gain_left": GAIN, "steer_gain_right": GAIN, "steer_trim_rad": 0.0}
    for name, true in wanted.items():
        one = found.estimate(name)
        assert one.low <= true <= one.high, name
        assert one.high - one.low < 0.2
    delay = found.estimate("steer_delay_s")
    assert not delay.is_estimated
    assert "how late its poses are told" in delay.why
    assert found.estimate("steer_lag_s").is_estimated == heading
    assert "no inertial sensor" in found.estimate("yaw_rate_bias_radps").why
