"""Stops and questions without a key: anyone may stop a car, and learn which one it is.

A frame is decoded and made anew, so that nothing else hides in it. The first Stop after a quiet
time goes to the car at once. Of more, one goes every 10 ms, the senders in turn: they are limited,
never refused. An answer is at most a byte longer than what it answers, and goes only to who asked.
"""

from __future__ import annotations

from collections import Counter, OrderedDict
from typing import NamedTuple

from firmware.protocol.messages import Identify, Identity, Stop, StopSeen
from host_bridge.link.protocol import wire
from host_bridge.sharing.network.sealed.handshake import Address
from host_bridge.sharing.network.stops import fleet_messages

_APART_US = 10_000  # the board's step, which acknowledges one token
_SENDERS = 64  # whose Stops wait
_ASKED = 256  # addresses whose answers are awaited
_ANSWER_US = 1_000_000  # for which an answer goes back
_QUESTION_APART_US = 50_000  # 20 a second, of all
_ONE_LONGER = 1


class _Question(NamedTuple):
    """A question of somebody: how long it was, until when, and whether as a fleet."""

    token: int
    size: int
    until_us: int
    is_fleets: bool = False


class OpenStops:
    """The Stops and questions of strangers to one car; ``counts`` has refusals by cause.

    A fleet's Stop counts if it means ``fleet_tag``, or every car. Its answer has the car's name.
    """

    def __init__(self, board_id: bytes) -> None:
        self.counts: Counter[str] = Counter()
        self.fleet_tag = fleet_messages.EVERY_CAR  # of a car that is in no fleet
        self.car_name = ""
        self._board_id = board_id
        self._waiting: OrderedDict[Address, bytes] = OrderedDict()
        # The newest question of each kind from an address: a flood of one takes no other's place
        self._asked: OrderedDict[tuple[int, Address], _Question] = OrderedDict()
        self._next_us = 0
        self._next_question_us = 0

    def hear(self, datagram: bytes, address: Address, now_us: int) -> list[bytes]:
        """Take a datagram; return the frames that go to the car now."""
        frames: list[bytes] = []
        if len(datagram) > 64:  # bytes: a stop of a fleet
            self.counts["wrong length"] += 1
            return frames
        is_fleets = datagram[0] == fleet_messages.FLEET_STOP
        if is_fleets:
            tag, frame = fleet_messages.parse_stop(datagram)
            if tag not in (fleet_messages.EVERY_CAR, self.fleet_tag):
                self.counts["another fleet's stop"] += 1
                return frames
        heard = wire.MessageDecoder().feed((frame if is_fleets else datagram) + b"\0")
        message = heard[0] if len(heard) == 1 else None
        if isinstance(message, Stop):
            until_us = now_us + _ANSWER_US
            asked = _Question(message.token, len(datagram), until_us, is_fleets)
            self._note(StopSeen.ID, address, asked)
            self._wait(address, wire.encode(message))
            frames += self.step(now_us)
        elif isinstance(message, Identify) and not any(message.challenge) and not is_fleets:
            if now_us >= self._next_question_us:
                self._next_question_us = now_us + _QUESTION_APART_US
                asked = _Question(message.token, len(datagram), now_us + _ANSWER_US)
                self._note(Identity.ID, address, asked)
                frames.append(wire.encode(message))
            else:
                self.counts["too many questions"] += 1
        else:
            self.counts["not a stop"] += 1
        return frames

    def step(self, now_us: int) -> list[bytes]:
        """Return the Stop whose turn it is, if there is one: the senders take turns."""
        if not self._waiting or now_us < self._next_us:
            return []
        self._next_us = now_us + _APART_US
        return [self._waiting.popitem(last=False)[1]]

    def answers(self, frames: bytes, now_us: int) -> list[tuple[bytes, Address]]:
        """Return which frames of the car go back to whom."""
        found: list[tuple[bytes, Address]] = []
        for message in wire.MessageDecoder().feed(frames):
            if not isinstance(message, StopSeen | Identity):
                continue
            frame = wire.encode(message)
            for who, asked in list(self._asked.items()):
                is_meant = who[0] == message.ID and asked.token == message.token
                if is_meant and now_us < asked.until_us:
                    del self._asked[who]
                    answer = self._answer(frame) if asked.is_fleets else frame
                    if len(answer) <= asked.size + _ONE_LONGER:
                        found.append((answer, who[1]))
        return found

    def _answer(self, frame: bytes) -> bytes:
        return fleet_messages.answer(self._board_id, self.car_name, frame)

    def _note(self, kind: int, address: Address, asked: _Question) -> None:
        self._asked[kind, address] = asked
        self._asked.move_to_end((kind, address))
        while len(self._asked) > _ASKED:
            self._asked.popitem(last=False)

    def _wait(self, address: Address, frame: bytes) -> None:
        self._waiting[address] = frame
        if len(self._waiting) > _SENDERS:  # each of them stops the same car
            self._waiting.popitem(last=False)
