"""A path of a drive: closed where it came back, with what it drifted spread over it."""

from math import pi

import numpy as np
import pytest

from host_bridge.inputs.paths.recorded_drive import RecordedDrive, path_of_drive


def driven(turn_rad, drift_m=0.0, count=3000, radius_m=2.0):
    """Round a circle, and off by a drift that grows; a step of 4 mm as counted wheels have it."""
    angles = np.linspace(0.0, turn_rad, count)
    places = radius_m * np.stack((np.sin(angles), 1.0 - np.cos(angles)), axis=1)
    places[:, 0] += drift_m * angles / (2 * pi)
    return RecordedDrive(np.round(places / 0.004) * 0.004, np.full(count, 1.5))


def test_the_first_return_closes_it_and_the_rest_of_the_drive_is_left_out():
    path = path_of_drive(driven(5.3 * pi))
    assert path.is_loop
    assert path.length_m == pytest.approx(4 * pi, abs=0.1)
    radii = np.hypot(*(path.points_m - (0.0, 2.0)).T)
    assert radii == pytest.approx(2.0, abs=0.03)
    assert path.speeds_mps == pytest.approx(1.5)


def test_drift_is_spread_over_the_loop():
    path = path_of_drive(driven(2.0 * pi, drift_m=0.3))
    assert path.is_loop
    steps = np.hypot(*np.diff(path.points_m, axis=0).T)
    assert steps.max() < 0.06, "no jump where it was closed"


def test_a_drive_that_does_not_come_back_has_two_ends():
    path = path_of_drive(driven(1.5 * pi))
    assert not path.is_loop
    assert path.length_m == pytest.approx(3 * pi, abs=0.1)


def test_waiting_changes_nothing():
    drive = driven(1.5 * pi)
    waiting = RecordedDrive(np.repeat(drive.places_m, 7, axis=0), np.repeat(drive.speeds_mps, 7))
    assert path_of_drive(waiting).points_m == pytest.approx(path_of_drive(drive).points_m)


def test_no_drive_and_one_backward_are_refused():
    with pytest.raises(ValueError, match="did not move"):
        path_of_drive(RecordedDrive(np.zeros((50, 2)), np.zeros(50)))
    drive = driven(pi)
    with pytest.raises(ValueError, match="backward"):
        path_of_drive(RecordedDrive(drive.places_m, -drive.speeds_mps))
