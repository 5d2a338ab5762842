"""A small host of our own for tests of the car: it speaks the firmware's own codec, byte for byte.

It shares nothing with host_bridge/link, so that neither can hide a mistake of the other.
"""

import hashlib
import random

from firmware.protocol import codes, messages
from firmware.protocol.boxes import BoxHeard
from firmware.protocol.codec import DECODED, decode_into, encode_into, make_layout
from firmware.protocol.frame import FrameReader, FrameWriter, crc_table
from firmware.protocol.version import protocol_hash
from sim_mock.world import TIME_MASK, World

BEAT_US = 10_000
SEAT, GAMEPAD, SCRIPT, ROS2 = 1, 2, 3, 4
RELEASED, HELD = 0, codes.HELD
_TABLE = crc_table()


def made(message_type):
    """A new message. Its layout is made once and kept, as on a flashed board: a test says and hears
    thousands."""
    if "LAYOUT" not in vars(message_type):
        message_type.LAYOUT = make_layout(message_type.FIELDS)
    return message_type()


def framed(message) -> bytes:
    writer = FrameWriter(_TABLE)
    size = writer.wrap(encode_into(message, writer.payload))
    return bytes(writer.out[:size])


class Host:
    """One host at the far end of one world's link. Everything that was said is kept."""

    def __init__(self, world: World, epoch: int = 12345, source: int = SCRIPT) -> None:
        self.world = world
        self.epoch = epoch
        self.source = source
        self.sequence = 0
        self.input_count = 0
        self.clock_ahead_us = 0  # a lying or stepped host clock
        self.received = []
        self.outputs = hashlib.sha256()
        self.latest = {}
        self.events = []
        self._reader = FrameReader(_TABLE)
        self._types = {message.ID: message for message in (*messages.TO_HOST, BoxHeard)}
        self._sync_every = 5
        self._beats = 0

    # --- what it says

    def say(self, message_type, **fields) -> bytes:
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

    def claim(self, speed_mm_s=0, steer_urad=0, deadman=HELD, **changes) -> bytes:
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
            "lease_ms": 120,
            "stamp_us": self.now_us(),
        }
        return self.say(messages.Claim, **{**fields, **changes})

    def stop(self) -> bytes:
        return self.say(messages.Stop, token=7, sender=codes.SENDER_COMMAND)

    # --- time

    def beat(self) -> None:
        """One step of the car, and a Sync every few of them."""
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

    def drive(self, ms: int, speed_mm_s=0, steer_urad=0, deadman=HELD, **changes) -> None:
        for _ in range(ms // 10):
            self.claim(speed_mm_s, steer_urad, deadman, **changes)
            self.beat()

    # --- procedures

    def connect(self) -> None:
        self.rest(50)
        # a car that is a program of its own takes a while until it says anything
        while "Status" not in self.latest or self.state == codes.STARTING:
            self.beat()
        self.say(messages.Identify, token=1)
        self.say(messages.Bind, protocol_hash=bytes(protocol_hash(_TABLE)))
        self.rest(300)

    def act(self, action: int, deadman=RELEASED) -> int:
        """Two steps; returns the refusals."""
        config_hash = bytes(self.latest["Identity"].config_hash)
        self.say(messages.Act, action=action, nonce=0, config_hash=config_hash)
        self.drive(20, deadman=deadman)
        reply = self.latest["ActReply"]
        if reply.refusals or not reply.nonce:
            return reply.refusals
        self.say(messages.Act, action=action, nonce=reply.nonce, config_hash=config_hash)
        self.drive(20, deadman=deadman)
        return self.latest["ActReply"].refusals

    def take_the_wheel(self) -> None:
        """From power-up to ACTIVE, at rest."""
        self.connect()
        self.drive(50, deadman=RELEASED)
        assert self.act(codes.ACTION_ARM) == 0
        self.drive(50, deadman=RELEASED)
        self.drive(50)
        assert self.state == codes.ACTIVE

    # --- what it heard

    @property
    def status(self):
        return self.latest["Status"]

    @property
    def state(self) -> int:
        return self.status.state

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


class Storm:
    """Seeded trouble: commands, stops, faults and damage, one thing or none a beat."""

    def __init__(self, host: Host, seed: int) -> None:
        self.host = host
        self._random = random.Random(seed)
        self._wish = (0, 0, HELD)
        # how often in a thousand beats, what
        self._table = (
            (20, self._change_wish),
            (4, self._let_go),
            (2, host.stop),
            (3, self._toggle_runstop),
            (1, self._toggle_charger),
            (25, self._damaged_frame),
            (5, self._noise),
            (20, self._bad_claim),
            (30, self._arm_or_clear),
            (3, self._silence),
            (2, self._rebind),
            (5, self._read_parameter),
            (3, self._starve_link),
        )

    def run(self, beats: int) -> None:
        for _ in range(beats):
            draw = self._random.randrange(1000)
            for often, what in self._table:
                draw -= often
                if draw < 0:
                    what()
                    break
            self.host.claim(*self._wish)
            self.host.beat()
        self.host.world.link_room = 1024
        self.host.rest(500)

    def _change_wish(self) -> None:
        self._wish = (
            self._random.randrange(-1000, 4000),
            self._random.randrange(-500_000, 500_000),
            HELD,
        )

    def _let_go(self) -> None:
        self._wish = (0, 0, RELEASED)
        self.host.drive(200, deadman=RELEASED)
        self._wish = (0, 0, HELD)

    def _toggle_runstop(self) -> None:
        self.host.world.runstop_closed = not self.host.world.runstop_closed

    def _toggle_charger(self) -> None:
        self.host.world.charger = not self.host.world.charger

    def _damaged_frame(self) -> None:
        frame = bytearray(framed(messages.Stop()))
        frame[self._random.randrange(1, len(frame) - 1)] ^= 1 << self._random.randrange(8)
        self.host.world.feed(bytes(frame))

    def _noise(self) -> None:
        self.host.world.feed(self._random.randbytes(self._random.randrange(200)))

    def _bad_claim(self) -> None:
        wrong = self._random.choice(
            (
                {"lease_ms": 1000},
                {"mask": 15},
                {"sequence": 0},
                {"source": 9},
                {"stamp_us": self.host.now_us() + 500_000 & TIME_MASK},
                {"stamp_us": self.host.now_us() - 500_000 & TIME_MASK},
                {"speed_mm_s": 30_000},
            )
        )
        self.host.claim(**{"speed_mm_s": 1000, **wrong})

    def _arm_or_clear(self) -> None:
        self.host.world.runstop_closed = True
        self.host.world.charger = False
        self._wish = (0, 0, RELEASED)
        if self.host.state == codes.STANDBY:
            self.host.act(codes.ACTION_ARM)
        elif self.host.state == codes.STOPPED:
            self.host.act(codes.ACTION_CLEAR)
        self._wish = (0, 0, HELD)

    def _silence(self) -> None:
        self.host.rest(self._random.randrange(50, 300))

    def _rebind(self) -> None:
        self.host.connect()

    def _read_parameter(self) -> None:
        self.host.say(messages.ParameterRead, index=self._random.randrange(400))

    def _starve_link(self) -> None:
        self.host.world.link_room = self._random.choice((0, 60, 1024, 1024))
