"""A car's electronic speed controller: its reaction to the pulses it sees.

 pulse | reaction |
---|---|
 anything, before ``arm_s`` of neutral | none |
 neutral | coasts |
 forward | drives forward |
 reverse, after forward | brakes, in proportion; at standstill too |
 reverse, after ``reverse_neutral_s`` of neutral with the wheels still | drives backward |
 none | goes on for ``hold_s``, then coasts |

This is the usual "forward, brake, reverse" of car ESCs; manuals word it as "release the brake, then
pull again".
"""

from dataclasses import dataclass

from sim_mock.plant.motor import Motor

STILL_MPS = 0.05  # below it the back EMF of a sensorless motor is too small to be seen
HAIR_S = 1e-9  # tolerance for the rounding of sums of steps


@dataclass(frozen=True, slots=True)
class EscParameters:
    """The numbers of an ESC; end points in ns as taught to it.

    ``rearms``: the drive enable cuts its supply, so that it has to arm again.
    """

    reverse_ns: float
    neutral_ns: float
    forward_ns: float
    dead_band_ns: float
    arm_s: float
    reverse_neutral_s: float
    hold_s: float
    brake_max: float
    rearms: bool

    def throttle(self, pulse_ns: float) -> float:
        """Return the throttle from -1 to 1; 0 within the dead band."""
        offset_ns = pulse_ns - self.neutral_ns
        if abs(offset_ns) <= self.dead_band_ns:
            return 0.0
        if offset_ns > 0.0:
            span_ns = self.forward_ns - self.neutral_ns
            return min((offset_ns - self.dead_band_ns) / (span_ns - self.dead_band_ns), 1.0)
        span_ns = self.neutral_ns - self.reverse_ns
        return max((offset_ns + self.dead_band_ns) / (span_ns - self.dead_band_ns), -1.0)


class Esc:
    """One ESC with its state: its last pulse, and how long it has seen neutral or none."""

    __slots__ = ("_may_reverse", "_neutral_s", "_p", "_pulse_ns", "_silent_s", "_throttle",
                 "is_armed")  # fmt: skip

    def __init__(self, parameters: EscParameters) -> None:
        self._p = parameters
        self._pulse_ns = 0
        self._silent_s = 0.0
        self._neutral_s = 0.0
        self._throttle = 0.0
        self._may_reverse = False
        self.is_armed = False

    def step(self, dt_s: float, pulse_ns: int, enable: bool, motor: Motor, rim_mps: float) -> None:
        """Set the motor's action for the next ``dt_s`` seconds."""
        if not enable and self._p.rearms:
            self._forget()
        elif self._hears(dt_s, pulse_ns):
            self._see_neutral(dt_s, rim_mps)
        throttle = self._throttle
        if throttle == 0.0 or not enable or not self.is_armed:
            motor.coast()
        elif throttle < 0.0 and not self._may_reverse:
            motor.brake(-throttle * self._p.brake_max, rim_mps)
        else:
            self._may_reverse = throttle < 0.0
            motor.drive(throttle, rim_mps, True)

    def _forget(self) -> None:
        self.is_armed = False
        self._may_reverse = False
        self._neutral_s = 0.0

    def _hears(self, dt_s: float, pulse_ns: int) -> bool:
        if pulse_ns == 0:
            self._silent_s += dt_s
            if self._silent_s > self._p.hold_s + HAIR_S:
                self._throttle = 0.0
                self._pulse_ns = 0  # so that the same pulse counts as new when it comes back
            return False
        self._silent_s = 0.0
        if pulse_ns != self._pulse_ns:
            self._pulse_ns = pulse_ns
            self._throttle = self._p.throttle(pulse_ns)
        return True

    def _see_neutral(self, dt_s: float, rim_mps: float) -> None:
        if self._throttle != 0.0:
            self._neutral_s = 0.0
            return
        self._neutral_s += dt_s
        if self._neutral_s >= self._p.arm_s - HAIR_S:
            self.is_armed = True
        if self._neutral_s >= self._p.reverse_neutral_s - HAIR_S and abs(rim_mps) < STILL_MPS:
            self._may_reverse = True
