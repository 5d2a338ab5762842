"""From effort and steering to the value of each output channel, inside its calibrated range."""

from firmware.compat import TYPE_CHECKING
from firmware.core.limits import clamped
from firmware.core.params import (
    CHANNEL_ESC,
    CHANNEL_NONE,
    CHANNEL_SERVO,
    CHANNELS,
)

if TYPE_CHECKING:
    from firmware.core.params import Params
    from firmware.core.steering import Steering


class OutputStage:
    def __init__(self) -> None:
        self.values = [0] * CHANNELS
        self._kinds = [CHANNEL_NONE] * CHANNELS
        self._lows: "list[int]" = []
        self._neutrals: "list[int]" = []
        self._highs: "list[int]" = []

    def configure(self, params: "Params") -> None:
        self._kinds = params.get_all("channel_kind")
        self._lows = params.get_all("channel_low")
        self._neutrals = params.get_all("channel_neutral")
        self._highs = params.get_all("channel_high")
        for channel in range(CHANNELS):
            self.values[channel] = self._neutrals[channel]

    def step(self, effort: int, steering: "Steering") -> None:
        for channel in range(CHANNELS):
            kind = self._kinds[channel]
            if kind == CHANNEL_NONE:
                continue
            if kind == CHANNEL_SERVO:
                value = steering.pulse_ns(channel)
            elif kind == CHANNEL_ESC:
                value = self._esc_pulse_ns(channel, effort)
            else:  # an H-bridge takes the effort itself
                value = effort * self._highs[channel] // 10_000
            self.values[channel] = clamped(value, self._lows[channel], self._highs[channel])

    def _esc_pulse_ns(self, channel: int, effort: int) -> int:
        neutral = self._neutrals[channel]
        span = self._highs[channel] - neutral if effort > 0 else neutral - self._lows[channel]
        return neutral + span // 10 * effort // 1000  # 1 ms of span times 10000 is 30 bits
