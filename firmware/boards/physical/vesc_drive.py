"""A VESC as a board's drive, and perhaps its servo: an ESC's pulses become its commands.

So the car's program needs no other kind of channel. An effort against the motion that the VESC
itself reports, or against the direction that it was driven in, is sent as a braking current, which
never turns the wheels round; only after neutral at rest does it drive in the other direction.
Neutral lets the motor go. Its values are asked for on every other step. The guard cannot reach it
behind its line: its kill-switch input is wired to the drive enable, and its own timeout is set
below 0.2 s. Once the drive is off it is told to let go for a while, and then told nothing more: so
it times out at each rest and reports after how long, which ``tandem selftest`` looks at.
"""

from firmware.boards.physical.channels import is_pulse
from firmware.compat import TYPE_CHECKING
from firmware.drivers.outputs.vesc import STATUS_TIMEOUT, Vesc
from firmware.drivers.outputs.vesc_check import DUTY, NOTHING, VescCheck
from firmware.drivers.ticks import age_us

if TYPE_CHECKING:
    from machine import UART

SILENCE_US = 100_000  # five replies
_RELEASE_US = 300_000  # if its kill switch is not wired, its last command shall be no duty
_LONGEST_MS = 5_000  # of the report: five times what the motor's timeout usually is
_FULL = 10_000  # of effort: a duty of all the time, in 1/10000
_STANDS_ERPM = 100  # a twentieth of a turn a second is no direction
_SETTLE_US = 300_000  # from a new duty until it has to be there: a motor takes its time
_TOLERANCE_PERMILLE = 50  # of the whole duty, between what was asked and what it measures
# The voltage until it has answered once: it starts slower than a board, and no brown-out is to be
# latched. Until then its outputs do not read back, which keeps the car from driving.
_UNKNOWN_MV = 60_000
_LOST = 0  # read back while it is silent: no pulse, so that it differs from any


class VescDrive:
    """The VESC's line, read once a step by ``step``; wheel counts and battery voltage come with it.

    ``duty_max`` in 1/10000 and ``brake_max_ma`` are what full effort is.
    """

    def __init__(self, uart: "UART", duty_max: int, brake_max_ma: int) -> None:
        self.vesc = Vesc(uart, SILENCE_US)
        self.effort = 0  # in 1/10000
        # Seen of the VESC's own timeout, the last time that the drive was off: how long after the
        # last command it released the motor (0: not yet), and its largest braking current
        self.timeout_ms = 0
        self.brake_ma = 0
        self._is_enabled = False
        self._off_us = 0
        self._told_us = 0
        self._now_us = 0
        self._duty_max = duty_max
        self._brake_max_ma = brake_max_ma
        self._check = VescCheck(_SETTLE_US, 0, 0, _TOLERANCE_PERMILLE)
        self._asks = False
        self._is_forward = True  # the direction that it drives in
        self._may_turn = False  # it has been let go at rest
        self._is_braking = False

    def step(self, now_us: int) -> None:
        reports = self.vesc.reports
        replies = reports.replies
        self.vesc.step(now_us)
        self._check.step(now_us, reports.erpm, reports.motor_ma, reports.duty_permille)
        self._now_us = now_us
        if not self._is_enabled and reports.replies != replies:
            self._watch_alone(now_us)
        self._asks = not self._asks
        if self._asks:
            self.vesc.ask()
        duty = self.effort * self._duty_max // (_FULL * 10)
        self._check.ask(now_us, DUTY if self.effort and not self._is_braking else NOTHING, duty)

    def enable(self, is_enabled: bool) -> None:
        """Set whether its kill switch lets it drive; called before each ``drive``."""
        if is_enabled:
            self.timeout_ms = self.brake_ma = 0
        elif self._is_enabled:
            self._off_us = self._now_us
        self._is_enabled = is_enabled

    def _watch_alone(self, now_us: int) -> None:
        reports = self.vesc.reports
        if reports.erpm > _STANDS_ERPM:
            self.brake_ma = max(self.brake_ma, -reports.motor_ma)
        if reports.status & STATUS_TIMEOUT and not self.timeout_ms:
            self.timeout_ms = min(max(age_us(now_us, self._told_us) // 1000, 1), _LONGEST_MS)

    def drive(self, effort: int) -> None:
        self.effort = effort
        if not self._is_enabled and age_us(self._now_us, self._off_us) > _RELEASE_US:
            return
        self._told_us = self._now_us
        if effort == 0:
            self._may_turn = self._may_turn or abs(self.vesc.reports.erpm) <= _STANDS_ERPM
            self.vesc.set_current(0)
            return
        self._is_braking = self._is_to_brake(effort > 0)
        if self._is_braking:
            self.vesc.set_brake(abs(effort) * self._brake_max_ma // _FULL)
        else:
            self.vesc.set_duty(effort * self._duty_max // _FULL)

    def _is_to_brake(self, is_forward: bool) -> bool:
        """Return whether an effort is to be a braking current, at rest, too.

        At rest the same duty would drive the wheels the other way.
        """
        if is_forward != self._is_forward:
            if not self._may_turn:
                return True
            self._is_forward = is_forward
        self._may_turn = False
        erpm = self.vesc.reports.erpm
        return abs(erpm) > _STANDS_ERPM and (erpm > 0) != is_forward

    def obeys(self) -> bool:
        """Return whether it answers, and with what was asked, for which it has some time."""
        return self.vesc.freshness.is_fresh and not self._check.differs

    @property
    def fet_c(self) -> int:
        return self.vesc.reports.fet_mdegc // 1000

    @property
    def mv(self) -> int:
        """The battery's voltage as it measures it; 0 once it has fallen silent."""
        reports = self.vesc.reports
        if reports.replies == 0:
            return _UNKNOWN_MV
        return reports.input_mv if self.vesc.freshness.is_fresh else 0

    @property
    def count(self) -> int:
        """The count of its tachometer, modulo 2**30."""
        return self.vesc.reports.tachometer

    def read(self, now_us: int) -> None:
        """Do nothing: its counts came with ``step``."""


class VescChannel:
    """The drive channel: an ESC's pulses, whose ends are full effort."""

    def __init__(self, line: VescDrive, reverse_ns: int, neutral_ns: int, forward_ns: int) -> None:
        self._line = line
        self._neutral_ns = neutral_ns
        self._forward_us = (forward_ns - neutral_ns) // 1000
        self._reverse_us = (neutral_ns - reverse_ns) // 1000
        self._pulse_ns = neutral_ns

    def begin(self, fallback: int) -> None:
        """Do nothing: it falls back to neutral always, from which its commands are made."""

    def end(self) -> None:
        """Do nothing: an interrupt may come while half a command is on its way."""

    def write(self, value: int) -> None:
        if is_pulse(value):
            self._pulse_ns = value
            away_us = (value - self._neutral_ns) // 1000
            span_us = self._forward_us if away_us > 0 else self._reverse_us
            self._line.drive(max(-_FULL, min(_FULL, away_us * _FULL // span_us)))

    def read_back(self) -> int:
        return self._pulse_ns if self._line.obeys() else _LOST


class VescServo:
    """Steering by the VESC's servo output: 1000 to 2000 us."""

    def __init__(self, vesc: Vesc) -> None:
        self._vesc = vesc
        self._pulse_ns = 0

    def begin(self, fallback: int) -> None:
        """Do nothing: it holds its place."""

    def end(self) -> None:
        """Do nothing: it holds its place."""

    def write(self, value: int) -> None:
        if is_pulse(value):
            self._pulse_ns = value
            self._vesc.set_servo((value - 1_000_000) // 1000)

    def read_back(self) -> int:
        return self._pulse_ns
