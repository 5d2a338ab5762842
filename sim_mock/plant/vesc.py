"""A VESC as a car's speed controller, commanded over its serial line by the board's pulses.

The board makes commands of the pulses (firmware/boards/physical/vesc_drive.py):

 pulse | the VESC |
---|---|
 neutral | releases the motor |
 in the direction that it drives in | applies a duty, and holds the wheels to it |
 in the other one | brakes with a current, which never turns the wheels backward |
 in the other one, after neutral at rest | drives in that direction from then on |
 none for ``timeout_s``, or its kill switch is pulled | brakes with ``timeout_brake_a`` |

It has no dead band, and arms at once.
"""

from dataclasses import dataclass

from sim_mock.plant.motor import Motor

STANDS_MPS = 0.022  # 100 erpm of an F1TENTH; at or below it the board regards it as standing
HAIR_S = 1e-9  # tolerance for the rounding of sums of steps


@dataclass(frozen=True, slots=True)
class VescParameters:
    """The numbers of a VESC: end points in ns as in the vehicle file's channel.

    The others are as in the board file and in VESC Tool.
    """

    reverse_ns: float
    neutral_ns: float
    forward_ns: float
    duty_max: float
    brake_max_a: float
    timeout_s: float
    timeout_brake_a: float

    def effort(self, pulse_ns: float) -> float:
        """Return the effort from -1 to 1 that a pulse means."""
        away_ns = pulse_ns - self.neutral_ns
        span_ns = self.forward_ns - self.neutral_ns
        if away_ns < 0.0:
            span_ns = self.neutral_ns - self.reverse_ns
        return min(max(away_ns / span_ns, -1.0), 1.0)


class VescModel:
    """One VESC: its last command, and the time since it was received."""

    __slots__ = ("_brake_a", "_duty", "_is_forward", "_may_turn", "_p", "_silent_s")

    def __init__(self, parameters: VescParameters) -> None:
        self._p = parameters
        self._duty = self._brake_a = 0.0
        self._is_forward, self._may_turn = True, False
        self._silent_s = parameters.timeout_s + 1.0  # timed out until the board's first command

    def tell(self, duty: float, brake_a: float) -> None:
        """Take a command: a duty from -1 to 1, or a braking current, or neither."""
        self._duty, self._brake_a = duty, brake_a
        self._silent_s = 0.0

    def step(self, dt_s: float, pulse_ns: int, enable: bool, motor: Motor, rim_mps: float) -> None:
        """Set the motor's action for the next ``dt_s`` seconds, from the board's pulse."""
        if pulse_ns == 0:
            self._silent_s += dt_s
        else:
            self._follow(self._p.effort(pulse_ns), rim_mps)
        if not enable or self._silent_s > self._p.timeout_s + HAIR_S:
            motor.brake_with_current(self._p.timeout_brake_a, rim_mps)
        elif self._brake_a > 0.0:
            motor.brake_with_current(self._brake_a, rim_mps)
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
