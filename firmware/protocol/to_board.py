"""The messages to a car. See ``messages``."""

from firmware.compat import micropython
from firmware.protocol.codec import Message
from firmware.protocol.ranges import SPEED, STEER, TIME, U8, U16, WIDE

const = micropython.const


class Identify(Message):
    """The request for an Identity. Frozen.

    ``token`` comes back, so that round trips can be timed; whoever has a key answers ``challenge``,
    zero of which asks for no answer.
    """

    ID = 1
    FIELDS = (
        ("token", "u16", 0, U16, ""),
        ("challenge", "b8", 0, 0, ""),
    )
    token: int
    challenge: bytearray


class Stop(Message):
    """Stop, now. Frozen. Needs no session; ``sender`` and ``sender_name`` are for the report."""

    ID = 3
    FIELDS = (
        ("token", "u16", 0, U16, ""),
        ("sender", "u8", 0, U8, ""),
        ("sender_name", "b16", 0, 0, "utf-8, zero padded"),
    )
    token: int
    sender: int
    sender_name: bytearray


class Bind(Message):
    """Begin or renew a session. ``epoch`` is random, chosen by the host, the same for all cars."""

    ID = 16
    FIELDS = (
        ("epoch", "u30", 1, WIDE, ""),
        ("protocol_hash", "b4", 0, 0, ""),
    )
    epoch: int
    protocol_hash: bytearray


class Sync(Message):
    """The board's latest time stamp, echoed by the host; the board computes offset and bound."""

    ID = 17
    FIELDS = (
        ("epoch", "u30", 1, WIDE, ""),
        ("board_us", "u30", 0, TIME, "us"),  # a Status's time_us
        ("received_us", "u30", 0, TIME, "us"),  # when that Status came, in session time
        ("sent_us", "u30", 0, TIME, "us"),  # when this leaves, in session time
    )
    epoch: int
    board_us: int
    received_us: int
    sent_us: int


class Claim(Message):
    """One source's claim of some actuators, for a lease's time.

    A board sends it too: what its own receiver claims, under the board's own epoch.
    """

    ID = 18
    FIELDS = (
        ("epoch", "u30", 1, WIDE, ""),
        ("source", "u8", 0, 254, ""),
        ("sequence", "u16", 0, U16, ""),
        ("mask", "u8", 0, U8, "actuator bits"),
        ("steer_urad", "i31", -STEER, STEER, "urad"),
        ("speed_mm_s", "i16", -SPEED, SPEED, "mm/s"),
        ("brake", "u8", 0, U8, "1/255"),
        ("lights", "u8", 0, U8, "bits"),
        ("aux_1", "u8", 0, U8, "1/255"),
        ("aux_2", "u8", 0, U8, "1/255"),
        ("aux_3", "u8", 0, U8, "1/255"),
        ("aux_4", "u8", 0, U8, "1/255"),
        ("deadman", "u8", 0, 3, "bits"),
        ("input_count", "u16", 0, U16, "reports of the input device"),
        ("lease_ms", "u16", 1, 1000, "ms"),
        ("stamp_us", "u30", 0, TIME, "us"),
    )
    epoch: int
    source: int
    sequence: int
    mask: int
    steer_urad: int
    speed_mm_s: int
    brake: int
    lights: int
    aux_1: int
    aux_2: int
    aux_3: int
    aux_4: int
    deadman: int
    input_count: int
    lease_ms: int
    stamp_us: int


class Act(Message):
    """The request to arm, clear, disarm or cap.

    Nonce 0 asks; the board answers with one to be sent back.
    """

    ID = 19
    FIELDS = (
        ("epoch", "u30", 1, WIDE, ""),
        ("action", "u8", 0, U8, ""),
        ("sender", "u8", 0, U8, ""),
        ("value", "u16", 0, U16, "arm: profile; cap: mm/s"),
        ("nonce", "u30", 0, WIDE, ""),
        ("config_hash", "b4", 0, 0, ""),
    )
    epoch: int
    action: int
    sender: int
    value: int
    nonce: int
    config_hash: bytearray


class EventRequest(Message):
    """Send the events again from this number on."""

    ID = 20
    FIELDS = (("first", "u16", 0, U16, ""),)
    first: int


class ParameterRead(Message):
    ID = 21
    FIELDS = (("index", "u16", 0, U16, ""),)
    index: int


class ParameterWrite(Message):
    """A change of the configuration's draft; ConfigCommit makes the draft the configuration."""

    ID = 22
    FIELDS = (
        ("epoch", "u30", 1, WIDE, ""),
        ("index", "u16", 0, U16, ""),
        ("value", "i31", -WIDE, WIDE, "as the parameter"),
    )
    epoch: int
    index: int
    value: int


class ConfigCommit(Message):
    """The request to take and store the draft, if its hash is ``config_hash``."""

    ID = 23
    FIELDS = (
        ("epoch", "u30", 1, WIDE, ""),
        ("config_hash", "b4", 0, 0, ""),
        ("car_name", "b16", 0, 0, "utf-8, zero padded"),
    )
    epoch: int
    config_hash: bytearray
    car_name: bytearray


class Alive(Message):
    """A stop source's heartbeat. ``runs`` 0 is a stop, from whomever, however old."""

    ID = 24
    FIELDS = (
        ("epoch", "u30", 1, WIDE, ""),
        ("stop_source", "u8", 0, 15, ""),
        ("sequence", "u16", 0, U16, ""),
        ("runs", "u8", 0, 1, ""),
        ("stamp_us", "u30", 0, TIME, "us"),
    )
    epoch: int
    stop_source: int
    sequence: int
    runs: int
    stamp_us: int


class Leave(Message):
    """The end of a session: its place is free for another one."""

    ID = 29
    FIELDS = (("epoch", "u30", 1, WIDE, ""),)
    epoch: int


# Indices in ``values`` of the numbers of messages that come again and again: the car reads them
# there, which spares it the attributes.
EPOCH = const(0)  # in all of them
CLAIM_SOURCE = const(1)
CLAIM_SEQUENCE = const(2)
CLAIM_MASK = const(3)
CLAIM_STEER = const(4)
CLAIM_SPEED = const(5)
CLAIM_LEVELS = const(6)  # brake, lights, aux_1 to aux_4, as the actuators' numbers follow
CLAIM_DEADMAN = const(12)
CLAIM_INPUT_COUNT = const(13)
CLAIM_LEASE = const(14)
CLAIM_STAMP = const(15)
ALIVE_STOP_SOURCE = const(1)
ALIVE_SEQUENCE = const(2)
ALIVE_RUNS = const(3)
ALIVE_STAMP = const(4)
SYNC_BOARD = const(1)
SYNC_RECEIVED = const(2)
SYNC_SENT = const(3)
