"""A minimal host for fault trials, which encodes the wire protocol itself: no link hides a fault.

All its frames pass its ``line``, and everything that it does can be switched off: faults of the
catalogue are injected there.
"""

from typing import Any

from firmware.protocol import codes, messages
from firmware.protocol.codec import DECODED, Message, decode_into, encode_into
from firmware.protocol.frame import FrameReader, FrameWriter, crc_table
from firmware.protocol.version import protocol_hash
from sim_mock.board.hardware import TIME_MASK
from sim_mock.faults.trial.vehicles import LEASE_MS
from sim_mock.faults.trial.wire import FaultyWire
from sim_mock.world import World

CLAIM_EVERY_US = 10_000  # 100 claims a second
# as often as a host answers while the clock is good enough (clock_sync.py: less often)
SYNC_EVERY_US = 50_000
ALIVE_EVERY_US = 20_000  # a runstop box: 50 Hz

_TABLE = crc_table()
_TYPES: dict[int, type[Message]] = {message.ID: message for message in messages.TO_HOST}


def framed(message: Message) -> bytes:
    """Return the bytes of one message on the wire, both delimiters included."""
    writer = FrameWriter(_TABLE)
    size = writer.wrap(encode_into(message, writer.payload))
    return bytes(writer.out[:size])


class TrialHost(FaultyWire):
    """One session with the car of ``world``; ``phase_us`` is its time of sending after a beat."""

    def __init__(
        self,
        world: World,
        source: int,
        phase_us: int = 0,
        epoch: int = 12345,  # any number but 0
        ahead_us: int = 0,
    ) -> None:
        super().__init__(world.feed, lambda: world.now_us)
        self.world = world
        self.source = source
        self.epoch = epoch
        self.profile = codes.PROFILE_TRACK  # the profile to arm in
        self.speed_mm_s = 0
        self.steer_urad = 0
        self.deadman = 0
        self.stop_source: int | None = None  # the stop source whose heartbeats it sends
        self.runs_on = True  # what these say: run, or stop
        self.claims = False
        self.syncs = True
        self.input_is_live = True  # else the device's last report is repeated
        self.claim_every_us = CLAIM_EVERY_US
        self.lease_ms = LEASE_MS
        self.ahead_us = ahead_us  # offset of its clock from the world's
        self.stamp_ahead_us = 0  # offset of its stamps from its own clock: a wrong stamp
        self.sent_frames: list[bytes] = []
        self.latest: dict[str, Any] = {}
        self._sequence = 0
        self._input_count = 0
        self._status_us = 0
        self._next_claim_us = self._next_sync_us = world.now_us + phase_us
        self._next_alive_us = world.now_us + phase_us
        self._alive_sequence = 0
        self._reader = FrameReader(_TABLE)

    def now_us(self) -> int:
        """Return the session's time."""
        return self.world.now_us + self.ahead_us & TIME_MASK

    def tick(self, sent: bytes) -> None:
        """Pass one millisecond: receive what the car sent in it, and send what is due."""
        if self.runs and self.hears:
            self._hear(sent)
        if self.runs:
            self._speak()
        self.deliver_due()

    def _speak(self) -> None:
        now_us = self.world.now_us
        if now_us >= self._next_claim_us:
            self._next_claim_us += self.claim_every_us
            if self.claims:
                self.claim()
        if now_us >= self._next_alive_us:
            self._next_alive_us += ALIVE_EVERY_US
            if self.stop_source is not None:
                self.alive(self.stop_source)
        if now_us >= self._next_sync_us:
            self._next_sync_us += SYNC_EVERY_US
            if self.syncs and "Status" in self.latest:
                self._sync()

    # --- what it says

    def say(self, kind: type[Any], **fields: Any) -> bytes:
        """Send one message; return its frame as it was before the line altered it."""
        message = kind()
        if hasattr(message, "epoch"):
            message.epoch = self.epoch
        for name, value in fields.items():
            if isinstance(value, bytes):
                getattr(message, name)[:] = value
            else:
                setattr(message, name, value)
        frame = framed(message)
        self.sent_frames.append(frame)
        self.send(frame)
        return frame

    def claim(self, **changes: Any) -> bytes:
        """Send one claim of steering and drive, now."""
        self._sequence = self._sequence + 1 & 0xFFFF
        self._input_count = self._input_count + int(self.input_is_live) & 0xFFFF
        fields = {
            "source": self.source,
            "sequence": self._sequence,
            "mask": codes.STEERING_BIT | codes.DRIVE_BIT,
            "steer_urad": self.steer_urad,
            "speed_mm_s": self.speed_mm_s,
            "deadman": self.deadman,
            "input_count": self._input_count,
            "lease_ms": self.lease_ms,
            "stamp_us": self.now_us() + self.stamp_ahead_us & TIME_MASK,
        }
        return self.say(messages.Claim, **{**fields, **changes})

    def alive(self, stop_source: int) -> bytes:
        """Send one heartbeat of a stop source: run, or stop."""
        self._alive_sequence = self._alive_sequence + 1 & 0xFFFF
        return self.say(
            messages.Alive,
            stop_source=stop_source,
            sequence=self._alive_sequence,
            runs=int(self.runs_on),
            stamp_us=self.now_us(),
        )

    def stop(self) -> bytes:
        # any number: it comes back in the answer
        return self.say(messages.Stop, token=7, sender=codes.SENDER_COMMAND)

    def bind(self) -> None:
        self.say(messages.Identify, token=1)
        self.say(messages.Bind, protocol_hash=bytes(protocol_hash(_TABLE)))

    def ask(self, action: int, nonce: int = 0) -> None:
        """Send one of the two steps of an action; the answer comes as ``latest["ActReply"]``."""
        self.latest.pop("ActReply", None)
        self.say(
            messages.Act,
            action=action,
            nonce=nonce,
            config_hash=bytes(self.latest["Identity"].config_hash),
            sender=codes.SENDER_COMMAND,
            value=self.profile,
        )

    def _sync(self) -> None:
        self.say(
            messages.Sync,
            board_us=self.latest["Status"].time_us,
            received_us=self._status_us,
            sent_us=self.now_us(),
        )

    # --- what it hears

    @property
    def state(self) -> int:
        """The state last heard of the car; STARTING before the first Status."""
        return int(self.latest["Status"].state) if "Status" in self.latest else codes.STARTING

    def _hear(self, sent: bytes) -> None:
        data, at = bytearray(sent), 0
        while at < len(data):
            at = self._reader.read(data, at, len(data))
            if at < len(data):
                at += 1
                size = self._reader.payload_size()
                if size:
                    self._take(size)

    def _take(self, size: int) -> None:
        kind = _TYPES.get(self._reader.frame[0])
        if kind is None:
            return
        message = kind()
        if decode_into(message, self._reader.frame, size) == DECODED:
            self.latest[kind.__name__] = message
            if kind is messages.Status:
                self._status_us = self.now_us()


def reported_cause(driver: TrialHost) -> str:
    """Return the name of the fault or cause that the car reports; empty without any."""
    status = driver.latest.get("Status")
    if status is None:
        return ""
    if status.faults:
        return _name("FAULT_", (status.faults & -status.faults).bit_length() - 1)
    return "" if status.first_cause == codes.NO_CAUSE else _name("CAUSE_", status.first_cause)


def _name(prefix: str, number: int) -> str:
    names = [name for name, value in vars(codes).items() if name.startswith(prefix)]
    for name in names:
        if getattr(codes, name) == number and not name.endswith("COUNT"):
            return name[len(prefix) :].lower().replace("_", " ")
    return str(number)
