"""Stops and questions without a key: anyone may stop a car, and learn which one it is.

A frame is decoded and made anew, so that nothing else hides in it. The first Stop after a quiet
time goes to the car at once. Of more, one goes every 10 ms, the senders in turn: they are limited,
never refused. An answer is at most a byte longer than what it answers, and goes only to who asked.
"""

from __future__ import annotations

from collections import Counter, OrderedDict

from firmware.protocol.messages import Identify, Identity, Stop, StopSeen
from host_bridge.link.protocol import wire
from host_bridge.sharing.network.sealed.handshake import Address

_APART_US = 10_000  # the board's step, which acknowledges one token
_SENDERS = 64  # whose Stops wait
_ASKED = 256  # tokens whose answers are awaited
_ANSWER_US = 1_000_000  # for which an answer goes back
_QUESTION_APART_US = 50_000  # 20 a second, of all
_ONE_LONGER = 1


class OpenStops:
    """The Stops and questions of strangers to one car; ``counts`` has refusals by cause."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self._waiting: OrderedDict[Address, bytes] = OrderedDict()
        self._asked: OrderedDict[tuple[int, int, Address], tuple[int, int]] = OrderedDict()
        self._next_us = 0
        self._next_question_us = 0

    def hear(self, datagram: bytes, address: Address, now_us: int) -> list[bytes]:
        """Take a datagram; return the frames that go to the car now."""
        frames: list[bytes] = []
        if len(datagram) > 64:  # bytes, as network_stop pads them
            self.counts["wrong length"] += 1
            return frames
        heard = wire.Decoder().feed(datagram + b"\0")
        message = heard[0] if len(heard) == 1 else None
        if isinstance(message, Stop):
            frame = wire.encode(message)
            self._note(StopSeen.ID, message.token, address, len(datagram), now_us)
            if now_us < self._next_us:
                self._wait(address, frame)
            else:
                self._next_us = now_us + _APART_US
                frames.append(frame)
        elif isinstance(message, Identify) and not any(message.challenge):
            if now_us >= self._next_question_us:
                self._next_question_us = now_us + _QUESTION_APART_US
                self._note(Identity.ID, message.token, address, len(datagram), now_us)
                frames.append(wire.encode(message))
            else:
                self.counts["too many questions"] += 1
        else:
            self.counts["not a stop"] += 1
        return frames

    def step(self, now_us: int) -> list[bytes]:
        """Return the Stop that has waited for its turn, if there is one."""
        if not self._waiting or now_us < self._next_us:
            return []
        self._next_us = now_us + _APART_US
        return [self._waiting.popitem(last=False)[1]]

    def answers(self, frames: bytes, now_us: int) -> list[tuple[bytes, Address]]:
        """Return which frames of the car go back to whom."""
        found: list[tuple[bytes, Address]] = []
        for message in wire.Decoder().feed(frames):
            if not isinstance(message, StopSeen | Identity):
                continue
            frame = wire.encode(message)
            key = (message.ID, message.token)
            for asked, (size, until_us) in list(self._asked.items()):
                if asked[:2] == key and now_us < until_us:
                    del self._asked[asked]
                    if len(frame) <= size + _ONE_LONGER:
                        found.append((frame, asked[2]))
        return found

    def _note(self, kind: int, token: int, address: Address, size: int, now_us: int) -> None:
        self._asked[kind, token, address] = (size, now_us + _ANSWER_US)
        while len(self._asked) > _ASKED:
            self._asked.popitem(last=False)

    def _wait(self, address: Address, frame: bytes) -> None:
        self._waiting[address] = frame
        if len(self._waiting) > _SENDERS:  # each of them stops the same car
            self._waiting.popitem(last=False)
