"""The driver's seat at a keyboard: the meaning of the keys, and the state of the deadman.

A terminal that reports the release of keys has a real deadman: SPACE, held down. With any other,
SPACE has to come again within a second, pressed or repeated by being held (which cannot be told
apart), and the source is a slow one.
"""

from __future__ import annotations

from collections.abc import Callable

from host_bridge.core import DriveCommand, InputLimits, OperatorRequest
from host_bridge.inputs.keyboard.keys import KeyEvent, KeyEventKind

SEAT, SLOW_SEAT = "seat", "seat_slow"  # sources of the vehicle file: with key release, and without
PRESS_AGAIN_US = 1_000_000  # longer than any keyboard waits before it repeats a held key
_NEUTRAL_US = (
    150_000  # a car requires neutral from a fresh hold; 15 claims are enough if some are lost
)
_STEPS = 10  # from standstill to full speed, and from centre to full lock


_REQUESTS = {
    "e": OperatorRequest.STOP,
    "x": OperatorRequest.STOP,
    "r": OperatorRequest.ARM,
    "enter": OperatorRequest.ARM,
    "escape": OperatorRequest.QUIT,
}
_CTRL_REQUESTS = {"c": OperatorRequest.INTERRUPT}
_SAFE = (OperatorRequest.STOP, OperatorRequest.QUIT, OperatorRequest.INTERRUPT)


class KeyboardSeat:
    """The seat's state: takes keys, gives commands to the session."""

    def __init__(self, limits: InputLimits, has_releases: bool) -> None:
        self.limits = limits
        self.has_releases = has_releases
        self.speed_mps = 0.0  # the setpoint by W and S; it changes only while held
        self.steer_rad = 0.0
        self._held_since_us: int | None = None
        self._until_us = 0
        self._key_count = 0
        self._moves: dict[str, Callable[[], None]] = {
            "w": lambda: self._change_speed(1),
            "s": lambda: self._change_speed(-1),
            "a": lambda: self._change_steer(1),
            "d": lambda: self._change_steer(-1),
            "q": self._centre,
        }

    def read(self, now_us: int) -> DriveCommand:
        is_held = self.is_held(now_us)
        speed_mps = self.speed_mps if is_held and not self.is_beginning(now_us) else 0.0
        return DriveCommand(self.steer_rad, speed_mps, is_held=is_held, input_count=self._key_count)

    def is_held(self, now_us: int) -> bool:
        if self._held_since_us is None:
            return False
        return self.has_releases or now_us < self._until_us

    def is_beginning(self, now_us: int) -> bool:
        """Return whether the hold is so new that the car is still shown neutral."""
        return self._held_since_us is not None and now_us < self._held_since_us + _NEUTRAL_US

    def left_us(self, now_us: int) -> int | None:
        """Return the time in us until the deadman drops by itself; None if it does not."""
        is_timed = not self.has_releases and self.is_held(now_us)
        return self._until_us - now_us if is_timed else None

    def let_go(self) -> None:
        """Release the deadman, so that driving begins again from neutral."""
        self._held_since_us = None
        self.speed_mps = 0.0

    def step(self, now_us: int) -> None:
        if not self.is_held(now_us):
            self.let_go()

    def on_key(self, key: KeyEvent, now_us: int) -> OperatorRequest | None:
        """Take one key; return the request that it makes, or None."""
        self.step(now_us)
        self._key_count = self._key_count + 1 & 0xFFFF
        request = (_CTRL_REQUESTS if key.has_ctrl else _REQUESTS).get(key.name)
        if request:
            return self._request_by(request, key)
        if key.name == "z" and key.has_ctrl:
            self.let_go()
        elif key.name == "space":
            self._on_deadman_key(key, now_us)
        elif self._is_a_press(key) and not key.has_ctrl:
            self._moves.get(key.name, _nothing)()
        return None

    def _request_by(self, request: OperatorRequest, key: KeyEvent) -> OperatorRequest | None:
        if key.kind in (KeyEventKind.RELEASED, KeyEventKind.REPEATED):
            return None
        if not self._is_a_press(key) and request not in _SAFE:
            return None
        self.let_go()
        return request

    def _is_a_press(self, key: KeyEvent) -> bool:
        """Return whether a key was pressed: not for a release.

        Where releases are reported, a plain byte is not a press either: it was pasted or is stray.
        """
        is_stray = self.has_releases and key.kind is KeyEventKind.TYPED
        return key.kind is not KeyEventKind.RELEASED and not is_stray

    def _on_deadman_key(self, key: KeyEvent, now_us: int) -> None:
        if key.kind is KeyEventKind.RELEASED or key.has_ctrl:
            self.let_go()
        elif not self.has_releases or key.kind is KeyEventKind.PRESSED:
            self._hold(now_us)

    def _hold(self, now_us: int) -> None:
        self._until_us = now_us + PRESS_AGAIN_US
        if self._held_since_us is None:
            self._held_since_us = now_us

    def _change_speed(self, steps: int) -> None:
        if self._held_since_us is not None:
            wanted = self.speed_mps + steps * self.limits.speed_mps / _STEPS
            self.speed_mps = _within(wanted, -self.limits.reverse_mps, self.limits.speed_mps)

    def _change_steer(self, steps: int) -> None:
        wanted = self.steer_rad + steps * self.limits.steer_rad / _STEPS
        self.steer_rad = _within(wanted, -self.limits.steer_rad, self.limits.steer_rad)

    def _centre(self) -> None:
        self.steer_rad = 0.0


def _within(value: float, low: float, high: float) -> float:
    """Clamp, and round to 0.0001, so that as many steps back as forth end at 0."""
    return round(min(max(value, low), high), 4)


def _nothing() -> None:
    """Do nothing, for a key without a meaning."""
