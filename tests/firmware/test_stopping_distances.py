"""How far a stop by the policy brake takes in the virtual car, beside what friction allows.

The bound of physics is v^2 / 2 mu g, all wheels braked to the limit of their grip, from the Stop's
arrival on. `tandem faults --stops` prints the same numbers.
"""

import pytest

from host_bridge.config import load_vehicle
from sim_mock.faults.bounds.limits import G_MPS2, braked_grip_mps2, plant_parameters
from sim_mock.faults.running import run

# vehicle, case, speed at least, times the bound at most, why not less
STOPS = [
    ("nigel", "stop-at-3", 0.43, 1.4, "its geared motors lock its wheels; 10 ms of step"),
    (
        "f1tenth_vesc",
        "stop-at-3",
        2.9,
        1.8,
        "a motor's brake fades with its speed; it measures over 40 ms",
    ),
    ("f1tenth", "stop-at-3", 1.9, 2.2, "the same, and the more the slower it is"),
    ("f1tenth", "stop-flat-out", 3.9, 1.7, "the same"),
    ("f1tenth_vesc", "stop-flat-out", 6.9, 1.6, "the same"),
    ("autorally", "stop-at-3", 2.9, 3.4, "it brakes with two wheels of four, eased to turn on"),
    ("autorally", "stop-flat-out", 9.9, 3.2, "the same"),
    ("hunter_se", "stop-at-3", 2.9, 3.6, "its rear wheels brake alone, and braking unloads them"),
]
LOCKS = {"nigel"}


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "case", "speed_mps", "most", "_why"), STOPS)
def test_a_stop_takes_no_more_than_its_multiple_of_what_friction_allows(
    name, case, speed_mps, most, _why
):
    for seed in range(2):
        result = run(case, load_vehicle(name), seed)
        assert result.wrong == ()
        assert result.speed_mps > speed_mps
        assert result.friction_m < result.distance_m < most * result.friction_m


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "case"), [row[:2] for row in STOPS if row[0] not in LOCKS])
def test_no_wheel_locks_during_a_stop(name, case):
    assert run(case, load_vehicle(name), 0).slid_s == 0.0


def test_two_braked_wheels_give_half_of_the_grip_and_the_car_uses_two_thirds_of_that():
    """AutoRally's front brake: mu g lr / (L - mu h), and what the stop from 10 m/s makes of it."""
    vehicle = load_vehicle("autorally")
    plant = plant_parameters(vehicle)
    assert braked_grip_mps2(plant) == pytest.approx(0.51 * plant.mu * G_MPS2, rel=0.01)
    result = run("stop-flat-out", vehicle, 0)
    taken_mps2 = result.speed_mps**2 / (2 * result.distance_m)
    assert taken_mps2 > 0.66 * braked_grip_mps2(plant)


def test_rear_wheels_that_brake_alone_give_less_than_half_of_the_grip():
    """Hunter SE: mu g lf / (L + mu h); braking is said to work from half of that on."""
    plant = plant_parameters(load_vehicle("hunter_se"))
    assert braked_grip_mps2(plant) == pytest.approx(0.377 * plant.mu * G_MPS2, rel=0.01)


def test_a_car_that_does_not_brake_is_found(monkeypatch):
    monkeypatch.setattr("firmware.core.motion.drive.Drive.brake", lambda self, *_: self.neutral(0))
    result = run("stop-at-3", load_vehicle("f1tenth"), 0)
    assert result.distance_m > 10 * result.friction_m
    assert result.wrong
