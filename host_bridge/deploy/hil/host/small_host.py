"""A small host with the car's own codec, byte for byte, for virtual cars and boards.

It shares nothing with host_bridge/link, so that neither can hide a mistake of the other. The tests
of the car drive with it too.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any, Generic, Protocol, TypeVar

from firmware.protocol import codes, messages
from firmware.protocol.boxes import BoxHeard
from firmware.protocol.codec import DECODED, decode_into, encode_into, make_layout
from firmware.protocol.frame import FrameReader, FrameWriter, crc_table
from firmware.protocol.version import protocol_hash
from sim_mock.board.hardware import TIME_MASK

BEAT_US = 10_000  # the usual control period
SEAT, GAMEPAD, SCRIPT, ROS2 = 1, 2, 3, 4  # command sources, by the vehicle files
RELEASED, HELD = 0, codes.HELD
TABLE = crc_table()


class FarEnd(Protocol):
    """The far end of a host: a virtual car's ``World``, or a board's port."""

    @property
    def now_us(self) -> int: ...

    @property
    def values(self) -> Sequence[int]: ...

    @property
    def enable(self) -> bool: ...

    def feed(self, data: bytes) -> object: ...

    def advance(self, until_us: int) -> bytes: ...


FarT = TypeVar("FarT", bound=FarEnd)


def made(message_type: type[Any]) -> Any:
    """Return a new message. Its layout is made once and kept, as on a flashed board, for speed."""
    if "LAYOUT" not in vars(message_type):
        message_type.LAYOUT = make_layout(message_type.FIELDS)
    return message_type()


def framed(message: Any) -> bytes:
    """Return a message's frame, as it goes over the line."""
    writer = FrameWriter(TABLE)
    size = writer.wrap(encode_into(message, writer.payload))
    return bytes(writer.out[:size])


class SmallHost(Generic[FarT]):
    """One host at the far end of one world's link. It keeps everything that was received."""

    # any number but 0
    def __init__(self, world: FarT, epoch: int = 12345, source: int = SCRIPT) -> None:
        self.world = world
        self.epoch = epoch
        self.source = source
        self.sequence = 0
        self.input_count = 0
        self.clock_ahead_us = 0  # the offset of a wrong or stepped host clock
        self.received: list[bytes] = []
        self.outputs = hashlib.sha256()
        self.latest: dict[str, Any] = {}
        self.events: list[tuple[int, int, int, int]] = []
        self._reader = FrameReader(TABLE)
        self._types = {message.ID: message for message in (*messages.TO_HOST, BoxHeard)}
        self._sync_every = 5  # steps: 20 answers to statuses a second
        self._beats = 0

    # --- sending

    def say(self, message_type: type[Any], **fields: Any) -> bytes:
        message = made(message_type)
        if hasattr(message, "epoch"):
            message.epoch = self.epoch
        if message_type is messages.Act:
            message.sender, message.value = codes.SENDER_COMMAND, codes.PROFILE_TRACK
        for name, value in fields.items():
            if isinstance(value, bytes):
                getattr(message, name)[:] = value
            else:
                setattr(message, name, value)
        frame = framed(message)
        self.world.feed(frame)
        return frame

    def now_us(self) -> int:
        return (self.world.now_us + self.clock_ahead_us) & TIME_MASK

    def claim(
        self, speed_mm_s: int = 0, steer_urad: int = 0, deadman: int = HELD, **changes: Any
    ) -> bytes:
        self.sequence = self.sequence + 1 & 0xFFFF
        self.input_count = self.input_count + 1 & 0xFFFF
        fields = {
            "source": self.source,
            "sequence": self.sequence,
            "mask": codes.STEERING_BIT | codes.DRIVE_BIT,
            "steer_urad": steer_urad,
            "speed_mm_s": speed_mm_s,
            "deadman": deadman,
            "input_count": self.input_count,
            "lease_ms": 120,  # as the vehicle files' sources have it
            "stamp_us": self.now_us(),
        }
        return self.say(messages.Claim, **{**fields, **changes})

    def stop(self) -> bytes:
        # any number: it comes back in the answer
        return self.say(messages.Stop, token=7, sender=codes.SENDER_COMMAND)

    # --- time

    def beat(self) -> None:
        """Advance the car by one step, and send a Sync every few of them."""
        world = self.world
        sent = world.advance(world.now_us + BEAT_US)
        self.received.append(sent)
        self.outputs.update(repr((list(world.values), world.enable)).encode() + sent)
        self.hear(sent)
        self._beats += 1
        status = self.latest.get("Status")
        if status is not None and self._beats % self._sync_every == 0:
            now_us = self.now_us()
            self.say(messages.Sync, board_us=status.time_us, received_us=now_us, sent_us=now_us)

    def rest(self, ms: int) -> None:
        for _ in range(ms // 10):
            self.beat()

    def drive(
        self,
        ms: int,
        speed_mm_s: int = 0,
        steer_urad: int = 0,
        deadman: int = HELD,
        **changes: Any,
    ) -> None:
        for _ in range(ms // 10):
            self.claim(speed_mm_s, steer_urad, deadman, **changes)
            self.beat()

    # --- procedures

    def connect(self) -> None:
        self.rest(50)  # ms: some statuses
        # a car in a process of its own takes a while until it sends anything
        while "Status" not in self.latest or self.state == codes.STARTING:
            self.beat()
        self.say(messages.Identify, token=1)
        self.say(messages.Bind, protocol_hash=bytes(protocol_hash(TABLE)))
        self.rest(300)

    def act(self, action: int, deadman: int = RELEASED) -> int:
        """Perform an action's two steps; return the refusals."""
        config_hash = bytes(self.latest["Identity"].config_hash)
        self.say(messages.Act, action=action, nonce=0, config_hash=config_hash)
        self.drive(20, deadman=deadman)  # ms: an answer comes with the next step but one
        reply = self.latest["ActReply"]
        if reply.refusals or not reply.nonce:
            return int(reply.refusals)
        self.say(messages.Act, action=action, nonce=reply.nonce, config_hash=config_hash)
        self.drive(20, deadman=deadman)  # ms, as above
        return int(self.latest["ActReply"].refusals)

    def take_the_wheel(self) -> None:
        """Bring the car from power-up to ACTIVE, at rest."""
        self.connect()
        self.drive(50, deadman=RELEASED)  # ms: some claims, so that the deadman is seen released
        assert self.act(codes.ACTION_ARM) == 0
        self.drive(50, deadman=RELEASED)  # ms, as above
        self.drive(50)  # ms: held in neutral
        assert self.state == codes.ACTIVE

    # --- receiving

    @property
    def status(self) -> Any:
        return self.latest["Status"]

    @property
    def state(self) -> int:
        return int(self.status.state)

    def has_event(self, code: int, a: int, b: int | None = None) -> bool:
        return any(e[1:3] == (code, a) and b in (None, e[3]) for e in self.events)

    def hear(self, sent: bytes) -> None:
        data = bytearray(sent)
        at = 0
        while at < len(data):
            at = self._reader.read(data, at, len(data))
            if at < len(data):
                at += 1
                size = self._reader.payload_size()
                if size:
                    self._take(size)

    def _take(self, size: int) -> None:
        message = made(self._types[self._reader.frame[0]])
        assert decode_into(message, self._reader.frame, size) == DECODED
        self.latest[type(message).__name__] = message
        if isinstance(message, messages.Event):
            self.events.append((message.time_us, message.code, message.a, message.b))
