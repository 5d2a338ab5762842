"""A gyroscope that is fitted and does not answer: told, and reckoned without; nothing stops."""

import pytest

from tests.firmware.core.bare_car import ACTIVE, Car
from tests.firmware.core.stops.test_fault_monitor import driving

RATE_MRAD_S = 100


@pytest.mark.parametrize(("gyro_fitted", "answers", "is_lost"), [(1, 0, 1), (1, 1, 0), (0, 0, 0)])
def test_only_one_that_is_fitted_can_be_lost_and_nothing_stops(gyro_fitted, answers, is_lost):
    car = driving(Car(gyro_fitted=gyro_fitted))
    car.board.imu_answers = answers
    car.step(3)
    assert bool(car.app.odometry.is_gyro_lost) is bool(is_lost)
    assert car.state == ACTIVE
    assert (car.app.runstop.bits, car.app.faults.bits) == (0, 0)


def test_what_is_lost_turns_nothing_and_teaches_no_bias():
    car = Car(gyro_fitted=1)
    odometry = car.app.odometry
    car.board.yaw_rate_mrad_s = 10
    car.step(400)  # it stands: this is bias
    assert odometry.yaw_rate_mrad_s <= 1
    yaw_urad = odometry.yaw_urad
    car.board.yaw_rate_mrad_s = car.board.imu_answers = 0
    car.step(400)
    assert odometry.yaw_rate_mrad_s == 0
    assert odometry.yaw_urad - yaw_urad in (0, 1)  # a rest of the step before
    car.board.yaw_rate_mrad_s, car.board.imu_answers = 10, 1
    car.step()
    assert odometry.yaw_rate_mrad_s <= 1


def test_one_that_is_found_again_is_reckoned_by():
    car = driving(Car(gyro_fitted=1))
    car.board.imu_answers = 0
    car.board.yaw_rate_mrad_s = RATE_MRAD_S
    car.step(20)
    assert car.app.odometry.yaw_urad == 0
    car.board.imu_answers = 1
    car.step(20)
    assert car.app.odometry.yaw_urad == pytest.approx(20 * RATE_MRAD_S * 10, rel=0.01)


def test_wheels_that_are_driven_and_do_not_count_teach_no_bias():
    car = driving(Car(gyro_fitted=1, stuck_ms=2000), speed_mm_s=500)
    car.speed_mm_s = 0  # it turns, and its encoders are dead
    car.board.yaw_rate_mrad_s = RATE_MRAD_S
    car.step(150)
    assert car.state == ACTIVE
    assert car.app.odometry.yaw_rate_mrad_s == RATE_MRAD_S
