"""Queries whether the terminal reports the release of keys, and whether it is still responding.

Kitty's protocol: ``CSI ? u`` asks for the flags that are on, ``CSI > flags u`` pushes new ones,
``CSI < u`` pops them. Every terminal answers ``CSI c``, so one that does not know the protocol is
recognised by answering that alone.
"""

from __future__ import annotations

from collections import deque
from enum import Enum

FLAGS = 1 | 2 | 8  # unambiguous codes, releases too, all keys as codes
ASK = b"\x1b[?u"
PUSH = b"\x1b[>%du" % FLAGS
POP = b"\x1b[<u"
_ASK_ATTRIBUTES = b"\x1b[c"
_VERDICT_US = 1_000_000  # a terminal at the far end of a slow line answers late
_BEAT_US = 50_000  # between two questions: four within ANSWER_US
ANSWER_US = 200_000  # firmware/core/SAFETY.md: a frozen input is noticed within 200 ms


class ReleaseSupport(Enum):
    """The answer to the question whether the terminal reports the release of a key."""

    UNKNOWN = "still being found out"
    REPORTED = "reported"
    NOT_REPORTED = "not reported"


class ReleaseQuery:
    """The query at the start; ``verdict`` changes once, and stays.

    The flags are pushed only if the question was understood, and are then asked for again: a
    terminal that supports only a part of the protocol counts as one without it.
    """

    def __init__(self) -> None:
        self.verdict = ReleaseSupport.UNKNOWN
        self._until_us: int | None = None  # the deadline for the terminal's answer
        self._has_pushed = False

    def opening(self) -> bytes:
        return ASK + _ASK_ATTRIBUTES

    def hear_flags(self, flags: int) -> bytes:
        """Take the flags that the terminal reports; return the bytes to send."""
        if self.verdict is not ReleaseSupport.UNKNOWN:
            return b""
        if not self._has_pushed:
            self._has_pushed = True
            return PUSH + ASK
        has_all = flags & FLAGS == FLAGS
        self.verdict = ReleaseSupport.REPORTED if has_all else ReleaseSupport.NOT_REPORTED
        return b"" if has_all else POP

    def hear_attributes(self) -> None:
        if not self._has_pushed:
            self._decide_against()

    def step(self, now_us: int) -> bytes:
        if self._until_us is None:  # counts from now: opening the cars may have taken long
            self._until_us = now_us + _VERDICT_US
        if self.verdict is ReleaseSupport.UNKNOWN and now_us >= self._until_us:
            self._decide_against()
            return POP if self._has_pushed else b""
        return b""

    def _decide_against(self) -> None:
        if self.verdict is ReleaseSupport.UNKNOWN:
            self.verdict = ReleaseSupport.NOT_REPORTED


class LivenessProbe:
    """The heartbeat of the terminal: asks it again and again, while a key is held, for its flags.

    If a release is never sent, because the terminal or the line to it hangs, it cannot be told from
    a key that is held. But then the oldest question stays unanswered for longer than ANSWER_US.
    """

    def __init__(self) -> None:
        self._asked_us: deque[int] = deque()
        self._given_up = 0  # abandoned questions: their late answers must not count for new ones
        self._beat_us = 0

    def is_dead(self, now_us: int) -> bool:
        return bool(self._asked_us) and now_us - self._asked_us[0] > ANSWER_US

    def hear_flags(self, flags: int) -> bool:
        """Take an answer; return False if releases are no longer reported.

        Then something has reset the terminal.
        """
        if self._given_up:
            self._given_up -= 1
        elif self._asked_us:
            self._asked_us.popleft()
        return flags & FLAGS == FLAGS

    def step(self, now_us: int) -> bytes:
        if now_us < self._beat_us or self.is_dead(now_us):
            return b""
        self._beat_us = now_us + _BEAT_US
        self._asked_us.append(now_us)
        return ASK

    def give_up(self) -> None:
        """Begin anew after the terminal was found dead, and the deadman released for it."""
        self._given_up += len(self._asked_us)
        self._asked_us.clear()
