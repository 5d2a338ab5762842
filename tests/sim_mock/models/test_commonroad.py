"""Against the package commonroad-vehicle-models: the same derivatives to 1e-9."""

from random import Random
from typing import Any

import pytest

from sim_mock.models.single_track.kinematic import kinematic_rates
from sim_mock.models.single_track.linear import KINEMATIC_BELOW_MPS, linear_rates
from sim_mock.models.single_track.parameters import (
    ControlLimits,
    DriverInput,
    SingleTrackParameters,
)
from tests.support.evidence import some

pytest.importorskip("vehiclemodels", reason="commonroad-vehicle-models is not installed")
from vehiclemodels.vehicle_dynamics_ks import vehicle_dynamics_ks
from vehiclemodels.vehicle_dynamics_st import vehicle_dynamics_st
from vehiclemodels.vehicle_parameters import setup_vehicle_parameters

CARS = {number: setup_vehicle_parameters(vehicle_id=number) for number in (1, 2, 3)}


def converted(p: Any) -> SingleTrackParameters:
    """CommonRoad's set as ours: p_ky1 is mu C_S with its sign turned, p_dy1 is mu."""
    limits = ControlLimits(
        p.steering.min, p.steering.max, p.steering.v_min, p.steering.v_max,
        p.longitudinal.v_min, p.longitudinal.v_max, p.longitudinal.v_switch, p.longitudinal.a_max,
    )  # fmt: skip
    stiffness = -p.tire.p_ky1 / p.tire.p_dy1
    mu = p.tire.p_dy1
    return SingleTrackParameters(p.m, p.I_z, p.a, p.b, p.h_s, mu, stiffness, stiffness, limits)


def draws(count: int, speeds: tuple[float, float]) -> list[tuple[list[float], DriverInput]]:
    """States and inputs well beyond every limit of every car, seeded."""
    random = Random(20260)
    return [
        (
            [
                random.uniform(-90.0, 90.0),
                random.uniform(-90.0, 90.0),
                random.uniform(-1.3, 1.3),
                random.uniform(*speeds),
                random.uniform(-7.0, 7.0),
                random.uniform(-2.0, 2.0),
                random.uniform(-0.6, 0.6),
            ],
            DriverInput(random.uniform(-0.8, 0.8), random.uniform(-15.0, 15.0)),
        )
        for _ in range(count)
    ]


@pytest.mark.parametrize("number", CARS)
def test_kinematic_derivatives_agree(number):
    theirs, ours = CARS[number], converted(CARS[number])
    for x, u in some(draws(1500, (-20.0, 60.0))):
        expected = vehicle_dynamics_ks(x[:5], list(u), theirs)
        assert kinematic_rates(tuple(x[:5]), u, ours) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("speeds", [(0.1, 60.0), (-20.0, -0.1), (-0.0999, 0.0999)])
@pytest.mark.parametrize("number", CARS)
def test_single_track_derivatives_agree_on_both_sides_of_the_switch(number, speeds):
    theirs, ours = CARS[number], converted(CARS[number])
    for x, u in some(draws(1000, speeds)):
        assert (abs(x[3]) < KINEMATIC_BELOW_MPS) == (speeds[1] == 0.0999)
        expected = vehicle_dynamics_st(x, list(u), theirs)
        assert linear_rates(tuple(x), u, ours) == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("number", CARS)
@pytest.mark.parametrize("field", SingleTrackParameters._fields[:-1])
def test_every_parameter_counts_in_that_agreement(number, field):
    theirs, ours = CARS[number], converted(CARS[number])
    changed = ours._replace(**{field: getattr(ours, field) * 1.001})
    differences = [
        max(
            abs(a - b)
            for a, b in zip(
                linear_rates(tuple(x), u, changed),
                vehicle_dynamics_st(x, list(u), theirs),
                strict=True,
            )
        )
        for x, u in draws(20, (5.0, 10.0))
    ]
    assert max(differences) > 1e-6
