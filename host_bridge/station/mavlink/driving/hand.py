"""The sticks of a station as a person's hand: MANUAL_CONTROL to setpoints. No I/O.

A station sends its newest values again and again, also while its window hangs or its stick is
gone, and numbers no report of the stick. So a stream of packets is no proof of a hand, and only
values that change are one, those of any axis or button: if one changed within 0.2 s, the sticks
drive as fast as the source may, else as fast as a pad that does not show that it lives. After 1 s
of the same values while it drives the deadman has to be let go and held anew. A stick at the very
end of its way is pressed against a stop and shows less: then that is after 3 s.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from host_bridge.core import NEUTRAL_US, DriveCommand, InputLimits
from host_bridge.station.mavlink.messages.frames import left, stick

SOURCE = "remote"  # of the vehicle file: a person who looks at a screen
REST = 0.05  # of a stick's range, as of a pad: springs do not centre it more exactly
ALIVE_US = 200_000  # as a car's frozen_s: a living stick trembles more often
UNPROVEN_MPS = 0.3  # firmware/core/SAFETY.md, Numbers: for a device that cannot prove it is alive
CHANGE_US = 1_000_000  # as for a pad of that kind
END = 0.995  # of a stick's range: stations tell a stop as 1000, calibrated ones a little less
# Chosen: 0.9 m at UNPROVEN_MPS. So long a thumb may rest at the stop before it shows that it lives
END_CHANGE_US = 3_000_000
_COUNT_MASK = 0xFFFF


class DeadmanState(Enum):
    """The state of the hold."""

    NEEDS_RELEASE = "let go, and bring the sticks to rest"
    OPEN = "not held"
    HELD = "drives"


@dataclass(frozen=True)
class Sticks:
    """One MANUAL_CONTROL: forward and to the left, -1 to 1, and the buttons as bits.

    ``all`` has every axis and button as it came, also those that drive nothing: a hand moves them.
    """

    forward: float
    left: float
    buttons: int
    all: tuple[int, ...] = ()

    @classmethod
    def of(cls, message: Any) -> Sticks:
        """Return the sticks of a message: x drives; of r and y the one farther out steers."""
        turns = [left(it) for it in (stick(message.r), stick(message.y)) if it is not None]
        return cls(
            stick(message.x) or 0.0,
            max(turns, key=abs, default=0.0),
            message.buttons,
            tuple(getattr(message, name) for name in _ALL),
        )


_ALL = ("x", "y", "z", "r", "buttons", "buttons2", "s", "t", *(f"aux{n}" for n in range(1, 7)))
_CENTRED = Sticks(0.0, 0.0, 0)


class StickHand:
    """The hand of one station. Times are the host's, in us; ``lease_us`` is its source's.

    A station that is silent during a hold is no release: its last packet grows old, and nothing is
    claimed of it. A hold never begins in a silence.
    ``deadman`` is the number of the button that is held, from 0; None: the packets themselves are
    the hold, which begins with the sticks at rest.
    """

    def __init__(self, limits: InputLimits, lease_us: int, deadman: int | None) -> None:
        self.state = DeadmanState.NEEDS_RELEASE
        self.is_age_told = True  # False: how old a packet is when it arrives is not known
        self._limits = limits
        self._lease_us = lease_us
        self._deadman = deadman
        self._sticks = _CENTRED
        self._heard_us: int | None = None
        self._changed_us = 0
        self._since_us = 0  # of the present state
        self._count = 0

    def hear(self, sticks: Sticks, heard_us: int, now_us: int) -> None:
        """Take a packet. ``heard_us`` is when it was sent at the latest, by our clock."""
        if sticks != self._sticks:
            self._changed_us = now_us
            self._count = self._count + 1 & _COUNT_MASK
        self._sticks, self._heard_us = sticks, heard_us

    def let_go(self) -> None:
        """Require a release before the hold counts again."""
        self.state = DeadmanState.NEEDS_RELEASE

    def begin(self, now_us: int) -> bool:
        """Begin to claim if the hold was released before; it then counts after a moment of neutral.

        The car, too, has to see it released first.
        """
        if self.state is not DeadmanState.OPEN:
            return False
        self._since_us = now_us
        return True

    def step(self, now_us: int) -> DriveCommand:
        """Return the command of this moment; one that nobody sent lately is as old as it is."""
        state = self._next(now_us)
        if state is not self.state:
            self.state, self._since_us = state, now_us
        heard_us = self._heard_us if self._heard_us is not None else 0
        if self.state is not DeadmanState.HELD:
            return DriveCommand(input_count=self._count, heard_us=heard_us)
        is_fresh = now_us - self._since_us < NEUTRAL_US
        return DriveCommand(
            steer_rad=self._sticks.left * self._limits.steer_rad,
            speed_mps=0.0 if is_fresh else self._speed_mps(now_us),
            is_held=True,
            input_count=self._count,
            heard_us=heard_us,
        )

    def _speed_mps(self, now_us: int) -> float:
        forward = self._sticks.forward
        if abs(forward) <= REST:
            return 0.0
        speed_mps = forward * (self._limits.speed_mps if forward > 0 else self._limits.reverse_mps)
        if self.is_age_told and now_us - self._changed_us < ALIVE_US:
            return speed_mps
        return max(-UNPROVEN_MPS, min(speed_mps, UNPROVEN_MPS))

    def _next(self, now_us: int) -> DeadmanState:
        is_at_rest = abs(self._sticks.forward) <= REST
        is_held = self._deadman is None or bool(self._sticks.buttons >> self._deadman & 1)
        if self.state is DeadmanState.HELD:
            if not is_held:
                return DeadmanState.OPEN
            is_at_end = abs(self._sticks.forward) >= END
            limit_us = END_CHANGE_US if is_at_end else CHANGE_US
            is_frozen = not is_at_rest and now_us - self._changed_us >= limit_us
            return DeadmanState.NEEDS_RELEASE if is_frozen else DeadmanState.HELD
        if self._heard_us is None or now_us - self._heard_us >= self._lease_us:
            return DeadmanState.NEEDS_RELEASE
        if self.state is DeadmanState.NEEDS_RELEASE:
            is_released = is_at_rest if self._deadman is None else not is_held
            return DeadmanState.OPEN if is_released else self.state
        if not is_held or now_us - self._since_us < NEUTRAL_US:
            return self.state
        return DeadmanState.HELD if is_at_rest else DeadmanState.NEEDS_RELEASE
