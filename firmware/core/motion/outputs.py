"""The output stage: from effort, brake and steering to channel values in calibrated ranges."""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.motion.limits import clamped
from firmware.core.settings.params import (
    CHANNEL_BRAKE,
    CHANNEL_ESC,
    CHANNEL_H_BRIDGE,
    CHANNEL_NONE,
    CHANNEL_SERVO,
    CHANNELS,
)
from firmware.protocol.codes import ACTUATOR_COUNT

if TYPE_CHECKING:
    from firmware.core.motion.steering import Steering
    from firmware.core.settings.params import Params


const = micropython.const

_FULL_LEVEL = const(255)
_PULSE_AWAY_NS = const(5_000)  # 5 us of 500: what a timer's grain and a read-back may be wrong by
_DUTY_AWAY = const(100)  # one percent
_AWAY_STEPS = const(2)  # a gate that fell between two reads differs for one step


class OutputStage:
    """The value of each channel, the drive enable, and whether the read-back differs from them."""

    def __init__(self) -> None:
        self.values = [0] * CHANNELS
        self.fallbacks = [0] * CHANNELS  # what a channel returns to unless renewed; -1: it stays
        self.levels = [0] * ACTUATOR_COUNT  # by actuator, of lights and auxiliary outputs
        self.is_enabled = False  # the drive has power, as of the last step
        self.differs = False  # what was read back is not what was written
        self._actuators = [0] * CHANNELS
        self._away_steps = 0
        self._fitted: "tuple[int, ...]" = ()  # the channels in use
        self._kinds = [CHANNEL_NONE] * CHANNELS
        self._lows: "list[int]" = []
        self._neutrals: "list[int]" = []
        self._highs: "list[int]" = []

    def configure(self, params: "Params") -> None:
        self._kinds = params.get_all("channel_kind")
        self._lows = params.get_all("channel_low")
        self._neutrals = params.get_all("channel_neutral")
        self._highs = params.get_all("channel_high")
        self._actuators = params.get_all("channel_actuator")
        kinds = self._kinds
        self._fitted = tuple([i for i in range(CHANNELS) if kinds[i] != CHANNEL_NONE])
        for channel in range(CHANNELS):
            self.values[channel] = self._neutrals[channel]
            fallback = self._neutrals[channel]
            if kinds[channel] == CHANNEL_SERVO:
                fallback = -1
            elif kinds[channel] == CHANNEL_BRAKE:  # it brakes once nobody commands it
                fallback = self._level(channel, _FULL_LEVEL)
            self.fallbacks[channel] = fallback

    @micropython.native
    def verify(self, read_back: "list[int]", enable: bool) -> None:
        """Compare the read-back with the last step's values; ``differs`` after two steps in a row.

        Drive and brake channels are compared only while the drive is enabled.
        """
        is_away, kinds, values = False, self._kinds, self.values
        for channel in self._fitted:
            kind = kinds[channel]
            if not enable and (
                kind == CHANNEL_ESC or kind == CHANNEL_H_BRIDGE or kind == CHANNEL_BRAKE
            ):
                continue  # at its fallback while the guard gates
            most = _DUTY_AWAY if kind == CHANNEL_H_BRIDGE else _PULSE_AWAY_NS
            if abs(read_back[channel] - values[channel]) > most:
                is_away = True
        self._away_steps = min(self._away_steps + 1, _AWAY_STEPS) if is_away else 0
        self.differs = self._away_steps == _AWAY_STEPS

    @micropython.native
    def step(self, effort: int, brake: int, steering: "Steering") -> None:
        """Compute each channel's value; ``brake`` is 0 to 255, ``levels`` are set beforehand."""
        kinds, values = self._kinds, self.values  # four at once would be a tuple on the heap
        lows, highs = self._lows, self._highs
        for channel in self._fitted:
            kind = kinds[channel]
            if kind == CHANNEL_SERVO:
                value = steering.pulse_ns(channel)
            elif kind == CHANNEL_ESC:
                value = self._esc_pulse_ns(channel, effort)
            elif kind == CHANNEL_H_BRIDGE:  # takes the effort itself
                value = effort * highs[channel] // 10_000
            elif kind == CHANNEL_BRAKE:
                value = self._level(channel, brake)
            else:
                value = self._level(channel, self.levels[self._actuators[channel]])
            values[channel] = clamped(value, lows[channel], highs[channel])

    def has_brake(self) -> bool:
        return CHANNEL_BRAKE in self._kinds

    def _level(self, channel: int, level: int) -> int:
        """Return the value at ``level`` of 255, from neutral to the farther end of the range."""
        low, neutral = self._lows[channel], self._neutrals[channel]
        up, down = self._highs[channel] - neutral, neutral - low
        return neutral + (up if up >= down else -down) * level // _FULL_LEVEL

    def _esc_pulse_ns(self, channel: int, effort: int) -> int:
        neutral = self._neutrals[channel]
        span = self._highs[channel] - neutral if effort > 0 else neutral - self._lows[channel]
        return neutral + span // 10 * effort // 1000  # 1 ms of span times 10000 is 30 bits
