"""Engine, differential and brakes of AutoDRIVE's full-scale cars: torques on four wheels.

Source: the report, section 3.1.1, Powertrain Dynamics and Brake Dynamics. Where it is open, these
are estimates: the engine follows its wheels with a first-order lag; the smoothing operator A is the
throttle itself, so that torque grows with its square; steering is in radians.
"""

from collections.abc import Sequence
from math import pi

from sim_mock.models.autodrive.gearbox import PARK, Gearbox, is_pulling, ratio_of
from sim_mock.models.autodrive.motor import holding_nm, profile_at
from sim_mock.models.autodrive.parameters import AutomobileParameters, Corner, Pedals

# The braking distance is from 60 mph.
BRAKED_FROM_MPS = 60.0 * 0.44704
DROP_MOST = 0.9

# As motor.HOLD_FULL_RADPS, for brakes: with the tyres the rates stay within what 1 ms steps follow.
BRAKE_FULL_RADPS = 1.0


def engine_rate_rpmps(
    engine_rpm: float, spins: Sequence[float], gear: int, p: AutomobileParameters
) -> float:
    """Return the rate towards RPMi + |RPMw| FDR GR, where RPMw is the wheels' mean."""
    wheel_rpm = abs(sum(spins)) / len(spins) * 60.0 / (2.0 * pi)
    target_rpm = p.idle_rpm + wheel_rpm * p.final_drive_ratio * ratio_of(gear, p)
    return (target_rpm - engine_rpm) / p.engine_lag_s


def total_nm(engine_rpm: float, box: Gearbox, throttle: float, p: AutomobileParameters) -> float:
    """Return engine torque * GR * FDR * T * A; 0 while shifting or against the gear."""
    if not is_pulling(box, throttle):
        return 0.0
    share = min(max(throttle, -1.0), 1.0)
    geared = ratio_of(box.gear, p) * p.final_drive_ratio
    return profile_at(p.torque_nm, engine_rpm) * geared * share * abs(share)


def driven_torques_nm(drive_nm: float, steer_rad: float, p: AutomobileParameters) -> list[float]:
    """Return the torques: an equal share for each driven wheel, less for the inner ones.

    The reduction grows with the steering. The report counts angles to the right and reduces the
    right wheel for positive ones: the inner.
    """
    out_nm = drive_nm / sum(p.driven)
    drop = min(p.drop_per_rad * abs(steer_rad), DROP_MOST)
    is_inner = (steer_rad > 0.0, steer_rad < 0.0) * 2
    return [
        out_nm * is_driven * (1.0 - drop * inner)
        for is_driven, inner in zip(p.driven, is_inner, strict=True)
    ]


def brake_nm(sprung_kg: float, p: AutomobileParameters) -> float:
    """Return M v^2 / (2 D) R_b of one wheel; v is the speed from which D is measured."""
    return sprung_kg * BRAKED_FROM_MPS**2 / (2.0 * p.brake_distance_m) * p.brake_lever_m


def brake_shares(u: Pedals, gear: int, p: AutomobileParameters) -> list[float]:
    """Return the shares: brake on the front, handbrake on the rear, park on the driven wheels.

    In the report the brake acts on all four; but the simulator's script then writes the handbrake
    over the rear wheels' torque, pulled or not (AutomobileController, brakeCar).
    """
    parked = 1.0 if gear == PARK else 0.0
    pulled = (u.brake, u.brake, u.handbrake, u.handbrake)
    return [
        min(max(share, parked * is_driven), 1.0)
        for share, is_driven in zip(pulled, p.driven, strict=True)
    ]


def braking_torques_nm(
    u: Pedals, gear: int, spins: Sequence[float], corners: Sequence[Corner], p: AutomobileParameters
) -> list[float]:
    """Return the torques against the spin of each wheel."""
    rows = zip(brake_shares(u, gear, p), spins, corners, strict=True)
    return [
        holding_nm(share * brake_nm(at.sprung_kg, p), spin, BRAKE_FULL_RADPS) if share else 0.0
        for share, spin, at in rows
    ]
