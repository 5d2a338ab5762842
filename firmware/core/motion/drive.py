"""The speed loop and the brake: from a target speed to an effort in 1/10000 of full.

Effort against the measured motion brakes (an ESC in the forward gear takes reverse as brake, an
H-bridge brakes by itself). Effort into the other direction is given only from standstill, after a
pause in neutral, which ESCs ask for. Wheels that have stood are not braked until they were driven
again: an ESC takes that for reverse, and an encoder that only seems to turn would drive the car.
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import Deadline
from firmware.core.motion.limits import Ramp, clamped

if TYPE_CHECKING:
    from firmware.core.settings.params import Params

const = micropython.const

_FULL = const(10_000)  # of effort: a duty of all the time, in 1/10000
_AHEAD = const(500)  # mm/s by which the ramp may lead the wheels before it restarts from them
_RESTED_MS = const(100)  # wheels that only locked turn again by then
_ERROR_MAX = const(20_000)  # mm/s; times a gain of 50000 per m/s is 30 bits


class Drive:
    def __init__(self) -> None:
        self.effort = 0
        self.target_mm_s = 0  # the ramp's, on this step
        self._ramp = Ramp()
        self._integral = 0  # effort * 1000
        self._direction = 1
        self._has_left_reverse = False  # by braking out of it: an ESC is in its forward gear then
        self._pause = Deadline()
        self._rest_ms = 0  # for how long the wheels stood undriven, up to _RESTED_MS
        self._full_mm_s = 1
        self._gain = 0
        self._gain_i = 0
        self._effort_max = 0
        self._correction_max = 0
        self._brake_max = 0
        self._brake_full = 1
        self._accel = 0
        self._decel = 0
        self._brake_decel = 1
        self._jerk = 1
        self._brake_jerk = 1
        self._standstill = 0
        self._pause_us = 0
        self._is_signed = False

    def configure(self, params: "Params") -> None:
        self._full_mm_s = params.get("full_effort_mm_s")
        # Times _ERROR_MAX they are within 30 bits; a file may ask for twice as much
        self._gain = min(params.get("gain_per_m_s"), 50_000)
        self._gain_i = min(params.get("gain_per_m"), 50_000)
        self._effort_max = params.get("effort_max")
        self._correction_max = params.get("correction_max")
        self._brake_max = params.get("brake_effort_max")
        self._brake_full = params.get("brake_full_mm_s")
        self._accel = params.get("accel_mm_s2")
        self._decel = params.get("decel_mm_s2")
        self._brake_decel = params.get("brake_decel_mm_s2")
        self._jerk = params.get("jerk_mm_s3")
        self._brake_jerk = params.get("brake_jerk_mm_s3")
        self._standstill = params.get("standstill_mm_s")
        self._pause_us = params.get("reverse_pause_ms") * 1000
        self._is_signed = params.get("encoder_signed") == 1

    def neutral(self, now_us: int) -> None:
        """Put out neutral: the car rolls, and is not braked until it was driven again.

        The ramp starts over from 0.
        """
        self._rest_ms = _RESTED_MS
        self._let_go(now_us)

    def _let_go(self, now_us: int) -> None:
        self._pause.step(now_us)  # else the clock's wrap makes an old pause a future one
        self._ramp.reset(0)
        self._integral = 0
        self.effort = self.target_mm_s = 0

    @micropython.native
    def _has_rested(self, speed_mm_s: int, dt_ms: int) -> bool:
        """Return whether the wheels have stood for 100 ms since they were last driven."""
        if self.effort * self._direction > 0:
            self._rest_ms = 0
        elif self._rest_ms < _RESTED_MS:
            is_standing = abs(speed_mm_s) <= self._standstill
            self._rest_ms = self._rest_ms + dt_ms if is_standing else 0
        return self._rest_ms >= _RESTED_MS

    @micropython.native
    def follow(self, target_mm_s: int, speed_mm_s: int, now_us: int, dt_ms: int) -> None:
        """Drive for one step towards a target that is within the car's limits."""
        away = target_mm_s * self._ramp.value >= 0 and abs(target_mm_s) > abs(self._ramp.value)
        rate_max = self._accel if away else self._decel
        ramped = self._ramp.follow(target_mm_s, rate_max, self._jerk, dt_ms)
        self.target_mm_s = ramped
        has_rested = self._has_rested(speed_mm_s, dt_ms)
        if ramped == 0 and (has_rested or abs(speed_mm_s) <= self._standstill):
            self._integral = 0  # at rest is at rest: no creeping on an old integral
            self._put_out(0, speed_mm_s, now_us)
        else:
            self._put_out(self._loop(ramped, speed_mm_s, dt_ms), speed_mm_s, now_us)

    def brake(self, speed_mm_s: int, is_trusted: bool, now_us: int, dt_ms: int) -> None:
        """Brake for one step against the measured motion; neutral if that is not known (S1).

        Letting go of the drive is immediate; how the brake comes on is limited by its jerk.
        """
        is_known = self._is_signed and is_trusted
        if (
            self._has_rested(speed_mm_s, dt_ms)
            or not is_known
            or abs(speed_mm_s) <= self._standstill
        ):
            self._let_go(now_us)
            return
        if self._ramp.value * speed_mm_s <= 0 or abs(self._ramp.value) > abs(speed_mm_s) + _AHEAD:
            self._ramp.reset(speed_mm_s)  # from what the wheels do, not from what was asked
            self._integral = 0
        ramped = self._ramp.follow(0, self._brake_decel, self._brake_jerk, dt_ms)
        self.target_mm_s = ramped
        # feed-forward by the ramp's rate: a loop alone loses the first tenths of a second. Shorted
        # windings brake in proportion to the speed: at twice the speed half the effort is as much.
        most = self._brake_max
        if abs(speed_mm_s) > self._brake_full:
            most = most * self._brake_full // abs(speed_mm_s)
        forward = most * abs(self._ramp.rate) // self._brake_decel
        error = clamped(abs(ramped) - abs(speed_mm_s), -_ERROR_MAX, _ERROR_MAX)
        effort = clamped(error * self._gain // 1000 - forward, -most, 0)
        self._put_out(effort if speed_mm_s > 0 else -effort, speed_mm_s, now_us)

    @micropython.native
    def _loop(self, ramped: int, speed_mm_s: int, dt_ms: int) -> int:
        error = clamped(ramped - speed_mm_s, -_ERROR_MAX, _ERROR_MAX)
        forward = clamped(ramped, -self._full_mm_s, self._full_mm_s) * _FULL // self._full_mm_s
        wanted = forward + error * self._gain // 1000 + self._integral // 1000
        # what drives on is bounded by the feed-forward, so that a lying encoder gains little
        if ramped > 0 or (ramped == 0 and speed_mm_s >= 0):
            low = -self._effort_max if self._is_signed else 0  # no braking against a guess (S1)
            high = min(forward + self._correction_max, self._effort_max)
        else:
            low = max(forward - self._correction_max, -self._effort_max)
            high = self._effort_max
        effort = clamped(wanted, low, high)
        slows = effort * speed_mm_s < 0  # anti-windup: no integration while it brakes
        if not slows and (wanted == effort or (wanted > effort) != (error > 0)):  # nor at a limit
            step = error * self._gain_i // 1000 * dt_ms
            limit = self._effort_max * 500  # half of the effort
            self._integral = clamped(self._integral + step, -limit, limit)
        return effort

    def _put_out(self, effort: int, speed_mm_s: int, now_us: int) -> None:
        """Put out an effort that drives on or brakes; a change of direction waits for its pause."""
        self._pause.step(now_us)
        if self._has_left_reverse and speed_mm_s > self._standstill:
            self._direction = 1  # braked past standstill: it rolls forward, in the forward gear
            self._has_left_reverse = False
        direction = self._direction
        opposes = effort * direction < 0
        rolls = speed_mm_s * direction > self._standstill
        if opposes and rolls:
            most = self._brake_max if self._rest_ms < _RESTED_MS else 0
            self.effort = clamped(effort, -most, most)
            if direction < 0 and self.effort:
                self._has_left_reverse = True
            self._pause.set(now_us, self._pause_us)
        elif opposes:
            self._turn_round(effort, now_us)
        elif self._has_left_reverse:
            self._return_to_reverse(effort, rolls, now_us)
        else:
            self.effort = effort

    def _turn_round(self, effort: int, now_us: int) -> None:
        """Change the direction: only from standstill, and after a pause in neutral."""
        if self._pause.is_open:
            self.effort = 0
        elif self.effort * self._direction > 0:
            self.effort = 0
            self._pause.set(now_us, self._pause_us)
        else:
            self._direction = -self._direction
            self._has_left_reverse = False
            self.effort = effort

    def _return_to_reverse(self, effort: int, rolls: bool, now_us: int) -> None:
        """Drive in reverse again after it was braked there, from standstill and after the pause.

        The brake left the ESC in its forward gear, in which reverse is a brake again.
        """
        if rolls:
            self._pause.set(now_us, self._pause_us)
        if self._pause.is_open:
            self._let_go(now_us)
        else:
            self._has_left_reverse = False
            self.effort = effort
