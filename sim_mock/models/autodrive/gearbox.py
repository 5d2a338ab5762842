"""AutoDRIVE's automatic transmission: the gear, and the pause while shifting.

Source: the report, section 3.1.1, Powertrain Dynamics. It is in neutral at standstill, in park if
the handbrake is on there, and changes between drive and reverse only through neutral.
"""

from math import pi
from typing import NamedTuple

from sim_mock.models.autodrive.parameters import AutomobileParameters, Pedals

PARK, REVERSE, NEUTRAL, FIRST = -2, -1, 0, 1

# Standstill is any speed below this: AutoDRIVE's controller rounds to whole miles per hour.
STILL_MPS = 0.5 * 0.44704


class Gearbox(NamedTuple):
    """The gear, and the remaining time for which the clutch is open."""

    gear: int = NEUTRAL
    pause_s: float = 0.0


def ratio_of(gear: int, p: AutomobileParameters) -> float:
    """Return the turns of the gearbox's input per turn of its output; 0 without a gear."""
    if gear >= FIRST:
        return p.gear_ratios[gear - FIRST]
    return p.reverse_ratio if gear == REVERSE else 0.0


def rpm_at(speed_mps: float, gear: int, p: AutomobileParameters) -> float:
    """Return the engine's speed at this car's speed, without idle: v 60 / (2 pi R) * FDR * GR."""
    wheel_rpm = speed_mps * 60.0 / (2.0 * pi * p.wheel_radius_m)
    return wheel_rpm * p.final_drive_ratio * ratio_of(gear, p)


def is_pulling(box: Gearbox, throttle: float) -> bool:
    """Return whether throttle reaches the wheels: clutch closed, gear in its direction."""
    return box.pause_s <= 0.0 and box.gear != PARK and box.gear * throttle > 0.0


def shifted(
    box: Gearbox, speed_mps: float, u: Pedals, p: AutomobileParameters, dt_s: float
) -> Gearbox:
    """Return the gearbox ``dt_s`` later. It does not change gear while the clutch is open."""
    if box.pause_s > 0.0:
        return box._replace(pause_s=max(box.pause_s - dt_s, 0.0))
    gear = next_gear(box.gear, speed_mps, u, p)
    return box if gear == box.gear else Gearbox(gear, p.shift_s)


def next_gear(gear: int, speed_mps: float, u: Pedals, p: AutomobileParameters) -> int:
    """Return the next gear by the first rule that applies, those of standstill first."""
    is_still = speed_mps < STILL_MPS
    if u.handbrake > 0.0 and (is_still or gear == PARK):
        return PARK
    if gear == PARK or (is_still and gear * u.throttle <= 0.0 and gear != NEUTRAL):
        return NEUTRAL
    if gear == NEUTRAL:
        return FIRST if u.throttle > 0.0 else REVERSE if u.throttle < 0.0 else NEUTRAL
    return gear if gear == REVERSE else _by_map(gear, speed_mps, p)


def _by_map(gear: int, speed_mps: float, p: AutomobileParameters) -> int:
    rpm = rpm_at(speed_mps, gear, p)
    if rpm > p.up_rpm:
        return min(gear + 1, len(p.gear_ratios))
    return max(gear - 1, FIRST) if rpm < p.down_rpm else gear
