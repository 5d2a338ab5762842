"""AutoDRIVE's model of full-scale cars: its rigid body on four wheels, driven by an engine.

Source: the report, section 3.1.1. Gear and drag regime are chosen before a step and held over it,
so that what is integrated is smooth. The anti-roll bars, which the report makes optional, are not
here. Drags are coefficients, as those of small cars are; the report gives their regimes only.
"""

from typing import NamedTuple

from sim_mock.models.autodrive.car import AppliedForces, Sprung, rates_under
from sim_mock.models.autodrive.gearbox import REVERSE, Gearbox, shifted
from sim_mock.models.autodrive.parameters import AutomobileParameters, Pedals
from sim_mock.models.autodrive.powertrain import (
    braking_torques_nm,
    driven_torques_nm,
    engine_rate_rpmps,
    total_nm,
)
from sim_mock.models.integration import State, rk4


class Driven(NamedTuple):
    """The state: the body on its wheels, the engine, the transmission."""

    body: Sprung
    engine_rpm: float
    box: Gearbox = Gearbox()


class Held(NamedTuple):
    """The inputs that are held over a step."""

    pedals: Pedals
    box: Gearbox
    drag_ns_per_m: float


def at_rest(p: AutomobileParameters) -> Driven:
    """Return the car standing, in neutral, with the engine idling."""
    return Driven(Sprung(), p.idle_rpm)


def step(now: Driven, u: Pedals, p: AutomobileParameters, dt_s: float) -> Driven:
    """Return the car ``dt_s`` seconds later, with ``u`` held."""
    box = shifted(now.box, abs(now.body.vx_mps), u, p, dt_s)
    out_nm = total_nm(now.engine_rpm, box, u.throttle, p)
    held = Held(u, box, drag_ns_per_m(now.body, out_nm, box.gear, p))
    x = rk4(automobile_rates, (*now.body, now.engine_rpm), held, p, dt_s)
    return Driven(Sprung(*x[:-1]), x[-1], box)


def drag_ns_per_m(s: Sprung, out_nm: float, gear: int, p: AutomobileParameters) -> float:
    """Return the drag coefficient of the first regime that applies: the report's Aerodynamics."""
    speed_mps = abs(s.vx_mps)
    is_backing = gear == REVERSE and sum(s[6:10]) < 0.0
    if speed_mps >= p.speed_max_mps:
        return p.drag_max_ns_per_m
    if out_nm == 0.0:
        return p.drag_idle_ns_per_m
    if speed_mps >= p.reverse_max_mps and is_backing:
        return p.drag_reverse_ns_per_m
    return p.drag_idle_ns_per_m


def automobile_rates(x: State, u: Held, p: AutomobileParameters) -> State:
    """Return the right-hand side in the order of ``Sprung``, then the engine's rpm, per second."""
    s, engine_rpm = Sprung(*x[:-1]), x[-1]
    rates = rates_under(s, u.pedals.steering, _applied(s, engine_rpm, u, p), p)
    return (*rates, engine_rate_rpmps(engine_rpm, s[6:10], u.box.gear, p))


def _applied(s: Sprung, engine_rpm: float, u: Held, p: AutomobileParameters) -> AppliedForces:
    drive_nm = total_nm(engine_rpm, u.box, u.pedals.throttle, p)
    pull = driven_torques_nm(drive_nm, s.steer_rad, p)
    hold = braking_torques_nm(u.pedals, u.box.gear, s[6:10], p.corners, p)
    torques_nm = [a + b for a, b in zip(pull, hold, strict=True)]
    return AppliedForces(torques_nm, u.drag_ns_per_m, p.down_ns_per_m * abs(s.vx_mps))
