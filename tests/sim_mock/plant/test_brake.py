"""The front brake: no more than tyres give, and dry friction at standstill."""

import re

import pytest

from sim_mock.plant.body import GRAVITY_MPS2
from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.vehicle_plant import Plant
from tests.sim_mock.plant.cars import NEUTRAL_NS, f1tenth_mapping

DT_S = 0.001
RELEASED_NS, FULL_NS = 1_000_000, 2_000_000


def braked_car(torque_nm, lag_s=0.0, mu=1.0, **drive):
    mapping = f1tenth_mapping(
        tyre={"mu": mu}, drive={"driven": "rear", "drag_n_per_mps2": 0.0, **drive}
    )
    mapping["channels"] = [
        *mapping["channels"],
        {"kind": "brake_servo", "released_ns": RELEASED_NS, "full_ns": FULL_NS},
    ]
    mapping["brake"] = {"torque_max_nm": torque_nm, "lag_s": lag_s}
    return Plant(PlantParameters.from_mapping(mapping), 1)


def outputs(share):
    pulse_ns = round(RELEASED_NS + share * (FULL_NS - RELEASED_NS))
    return (NEUTRAL_NS, NEUTRAL_NS, pulse_ns, 0, 0, 0, 0, 0)


def run(plant, seconds, share=0.0):
    for _ in range(round(seconds / DT_S)):
        plant.step(DT_S, outputs(share), True)
    return plant


def rolling(plant, speed_mps):
    plant.truth.vx_mps = speed_mps
    plant._drive.rim_mps = speed_mps
    plant._drive.is_held = False
    return run(plant, 0.05)


def slowed_mps2(plant, share, seconds=0.2):
    before_mps = plant.truth.vx_mps
    return (before_mps - run(plant, seconds, share).truth.vx_mps) / seconds


@pytest.mark.parametrize("share", [0.25, 0.5, 1.0])
def test_a_brake_takes_its_torque_over_the_wheel_radius(share):
    """And the driveline turns with the car: (m + m_rotating) a = F."""
    plant = rolling(braked_car(0.5, friction_n=0.0, rolling_resistance=0.0), 5.0)
    force_n = share * 0.5 / 0.058
    assert slowed_mps2(plant, share) == pytest.approx(force_n / (3.47 + 0.34), rel=0.01)
    assert not plant.is_sliding


def test_a_brake_stronger_than_the_tyres_locks_the_front_wheels_and_no_more():
    """0.9 of the grip of the front axle, whose load grows by the braking."""
    plant = rolling(braked_car(50.0, friction_n=0.0, rolling_resistance=0.0), 5.0)
    slowed = slowed_mps2(plant, 1.0)
    assert plant.is_sliding
    wheelbase_m, lr_m, h_m, share, mass_kg = 0.3302, 0.17145, 0.074, 0.9, 3.47
    turning = 1.0 + 0.34 / mass_kg
    # a * turning = share mu (g lr + a h) / L
    expected = share * GRAVITY_MPS2 * lr_m / wheelbase_m / (turning - share * h_m / wheelbase_m)
    assert slowed == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("torque_nm", [0.3, 1.0, 50.0])
@pytest.mark.parametrize("speed_mps", [0.2, 1.0, 4.0])
def test_a_braked_car_comes_to_rest_to_the_last_bit_and_stays_there(torque_nm, speed_mps):
    plant = run(rolling(braked_car(torque_nm), speed_mps), 3.0, 1.0)
    assert plant.truth.vx_mps == 0.0
    x_m = plant.truth.x_m
    assert run(plant, 0.5, 1.0).truth.x_m == x_m


@pytest.mark.parametrize("share", [0.0, 0.4, 1.0])
def test_no_stop_is_shorter_than_friction_allows(share):
    plant = rolling(braked_car(50.0), 4.0)
    least_m = plant.truth.vx_mps**2 / (2 * GRAVITY_MPS2)
    begun_m = plant.truth.x_m
    assert run(plant, 10.0, share).truth.x_m - begun_m > least_m


def test_a_brake_holds_a_car_that_is_pushed_until_the_push_is_stronger():
    plant = braked_car(0.5)
    brake_n = 0.5 / 0.058
    plant.pushed_n = brake_n
    assert run(plant, 0.5, 1.0).truth.vx_mps == 0.0
    plant.pushed_n = brake_n + 5.0
    assert run(plant, 0.5, 1.0).truth.vx_mps > 0.1


def test_a_lagging_brake_comes_on_by_its_time_constant():
    prompt, lagging = (
        rolling(braked_car(0.5, lag_s, friction_n=0.0, rolling_resistance=0.0), 5.0)
        for lag_s in (0.0, 0.1)
    )
    run(prompt, 0.1, 1.0)
    before_mps = lagging.truth.vx_mps
    run(lagging, 0.1, 1.0)
    # the mean over one time constant of 1 - exp(-t / lag) is exp(-1)
    share = (before_mps - lagging.truth.vx_mps) / (before_mps - prompt.truth.vx_mps)
    assert share == pytest.approx(0.368, abs=0.01)


def test_without_a_pulse_the_brake_stays_as_it_is():
    plant = run(rolling(braked_car(0.5), 5.0), 0.1, 1.0)
    before_mps = plant.truth.vx_mps
    for _ in range(100):
        plant.step(DT_S, (NEUTRAL_NS, NEUTRAL_NS, 0, 0, 0, 0, 0, 0), True)
    assert before_mps - plant.truth.vx_mps > 0.15


REFUSED = {
    'plant.brake: expected this table with one "brake_servo"': lambda m: m.pop("brake"),
    "plant.brake.torque_max_nm: torque_max_nm is missing": lambda m: m["brake"].clear(),
    'plant.drive.driven: expected "rear"': lambda m: m["drive"].update(driven="all"),
    "plant.channels[2].full_ns: expected a pulse": lambda m: m["channels"][2].update(
        full_ns=RELEASED_NS
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_wrong_about_a_brake_is_refused_by_name(message):
    mapping = f1tenth_mapping(drive={"driven": "rear"})
    brake = {"kind": "brake_servo", "released_ns": RELEASED_NS, "full_ns": FULL_NS}
    mapping["channels"] = [*mapping["channels"], brake]
    mapping["brake"] = {"torque_max_nm": 1.0}
    REFUSED[message](mapping)
    with pytest.raises(ValueError, match=re.escape(message)):
        PlantParameters.from_mapping(mapping)
