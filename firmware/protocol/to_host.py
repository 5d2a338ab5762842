"""The messages of a car to hosts. See ``messages``."""

from firmware.protocol.codec import Message
from firmware.protocol.ranges import SPEED, STEER, TIME, U8, U16, WIDE


class Identity(Message):
    """The answer to Identify. Frozen.

    The hashes are compared whole. What is reserved is sent as 0, but is for no reader a reason to
    refuse it: a later device may send anything there.
    """

    ID = 2
    FIELDS = (
        ("token", "u16", 0, U16, ""),
        ("layout", "u8", 1, 1, ""),
        ("device", "u8", 0, U8, "DEVICE_"),
        ("flags", "u16", 0, U16, "bits: 0 virtual; the others are reserved"),
        ("protocol_hash", "b4", 0, 0, ""),
        ("config_hash", "b4", 0, 0, ""),
        ("board_id", "b8", 0, 0, ""),
        ("state", "u8", 0, U8, ""),
        ("car_name", "b16", 0, 0, "utf-8, zero padded"),
        ("answer", "b8", 0, 0, "to the challenge; 0: it has no key"),
    )
    token: int
    layout: int
    device: int
    flags: int
    protocol_hash: bytearray
    config_hash: bytearray
    board_id: bytearray
    state: int
    car_name: bytearray
    answer: bytearray


class StopSeen(Message):
    """The acknowledgement of a Stop, sent after the step that obeyed it. Frozen."""

    ID = 4
    FIELDS = (
        ("token", "u16", 0, U16, ""),
        ("state", "u8", 0, U8, ""),
        ("sender", "u8", 0, U8, ""),
        ("sender_name", "b16", 0, 0, "utf-8, zero padded"),
    )
    token: int
    state: int
    sender: int
    sender_name: bytearray


class Bound(Message):
    ID = 32
    FIELDS = (
        ("epoch", "u30", 1, WIDE, ""),
        ("slot", "u8", 0, U8, ""),
        ("result", "u8", 0, U8, ""),
        ("protocol_hash", "b4", 0, 0, ""),
        ("config_hash", "b4", 0, 0, ""),
    )
    epoch: int
    slot: int
    result: int
    protocol_hash: bytearray
    config_hash: bytearray


class Status(Message):
    """The core status: every step while the line carries it. 40 bytes on the wire."""

    ID = 33
    FIELDS = (
        ("time_us", "u30", 0, TIME, "us"),
        ("state", "u8", 0, U8, ""),
        ("causes", "u16", 0, U16, "bits"),
        ("first_cause", "u8", 0, U8, ""),
        ("faults", "u16", 0, U16, "bits"),
        ("profile", "u8", 0, U8, ""),
        ("steering_source", "u8", 0, U8, ""),
        ("drive_source", "u8", 0, U8, ""),
        ("brake_source", "u8", 0, U8, ""),
        ("steer_50urad", "i16", -STEER // 50, STEER // 50, "50 urad"),
        ("target_mm_s", "i16", -SPEED, SPEED, "mm/s"),
        ("brake", "u8", 0, U8, "1/255"),
        ("speed_mm_s", "i16", -SPEED, SPEED, "mm/s"),
        ("claim_slot", "u8", 0, U8, ""),  # the session whose claim was accepted last
        ("claim_sequence", "u16", 0, U16, ""),
        ("claim_count", "u16", 0, U16, ""),
        ("claim_crc", "b4", 0, 0, ""),
        ("applied_10us", "u16", 0, U16, "10 us before time_us"),
    )
    time_us: int
    state: int
    causes: int
    first_cause: int
    faults: int
    profile: int
    steering_source: int
    drive_source: int
    brake_source: int
    steer_50urad: int
    target_mm_s: int
    brake: int
    speed_mm_s: int
    claim_slot: int
    claim_sequence: int
    claim_count: int
    claim_crc: bytearray
    applied_10us: int


class Motion(Message):
    """The wheel counts, the inertial sensor's readings, and the pose by dead reckoning."""

    ID = 34
    FIELDS = (
        ("captured_us", "u30", 0, TIME, "us"),
        ("count_left", "i31", -WIDE, WIDE, "counts"),
        ("count_right", "i31", -WIDE, WIDE, "counts"),
        ("distance_mm", "i31", -WIDE, WIDE, "mm"),
        ("x_mm", "i31", -WIDE, WIDE, "mm"),
        ("y_mm", "i31", -WIDE, WIDE, "mm"),
        ("yaw_urad", "i31", -WIDE, WIDE, "urad"),
        ("yaw_rate_mrad_s", "i16", -32767, 32767, "mrad/s"),
        ("accel_x_mm_s2", "i16", -32767, 32767, "mm/s^2"),
        ("accel_y_mm_s2", "i16", -32767, 32767, "mm/s^2"),
    )
    captured_us: int
    count_left: int
    count_right: int
    distance_mm: int
    x_mm: int
    y_mm: int
    yaw_urad: int
    yaw_rate_mrad_s: int
    accel_x_mm_s2: int
    accel_y_mm_s2: int


class ClockReport(Message):
    """A session's clock: session time = board time + offset, give or take the bound."""

    ID = 35
    FIELDS = (
        ("epoch", "u30", 0, WIDE, ""),
        ("slot", "u8", 0, U8, ""),
        ("offset_us", "u30", 0, TIME, "us"),
        ("bound_us", "u16", 0, U16, "us; 65535 is unknown"),
    )
    epoch: int
    slot: int
    offset_us: int
    bound_us: int


class ActReply(Message):
    """The answer to an Act. Refusals 0 with a nonce: send it back. Refusals 0 without: done."""

    ID = 36
    FIELDS = (
        ("epoch", "u30", 1, WIDE, ""),
        ("action", "u8", 0, U8, ""),
        ("nonce", "u30", 0, WIDE, ""),
        ("refusals", "u30", 0, WIDE, "bits"),
        ("causes_present", "u16", 0, U16, "bits"),
        ("stop_sources", "u16", 0, U16, "bits: required, and not there"),
    )
    epoch: int
    action: int
    nonce: int
    refusals: int
    causes_present: int
    stop_sources: int


class Event(Message):
    ID = 37
    FIELDS = (
        ("number", "u16", 0, U16, ""),
        ("time_us", "u30", 0, TIME, "us"),
        ("code", "u8", 0, U8, ""),
        ("a", "i31", -WIDE, WIDE, "as the code says"),
        ("b", "i31", -WIDE, WIDE, "as the code says"),
    )
    number: int
    time_us: int
    code: int
    a: int
    b: int


class EventsLost(Message):
    """Events that are gone, because the ring overran."""

    ID = 38
    FIELDS = (
        ("first", "u16", 0, U16, ""),
        ("count", "u16", 0, U16, ""),
    )
    first: int
    count: int


class Parameter(Message):
    """The answer to ParameterRead and ParameterWrite: what the draft now holds."""

    ID = 39
    FIELDS = (
        ("index", "u16", 0, U16, ""),
        ("value", "i31", -WIDE, WIDE, "as the parameter"),
        ("result", "u8", 0, U8, ""),
    )
    index: int
    value: int
    result: int


class Committed(Message):
    """The answer to ConfigCommit; ``where`` is the index of the wrong parameter, if one is."""

    ID = 40
    FIELDS = (
        ("result", "u8", 0, U8, ""),
        ("where", "u16", 0, U16, ""),
        ("config_hash", "b4", 0, 0, ""),
    )
    result: int
    where: int
    config_hash: bytearray
