"""Pulses and duties become the simulator's shares."""

from math import atan, tan

import pytest

from host_bridge.config import load_vehicle
from sim_mock.autodrive.actuators import Actuators, axle_rad
from sim_mock.autodrive.cars import CARS, simulated_car
from sim_mock.plant.parameters import PlantParameters

STILL = 0.0


def actuators(vehicle, car):
    vehicle = load_vehicle(vehicle)
    table = {**vehicle.plant, "channels": list(vehicle.channels)}
    return Actuators(PlantParameters.from_mapping(table), simulated_car(car))


def f1tenth(pulses, car="roboracer"):
    """(seconds, drive pulse in us, rim speed) one after the other; the last command."""
    one = actuators("f1tenth", car)
    for for_s, pulse_us, rim_mps in pulses:
        for _ in range(round(for_s * 1000)):
            one.step(0.001, (1_435_000, pulse_us * 1000, 0, 0, 0, 0, 0, 0), True, rim_mps)
    return one.command


def nigel(duty, enable=True, steering_ns=(1_472_000, 1_472_000)):
    one = actuators("nigel", "nigel")
    return one.step(0.001, (*steering_ns, 1_472_000, 1_472_000, *[duty] * 4), enable, STILL)


def test_half_a_pulse_is_the_same_speed_there_as_here():
    """0.475 of 0.95 above the dead band is half of the vehicle file's top speed, 17.9 m/s."""
    command = f1tenth([(0.6, 1500, STILL), (0.01, 1762, 3.0)])
    assert command.throttle * CARS["roboracer"].top_mps == pytest.approx(0.5 * 17.9, rel=0.02)
    assert command.speed_mps == pytest.approx(0.5 * 17.9, rel=0.02)


def test_an_esc_that_is_not_armed_drives_nothing():
    assert f1tenth([(0.1, 1500, STILL), (0.1, 1900, STILL)]).throttle == 0.0


def test_reverse_after_forward_brakes_and_does_not_reverse():
    pulses = [(0.6, 1500, STILL), (0.1, 1700, 3.0), (0.2, 1300, 3.0)]
    assert f1tenth(pulses).throttle == 0.0
    assert f1tenth([*pulses, (0.2, 1300, STILL)]).throttle == 0.0
    assert f1tenth([*pulses, (0.2, 1500, STILL), (0.1, 1300, STILL)]).throttle < 0.0


@pytest.mark.parametrize(("duty", "throttle"), [(2500, 0.402), (-2500, -0.402), (0, 0.0),
                                                (10_000, 1.0), (-10_000, -1.0)])  # fmt: skip
def test_duties_are_the_speed_of_the_vehicle_file_and_never_more_than_all(duty, throttle):
    """A quarter of 0.449 m/s, which the simulated car does at 0.402."""
    assert nigel(duty).throttle == pytest.approx(throttle, abs=0.005)


def test_without_drive_enable_it_stands():
    assert nigel(10_000, enable=False).throttle == 0.0


def test_straight_is_straight_and_the_longer_pulse_is_right():
    assert nigel(0).steering == pytest.approx(0.0, abs=1e-6)
    assert nigel(0, steering_ns=(1_300_000, 1_300_000)).steering > 0.2
    assert nigel(0, steering_ns=(1_700_000, 1_700_000)).steering < -0.2


def test_a_servo_without_a_pulse_stays_as_it_is():
    one = actuators("nigel", "nigel")
    outputs = [1_300_000, 1_300_000, 1_300_000, 1_300_000, 0, 0, 0, 0]
    turned = one.step(0.001, outputs, True, STILL).steering
    assert one.step(0.001, [0] * 8, True, STILL).steering == turned > 0.0


@pytest.mark.parametrize("steer_rad", [0.5, 0.1, -0.3])
def test_the_middle_of_an_axle_is_ackermanns(steer_rad):
    """atan(2 L tan d / (2 L -/+ W tan d)): Nigel's firmware."""
    length_m, track_m, slope = 0.14154, 0.153, tan(steer_rad)
    wheels = [
        atan(2 * length_m * slope / (2 * length_m - side * track_m * slope)) for side in (1, -1)
    ]
    assert axle_rad(wheels) == pytest.approx(steer_rad, abs=1e-12)


@pytest.mark.parametrize(("wheels", "mean"), [((), 0.0), ((0.0, 0.0), 0.0), ((0.2, -0.2), 0.0),
                                              ((0.0, 0.1), 0.05), ((0.3,), 0.3)])  # fmt: skip
def test_wheels_without_a_common_centre_give_their_mean(wheels, mean):
    assert axle_rad(wheels) == pytest.approx(mean)


@pytest.mark.parametrize("car", CARS)
def test_speeds_for_the_cars_that_take_those_turn_left_with_left(car):
    one = actuators("nigel", car)
    steered = (1_300_000, 1_300_000, 1_472_000, 1_472_000)
    command = one.step(0.001, (*steered, *[5000] * 4), True, STILL)
    assert command.speed_mps == pytest.approx(0.5 * 0.45, rel=0.02)
    assert command.yaw_rate_radps > 0.0


@pytest.mark.parametrize("car", CARS)
def test_a_throttle_is_a_speed_and_that_speed_the_throttle(car):
    simulated = CARS[car]
    for throttle in (-1.0, -0.2, 0.0, 0.05, 0.7, 1.0):
        speed_mps = simulated.speed_mps(throttle)
        assert simulated.throttle(speed_mps) == pytest.approx(throttle)
        assert abs(speed_mps) <= simulated.top_mps
    assert simulated.speed_mps(7.0) == simulated.top_mps
    assert simulated.throttle(-1e3) == -1.0


# AutoDRIVE-Nigel-Dataset, throttle_velocity: throttle, steady speed in m/s
NIGELS = ((0.1, 0.02867), (0.2, 0.05685), (0.3, 0.08457), (0.5, 0.13871), (0.7, 0.19122),
          (1.0, 0.26703))  # fmt: skip


@pytest.mark.parametrize(("throttle", "speed_mps"), NIGELS)
def test_nigels_throttles_are_the_simulators(throttle, speed_mps):
    assert CARS["nigel"].speed_mps(throttle) == pytest.approx(speed_mps, rel=0.002)
