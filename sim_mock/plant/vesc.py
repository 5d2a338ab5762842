"""A VESC as a car's speed controller, told by its serial line what the board's pulses come to.

The board makes commands of the pulses (firmware/boards/vesc_drive.py):

| pulse | the VESC |
|---|---|
| neutral | lets the motor go |
| into the direction that it drives in | applies a duty, and holds the wheels to it |
| into the other one | brakes with a current, which never turns the wheels round |
| into the other one, after neutral at rest | drives in that direction from then on |
| none for ``timeout_s``, or its kill switch is pulled | brakes with ``timeout_brake_a`` |

It has no dead band, and arms at once.
"""

from dataclasses import dataclass

from sim_mock.plant.motor import Motor

STANDS_MPS = 0.022  # 100 erpm of an F1TENTH, below which its board takes it to stand
HAIR_S = 1e-9  # a sum of steps comes out a hair off the time that it should be


@dataclass(frozen=True, slots=True)
class VescParameters:
    """End points in ns as the vehicle file's channel has them; the rest as the board file and VESC
    Tool have it."""

    reverse_ns: float
    neutral_ns: float
    forward_ns: float
    duty_max: float
    brake_max_a: float
    timeout_s: float
    timeout_brake_a: float

    def effort(self, pulse_ns: float) -> float:
        """-1 to 1."""
        away_ns = pulse_ns - self.neutral_ns
        span_ns = self.forward_ns - self.neutral_ns
        if away_ns < 0.0:
            span_ns = self.neutral_ns - self.reverse_ns
        return min(max(away_ns / span_ns, -1.0), 1.0)


class Vesc:
    """One VESC: its last command, and for how long it has been told nothing."""

    __slots__ = ("_brake_a", "_duty", "_is_forward", "_may_turn", "_p", "_silent_s")

    def __init__(self, parameters: VescParameters) -> None:
        self._p = parameters
        self._duty = self._brake_a = 0.0
        self._is_forward, self._may_turn = True, False
        self._silent_s = parameters.timeout_s + 1.0  # of a board that starts

    def tell(self, duty: float, brake_a: float) -> None:
        """A command of its line: a duty from -1 to 1, or a braking current, or nothing of both."""
        self._duty, self._brake_a = duty, brake_a
        self._silent_s = 0.0

    def step(self, dt_s: float, pulse_ns: int, enable: bool, motor: Motor, rim_mps: float) -> None:
        """Set what ``motor`` does during the next ``dt_s`` seconds; a pulse is its board's."""
        if pulse_ns == 0:
            self._silent_s += dt_s
        else:
            self._follow(self._p.effort(pulse_ns), rim_mps)
        if not enable or self._silent_s > self._p.timeout_s + HAIR_S:
            motor.brake_with(self._p.timeout_brake_a, rim_mps)
        elif self._brake_a > 0.0:
            motor.brake_with(self._brake_a, rim_mps)
        elif self._duty != 0.0:
            motor.drive(self._duty, rim_mps, False)
        else:
            motor.coast()

    def _follow(self, effort: float, rim_mps: float) -> None:
        if effort == 0.0:
            self._may_turn = self._may_turn or abs(rim_mps) <= STANDS_MPS
            self.tell(0.0, 0.0)
        elif self._is_to_brake(effort > 0.0, rim_mps):
            self.tell(0.0, abs(effort) * self._p.brake_max_a)
        else:
            self.tell(effort * self._p.duty_max, 0.0)

    def _is_to_brake(self, is_forward: bool, rim_mps: float) -> bool:
        if is_forward != self._is_forward:
            if not self._may_turn:
                return True
            self._is_forward = is_forward
        self._may_turn = False
        return abs(rim_mps) > STANDS_MPS and (rim_mps > 0.0) != is_forward
