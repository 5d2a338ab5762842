"""Distances of stops in which a car's program has no part: runstop button, hang, reset."""

from __future__ import annotations

from dataclasses import dataclass

UNAIDED_MOST_M = 4.0  # firmware/core/SAFETY.md, S14: from the cap of the default profile
# Seconds in which it rolls on unslowed, from SAFETY.md's Numbers and hardware/stopping.md
_BUTTON_S = 0.001
_DELAYED_BUTTON_S = 0.15  # braked first: no worse than a cut by more than speed times that
_HANG_S = 0.1
_RESET_S = 0.03  # K1 and K2 let go within that
_RESET_TO_BRAKE_SERVO_S = 0.41  # until the launcher's first pulse


@dataclass(frozen=True)
class AcceptedCoast:
    """A distance beyond ``UNAIDED_MOST_M`` that a vehicle file accepts in words."""

    distance_m: float
    reason: str


@dataclass(frozen=True)
class UnaidedStop:
    """Distances in m from one speed. Power that is lost takes every brake, and is told apart."""

    speed_mps: float
    button_m: float
    hang_m: float
    reset_m: float
    power_lost_m: float

    @property
    def most_m(self) -> float:
        """The farthest of button, hang and reset."""
        return max(self.button_m, self.hang_m, self.reset_m)


@dataclass(frozen=True)
class UnaidedFacts:
    """The decelerations of a vehicle in a cut and without any power, in m/s², and its delays."""

    cut_decel_mps2: float
    coast_decel_mps2: float
    has_brake_servo: bool
    has_off_delay: bool

    def stop_from(self, speed_mps: float) -> UnaidedStop:
        """Compute v²/2a, after what it rolls on unslowed."""

        def cut_m(seconds: float) -> float:
            return speed_mps * seconds + speed_mps**2 / (2.0 * self.cut_decel_mps2)

        return UnaidedStop(
            speed_mps,
            cut_m(_DELAYED_BUTTON_S if self.has_off_delay else _BUTTON_S),
            cut_m(_HANG_S),
            cut_m(_RESET_TO_BRAKE_SERVO_S if self.has_brake_servo else _RESET_S),
            speed_mps**2 / (2.0 * self.coast_decel_mps2),
        )
