"""Stopping distances without the car's program: after the runstop button, a hang or a reset."""

from __future__ import annotations

from dataclasses import dataclass

UNAIDED_MOST_M = 4.0  # firmware/core/SAFETY.md, S14: from the cap of the default profile
# Reaction times in s, in which the car rolls on unbraked; from SAFETY.md's Numbers and
# hardware/stopping.md
_BUTTON_S = 0.001
_DELAYED_BUTTON_S = 0.15  # it brakes first, then cuts: at most speed times this beyond a plain cut
_HANG_S = 0.1
_RESET_S = 0.03  # the relays K1 and K2 release within this
_RESET_TO_BRAKE_SERVO_S = 0.41  # until the launcher's first pulse


@dataclass(frozen=True)
class AcceptedCoast:
    """A distance beyond ``UNAIDED_MOST_M`` that a vehicle file accepts, with its reason."""

    distance_m: float
    reason: str


@dataclass(frozen=True)
class UnaidedStop:
    """The stopping distances in m from one speed.

    ``power_lost_m`` is listed apart, because without power there is no brake at all.
    """

    speed_mps: float
    button_m: float
    hang_m: float
    reset_m: float
    power_lost_m: float

    @property
    def most_m(self) -> float:
        """The longest of the distances after button, hang and reset, in m."""
        return max(self.button_m, self.hang_m, self.reset_m)


@dataclass(frozen=True)
class UnaidedFacts:
    """A vehicle's decelerations in m/s², cut and without any power, and what delays its brake."""

    cut_decel_mps2: float
    coast_decel_mps2: float
    has_brake_servo: bool
    has_off_delay: bool

    def stop_from(self, speed_mps: float) -> UnaidedStop:
        """Return the stopping distances from this speed: the reaction distance plus v²/2a."""

        def cut_m(seconds: float) -> float:
            return speed_mps * seconds + speed_mps**2 / (2.0 * self.cut_decel_mps2)

        return UnaidedStop(
            speed_mps,
            cut_m(_DELAYED_BUTTON_S if self.has_off_delay else _BUTTON_S),
            cut_m(_HANG_S),
            cut_m(_RESET_TO_BRAKE_SERVO_S if self.has_brake_servo else _RESET_S),
            speed_mps**2 / (2.0 * self.coast_decel_mps2),
        )
