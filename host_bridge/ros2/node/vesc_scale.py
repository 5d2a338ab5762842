"""Conversions between the units of a VESC motor controller and SI units."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class VescScale:
    """Conversions between a VESC's units and SI units; the defaults are f1tenth_system's."""

    # All of these are f1tenth_system's own
    erpm_per_mps: float = 4614.0
    erpm_offset: float = 0.0
    servo_per_rad: float = -1.2135
    servo_offset: float = 0.5304
    servo_min: float = 0.15
    servo_max: float = 0.85
    brake_max_a: float = 200.0  # the current of a full brake: the maximum in their file

    def speed_mps(self, erpm: float) -> float:
        return (erpm - self.erpm_offset) / self.erpm_per_mps

    def erpm(self, speed_mps: float) -> float:
        return speed_mps * self.erpm_per_mps + self.erpm_offset

    def steer_rad(self, servo: float) -> float:
        held = min(max(servo, self.servo_min), self.servo_max)
        return (held - self.servo_offset) / self.servo_per_rad

    def servo(self, steer_rad: float) -> float:
        servo = steer_rad * self.servo_per_rad + self.servo_offset
        return min(max(servo, self.servo_min), self.servo_max)
