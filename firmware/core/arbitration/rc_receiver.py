"""The RC receiver on the board: its pulses become the claims of a source, and the gesture.

Channels: steering, throttle, a live-man switch that a person holds, and a switch with the positions
stop, manual, autonomy. Each new frame makes one claim, so that a receiver that stops sending falls
silent as a source. A receiver that repeats its last frame when the radio is lost cannot be told
from a steady hand: its failsafe has to be set to no pulses (hardware/README.md).
"""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.deadlines import Deadline
from firmware.core.motion.limits import clamped
from firmware.core.settings.params import (
    RC_CHANNELS,
    RC_LIVE_MAN,
    RC_MODE,
    RC_STEERING,
    RC_THROTTLE,
)
from firmware.protocol.codec import fill_values
from firmware.protocol.codes import (
    HELD,
    MODE_AUTONOMY,
    MODE_MANUAL,
    MODE_STOP,
    PERMITS_AUTONOMY,
    SOURCE_RC,
)
from firmware.protocol.messages import Claim

if TYPE_CHECKING:
    from firmware.core.arbitration.source import Source
    from firmware.core.contract import Board
    from firmware.core.settings.params import Params

_SHORTEST_US, _LONGEST_US = 900, 2_100  # what a servo pulse can be
const = micropython.const

_LOSS_US = const(50_000)  # two and a half frames of 20 ms
_GESTURE_US = const(1_000_000)  # released and in neutral for so long, then held
_FULL = const(1_000)  # of a stick's travel, in thousandths
_SWITCHED = const(333)  # a switch's three positions: thirds of its travel


class RcReceiver:
    def __init__(self) -> None:
        self.is_live = False
        self.has_news = False  # a frame came on this step
        self.is_held = False
        self.mode = MODE_STOP
        self.steer = 0  # 1/1000 of full
        self.throttle = 0
        self.gesture = False  # it was made on this step
        self.claim = Claim()
        self.is_fitted = False
        self._frames = -1
        self._live = Deadline()
        self._rests = Deadline()
        self._is_ready = False
        self._values = [0] * RC_CHANNELS
        self._lows: "list[int]" = []
        self._centres: "list[int]" = []
        self._highs: "list[int]" = []
        self._dead_band = 0
        self._steer_max_urad = 0

    def configure(self, params: "Params") -> None:
        self.is_fitted = params.get("rc_fitted") == 1
        self._lows = params.get_all("rc_low_us")
        self._centres = params.get_all("rc_centre_us")
        self._highs = params.get_all("rc_high_us")
        self._dead_band = params.get("rc_dead_band")
        self._steer_max_urad = params.get("steer_max_urad")

    def step(self, board: "Board", now_us: int) -> None:
        self.has_news = self.gesture = False
        if not (self.is_fitted and board.has_receiver):
            return
        self._live.step(now_us)
        if self._frames >= 0 and board.rc_frames != self._frames:
            self._take(board, now_us)
        self._frames = board.rc_frames
        self.is_live = self._live.is_open
        if not self.is_live:
            self.is_held = False
        self._watch_gesture(now_us)

    def _take(self, board: "Board", now_us: int) -> None:
        if board.rc_failsafe:
            return
        self._values[RC_STEERING] = board.rc_steering_us
        self._values[RC_THROTTLE] = board.rc_throttle_us
        self._values[RC_LIVE_MAN] = board.rc_live_man_us
        self._values[RC_MODE] = board.rc_mode_us
        for i in range(RC_CHANNELS):
            if self._highs[i] and not _SHORTEST_US <= self._values[i] <= _LONGEST_US:
                return
        self.has_news = True
        self._live.set(now_us, _LOSS_US)
        self.steer = self._beyond_dead_band(RC_STEERING)
        self.throttle = self._beyond_dead_band(RC_THROTTLE)
        self.is_held = self._deflection(RC_LIVE_MAN) > _SWITCHED
        position = self._deflection(RC_MODE)
        self.mode = MODE_MANUAL
        if position < -_SWITCHED:
            self.mode = MODE_STOP
        elif position > _SWITCHED:
            self.mode = MODE_AUTONOMY

    def _deflection(self, channel: int) -> int:
        """Return a channel's deflection, -1000 at low to 1000 at high; 0 if it is not fitted.

        Low may be the longer pulse.
        """
        away = self._values[channel] - self._centres[channel]
        span = self._highs[channel] - self._centres[channel]
        if away * span < 0:
            span = self._centres[channel] - self._lows[channel]
        return clamped(away * _FULL // span, -_FULL, _FULL) if span else 0

    def _beyond_dead_band(self, channel: int) -> int:
        value = self._deflection(channel)
        beyond = max(abs(value) - self._dead_band, 0) * _FULL // (_FULL - self._dead_band)
        return beyond if value > 0 else -beyond

    def _watch_gesture(self, now_us: int) -> None:
        """Detect the gesture: let go and in neutral for a second, then held by a person."""
        self._rests.step(now_us)
        if not self.is_live or self.throttle or self.mode == MODE_STOP:
            self.begin_again(now_us)
        elif self.is_held:
            self.gesture = self._is_ready
            self.begin_again(now_us)
        elif not self._rests.is_open:
            self._is_ready = True

    def begin_again(self, now_us: int) -> None:
        """Discard a half-made gesture: one begun before a stop or a change does not count."""
        self._is_ready = False
        self._rests.set(now_us, _GESTURE_US)

    def fill_claim(self, source: "Source", epoch: int, now_us: int) -> Claim:
        """Return the newest frame's claim, in the board's own epoch and by the board's time."""
        claim = self.claim
        claim.epoch = epoch
        claim.source = SOURCE_RC
        claim.sequence = claim.sequence + 1 & 0xFFFF
        claim.mask = source.mask if self.mode == MODE_MANUAL else 0
        claim.steer_urad = self.steer * self._steer_max_urad // _FULL
        claim.speed_mm_s = self.throttle * source.cap_mm_s // _FULL
        claim.deadman = 0
        if self.is_held and self.mode == MODE_MANUAL:
            claim.deadman = HELD
        elif self.is_held and self.mode == MODE_AUTONOMY:
            claim.deadman = HELD | PERMITS_AUTONOMY
        claim.input_count = self._frames & 0xFFFF
        claim.lease_ms = max(source.lease_max_ms, 1)
        claim.stamp_us = now_us
        fill_values(claim)
        return claim
