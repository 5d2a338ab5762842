"""A hand-held RC transmitter and its receiver: sticks and switches in, pulses and frames out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sim_mock.sensors.encoder import COUNTER_MASK

FRAME_US = 20_000  # 50 Hz, as servo pulses come
_STOP, _MANUAL, _AUTONOMY = -1.0, 0.0, 1.0
_POSITIONS = {"stop": _STOP, "manual": _MANUAL, "autonomy": _AUTONOMY}


class Transmitter:
    """A hand-held RC transmitter with its receiver.

    Sticks are -1 to 1, left and forward positive; ``mode`` is stop, manual or autonomy. ``is_on``
    False is a lost radio: the receiver then does what ``failsafe`` says, ``silent`` (no pulses),
    ``flag`` (frames that say so) or ``hold`` (the last frame again and again).
    """

    def __init__(self, parameters: Mapping[str, Sequence[int]]) -> None:
        self.steering = 0.0
        self.throttle = 0.0
        self.live_man = False
        self.mode = "manual"
        self.is_on = True
        self.failsafe = "silent"
        self._low = parameters["rc_low_us"]
        self._centre = parameters["rc_centre_us"]
        self._high = parameters["rc_high_us"]
        self._pulses = [0, 0, 0, 0]
        self._frames = 0
        self._next_us: int | None = None

    def run(self, now_us: int) -> None:
        """Receive the frames that are due."""
        if self._next_us is None:
            self._next_us = now_us
        while self._next_us <= now_us:
            self._next_us += FRAME_US
            self._frame()

    def _frame(self) -> None:
        if self.is_on:
            switch = 1.0 if self.live_man else -1.0
            values = (self.steering, self.throttle, switch, _POSITIONS[self.mode])
            self._pulses = [self._pulse_us(i, value) for i, value in enumerate(values)]
        elif self.failsafe == "silent":
            return
        self._frames = self._frames + 1 & COUNTER_MASK

    def _pulse_us(self, channel: int, value: float) -> int:
        end = self._high[channel] if value > 0 else self._low[channel]
        return round(self._centre[channel] + abs(value) * (end - self._centre[channel]))

    def readings(self) -> tuple[int, ...]:
        """Return the four pulses in us, the count of frames, and whether failsafe is flagged."""
        says_so = int(not self.is_on and self.failsafe == "flag")
        return (*self._pulses, self._frames, says_so)


# The script of a round: time in s from its start, live-man switch, throttle, steering, mode.
# The arming gesture comes twice: the first one clears the stop that ended the round before.
_ROUND: tuple[tuple[float, bool, float, float, str], ...] = (
    (0.0, False, 0.0, 0.0, "manual"),
    (8.0, True, 0.0, 0.0, "manual"),
    (8.5, False, 0.0, 0.0, "manual"),
    (10.0, True, 0.0, 0.0, "manual"),
    (10.5, True, 0.2, 0.3, "manual"),
    (13.5, True, 0.2, -0.3, "manual"),
    (16.5, True, 0.0, 0.0, "manual"),
    (18.0, False, 0.0, 0.0, "stop"),
)
_ROUND_US = 20_000_000


class ScriptedHand(Transmitter):
    """A transmitter that arms its car by the gesture, drives two bends, stops it, and repeats.

    It serves to try what follows a car that its RC drives, without a transmitter at hand.
    """

    def run(self, now_us: int) -> None:
        place_s = now_us % _ROUND_US * 1e-6
        for begin_s, live_man, throttle, steering, mode in _ROUND:
            if place_s >= begin_s:
                self.live_man, self.throttle, self.steering = live_man, throttle, steering
                self.mode = mode
        super().run(now_us)
