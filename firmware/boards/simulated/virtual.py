"""A virtual board: whoever holds it sets its inputs and reads its outputs.

In one process with the simulator it is used as it is; ``unix.py`` puts it behind a pipe. All
buffers are made once.
"""

from firmware.compat import TYPE_CHECKING
from firmware.protocol.codec import copy
from firmware.protocol.codes import PAIRING_NO_KEY

if TYPE_CHECKING:
    from firmware.boards.physical.vesc_drive import VescDrive

RECEIVE_SIZE = 512  # bytes of the link that one step can take
SEND_SIZE = 1024  # bytes, as on a real board
CHANNELS = 8  # as on a real board

# The order of the readings, here and on the pipe
READINGS = (
    "count_left",
    "count_right",
    "runstop_closed",
    "enable_contact",
    "charger",
    "battery_mv",
    "yaw_rate_mrad_s",
    "accel_x_mm_s2",
    "accel_y_mm_s2",
    "step_us",
    "temperature_c",
    "has_receiver",
    "rc_steering_us",
    "rc_throttle_us",
    "rc_live_man_us",
    "rc_mode_us",
    "rc_frames",
    "rc_failsafe",
    "guard_tripped",
    "reset_cause",
    "failed_starts",
    "room",
)


class VirtualBoard:
    count_left: int
    count_right: int
    runstop_closed: int
    enable_contact: int
    charger: int
    battery_mv: int
    yaw_rate_mrad_s: int
    accel_x_mm_s2: int
    accel_y_mm_s2: int
    step_us: int
    temperature_c: int
    has_receiver: int
    rc_steering_us: int
    rc_throttle_us: int
    rc_live_man_us: int
    rc_mode_us: int
    rc_frames: int
    rc_failsafe: int
    guard_tripped: int
    reset_cause: int
    failed_starts: int
    room: int

    def __init__(self, board_id: bytes, image: bytes, seed: int) -> None:
        self.board_id = board_id
        self.image = image  # the stored configuration
        self.key = b""
        self.pairing = PAIRING_NO_KEY
        for name in READINGS:
            setattr(self, name, 0)
        self.runstop_closed = 1
        self.room = SEND_SIZE  # bytes that the link takes on this step
        self.captured_us = 0
        self.ran_us = 0  # its reports leave at the instant of its step
        self.is_virtual = 1
        self.own_beat_us = 0
        self.has_held_output = self.needs_box = 0
        self.vesc: "VescDrive | None" = None
        self.imu_answers = 1
        self.second_us = self.seconds = 0  # nobody's pulse is wired to it
        self.read_back = [0] * CHANNELS
        self.received = bytearray(RECEIVE_SIZE)
        self.received_size = 0
        self.sent = bytearray(SEND_SIZE)
        self.sent_size = 0
        self.values = [0] * CHANNELS
        self.enable = False
        self.lights = 0
        self.fallbacks = [0] * CHANNELS
        self.beat_us = 0
        self.is_healthy = False
        self._taken = 0
        for byte in board_id:  # two boards do not draw the same numbers, nor name one epoch
            # a base above a byte's values: each byte of the id counts
            seed = (seed * 257 + byte) % 65537
        self._low = seed
        self._high = (seed * 31 + 7) % 65537  # another start than the first generator's

    def begin(self, fallbacks: "list[int]", beat_us: int) -> None:
        for i in range(CHANNELS):
            self.fallbacks[i] = fallbacks[i]
        self.beat_us = beat_us

    def open_heap(self) -> None:
        """Do nothing: the heap is never locked here."""

    def close_heap(self) -> None:
        """Do nothing: the heap is never locked here."""

    def mark_healthy(self) -> None:
        self.is_healthy = True

    def read(self, now_us: int) -> None:
        self.captured_us = now_us
        self._taken = 0
        self.sent_size = 0

    def receive_into(self, buffer: bytearray) -> int:
        size = min(self.received_size - self._taken, len(buffer))
        copy(self.received, self._taken, buffer, 0, size)
        self._taken += size
        return size

    def hears_stop(self) -> bool:
        """Return False: all that a step hears is here as it begins."""
        return False

    def transmit(self, data: bytearray, size: int) -> bool:
        if self.sent_size + size > min(self.room, SEND_SIZE):
            return False
        copy(data, 0, self.sent, self.sent_size, size)
        self.sent_size += size
        return True

    def write(self, values: "list[int]", enable: bool, lights: int) -> None:
        for i in range(CHANNELS):
            self.values[i] = values[i]
        self.enable = enable
        self.lights = lights

    def entropy(self) -> int:
        """Return 30 random bits, seeded, so that a drive can be repeated byte by byte.

        A real board asks its hardware. Two Lehmer generators modulo 65537 (multiplier 75, as in the
        ZX81), 15 bits from each.
        """
        # x * 75 + 74 modulo 65537, see above
        self._low = (self._low * 75 + 74) % 65537
        self._high = (self._high * 75 + 74) % 65537
        return (self._high & 0x7FFF) << 15 | self._low & 0x7FFF

    def load_into(self, image: bytearray) -> int:
        if len(self.image) > len(image):
            return 0
        image[: len(self.image)] = self.image
        return len(self.image)

    def save(self, pieces: "list[bytearray]") -> bool:
        self.image = b"".join(pieces)
        return True
