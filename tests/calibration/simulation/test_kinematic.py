"""The model that needs no log: steered to the right a car goes as to the left, mirrored."""

from itertools import pairwise

import pytest

from calibration.bayesian_fit.run_effects import PredictedPath, pieces
from calibration.simulation.command_queue import CommandChange
from calibration.simulation.kinematic import MOST_TURN_RAD, KinematicNumbers, _path
from calibration.simulation.plant_numbers import plant_parameters
from calibration.simulation.poses import Poses
from host_bridge import config
from tests.support.evidence import some

np = pytest.importorskip("numpy")
CAR = KinematicNumbers(2.0, 0.4, 0.0)


def way(steering_norm: float) -> list[tuple[float, float, float, float]]:
    body = plant_parameters(config.load_vehicle("f1tenth")).body
    return _path([CommandChange(0.0, 0.5, steering_norm)], CAR, body, 1.0)


def test_a_bend_to_the_right_has_pieces_as_short_as_one_to_the_left():
    left, right = way(1.0), way(-1.0)
    assert [(t_s, x_m, -y_m, -yaw_rad) for t_s, x_m, y_m, yaw_rad in right] == [
        pytest.approx(row) for row in left
    ]
    turned = [abs(after[3] - row[3]) for row, after in pairwise(right)]
    assert max(some(turned)) <= MOST_TURN_RAD


def test_of_a_car_that_never_drives_there_is_no_piece():
    still = np.zeros(3)
    for found in some(pieces(PredictedPath.of(np.arange(3) * 0.1, Poses(still, still, still)))):
        assert found.shape == (3, 3, 0)
