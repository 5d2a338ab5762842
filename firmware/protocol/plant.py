"""The messages of hardware in the loop, between a bare board and the plant on the host.

They go over the same cable. They are not of the car's table, for no car and no host ever hears
them; ``version`` hashes them as well. A board in this mode has an id that no chip has, so that
``Identity``, which is frozen, says it.
"""

from firmware.protocol.codec import Message
from firmware.protocol.enter_hitl import EnterHitl
from firmware.protocol.ranges import TIME, U8, U16, WIDE
from firmware.protocol.reports import CHANNEL_ROWS

HITL_MARK = b"HITL"  # the first half of the id of a board whose peripherals are a plant
CHUNK = 48  # bytes of an image in a PlantImage


def hitl_id(board_id: bytes) -> bytes:
    """Return the id of this board in the mode: the mark, and what fits of the chip's own."""
    half = len(HITL_MARK)
    marked = bytearray(HITL_MARK + board_id[:half])
    for i in range(half):
        marked[half + i] ^= board_id[half + i]
    return bytes(marked)


class PlantImage(Message):
    """A part of the configuration to begin anew with, in order. Kept in memory only."""

    ID = 26
    FIELDS = (
        ("token", "u16", 1, U16, ""),  # comes back in PlantBegin
        ("total", "u16", 1, U16, "bytes"),
        ("at", "u16", 0, U16, "bytes"),
        ("data_0", "b16", 0, 0, ""),
        ("data_1", "b16", 0, 0, ""),
        ("data_2", "b16", 0, 0, ""),
    )
    token: int
    total: int
    at: int
    data_0: bytearray
    data_1: bytearray
    data_2: bytearray


class PlantReadings(Message):
    """The readings of the board's inputs at ``captured_us``: the attributes of core.contract."""

    ID = 27
    FIELDS = (
        ("captured_us", "u30", 0, TIME, "us, board time"),
        ("count_left", "i31", -WIDE, WIDE, "counts"),
        ("count_right", "i31", -WIDE, WIDE, "counts"),
        ("runstop_closed", "u8", 0, 1, ""),
        ("enable_contact", "u8", 0, 1, ""),
        ("charger", "u8", 0, 1, ""),
        ("battery_mv", "u16", 0, U16, "mV"),
        ("yaw_rate_mrad_s", "i16", -32767, 32767, "mrad/s"),
        ("accel_x_mm_s2", "i16", -32767, 32767, "mm/s^2"),
        ("accel_y_mm_s2", "i16", -32767, 32767, "mm/s^2"),
        ("temperature_c", "i16", -300, 300, "degrees Celsius"),
        ("has_receiver", "u8", 0, 1, ""),
        ("rc_steering_us", "u16", 0, U16, "us"),
        ("rc_throttle_us", "u16", 0, U16, "us"),
        ("rc_live_man_us", "u16", 0, U16, "us"),
        ("rc_mode_us", "u16", 0, U16, "us"),
        ("rc_frames", "u30", 0, WIDE, "frames"),
        ("rc_failsafe", "u8", 0, 1, ""),
        ("guard_tripped", "u8", 0, 1, ""),
    )


class PlantWires(Message):
    """The read-back of the channels, of the outputs of ``time_us``."""

    ID = 28
    FIELDS = (("time_us", "u30", 0, TIME, "us"),) + CHANNEL_ROWS
    time_us: int


class PlantOutputs(Message):
    """The outputs of a step, which are the plant's beat and its clock."""

    ID = 45
    FIELDS = (
        ("time_us", "u30", 0, TIME, "us, board time"),
        ("enable", "u8", 0, 1, ""),
        ("lights", "u8", 0, U8, "bits"),
    ) + CHANNEL_ROWS
    time_us: int
    enable: int
    lights: int


class PlantBegin(Message):
    """The program's start, with the image of ``token`` (0: none), and its beat and fallbacks.

    Sent again each second.
    """

    ID = 46
    FIELDS = (
        ("token", "u16", 0, U16, ""),
        ("beat_us", "u30", 0, WIDE, "us"),
    ) + CHANNEL_ROWS  # what each falls back to; -1: it stays
    token: int
    beat_us: int


PLANT = (EnterHitl, PlantImage, PlantReadings, PlantWires, PlantOutputs, PlantBegin)
