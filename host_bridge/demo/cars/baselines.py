"""Baselines: the published stop rules of other stacks on the same plant, read in their favour.

Each rule is taken at its best: its time begins at the moment of the fault, the car rolls in
neutral from the moment the time is over, and nothing on the way adds to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.core import Vehicle
from sim_mock.plant.vehicle_plant import Plant
from sim_mock.world import plant_of

_STEP_S = 0.001  # of the plant, as in a virtual car
_STANDSTILL_MPS = 0.02  # as in the stops that it is compared with
_AT_MOST_S = 60.0  # a car that rolls in neutral stands long before
_SETTLE_S = 6.0  # chosen: the speed is steady by then


@dataclass(frozen=True)
class BaselineRule:
    """A stop rule: for how long the last command goes on before the motor rolls in neutral."""

    name: str
    holds_s: float
    source: str


BASELINES = (
    BaselineRule(
        "mux, 200 ms",
        0.2,
        "f1tenth_system mux.yaml: input timeout 0.2 s, then silence; read as neutral at once",
    ),
    BaselineRule(
        "VESC, 1 s",
        1.0,
        "bldc appconf_default.h: timeout 1000 ms, brake current 0 A: it coasts",
    ),
    BaselineRule(
        "RC fallback, 10 s",
        10.0,
        "Donkeycar RoboHAT MM1 code.py: 10 s without serial, then the RC receiver",
    ),
)


@dataclass(frozen=True)
class BaselineStop:
    """A stop from the fault to standstill, with the speeds on the way: (s, m/s), every 10 ms."""

    seconds: float
    metres: float
    speeds: tuple[tuple[float, float], ...]


def simulated_stop(vehicle: Vehicle, speed_mps: float, holds_s: float) -> BaselineStop:
    """Simulate the plant alone: cruise, keep the throttle for ``holds_s``, then neutral."""
    plant = plant_of(vehicle, seed=0)
    cruise, neutral = _cruise(plant, vehicle, speed_mps)
    start_m, time_s, speeds = plant.truth.x_m, 0.0, []
    step = 0
    while plant.truth.vx_mps > _STANDSTILL_MPS and time_s < _AT_MOST_S:
        if step % 10 == 0:
            speeds.append((time_s, plant.truth.vx_mps))
        plant.step(_STEP_S, cruise if time_s < holds_s else neutral, True)
        step += 1
        time_s = step * _STEP_S
    return BaselineStop(time_s, plant.truth.x_m - start_m, tuple(speeds))


def _cruise(plant: Plant, vehicle: Vehicle, speed_mps: float) -> tuple[list[int], list[int]]:
    """Bring the plant to a steady speed; return the outputs that keep it, and neutral ones."""
    neutral = list(vehicle.parameters["channel_neutral"])
    high = vehicle.parameters["channel_high"]
    drives = [
        i for i, channel in enumerate(vehicle.channels) if channel["kind"] != "servo_steering"
    ]
    throttle = 0.0
    values = neutral
    for step in range(int(_SETTLE_S / _STEP_S)):
        values = list(neutral)
        for i in drives:
            values[i] = neutral[i] + round((high[i] - neutral[i]) * throttle)
        plant.step(_STEP_S, values, True)
        if step * _STEP_S > 1.0:  # an ESC arms in neutral first
            error = speed_mps - plant.truth.vx_mps
            # chosen: so small that the speed does not swing
            throttle = min(max(throttle + 0.0004 * error, 0.0), 1.0)
    return values, neutral
