"""A board without metal: inputs are set, outputs are read, by whoever holds it.

In one process with the simulator it is used as it is; ``unix.py`` puts it behind a pipe. All
buffers are made once.
"""

RECEIVE_SIZE = 512  # bytes of the link that one step can take
SEND_SIZE = 1024
CHANNELS = 8

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
    "room",
)


class VirtualBoard:
    def __init__(self, board_id: bytes, image: bytes, seed: int) -> None:
        self.board_id = board_id
        self.image = image  # the stored configuration
        self.count_left = 0
        self.count_right = 0
        self.captured_us = 0
        self.runstop_closed = 1
        self.enable_contact = 0
        self.charger = 0
        self.battery_mv = 0
        self.yaw_rate_mrad_s = 0
        self.accel_x_mm_s2 = 0
        self.accel_y_mm_s2 = 0
        self.step_us = 0
        self.room = SEND_SIZE  # bytes that the link takes on this step
        self.received = bytearray(RECEIVE_SIZE)
        self.received_size = 0
        self.sent = bytearray(SEND_SIZE)
        self.sent_size = 0
        self.values = [0] * CHANNELS
        self.enable = False
        self._taken = 0
        self._low = seed % 65537
        self._high = (seed * 31 + 7) % 65537

    def read(self, now_us: int) -> None:
        self.captured_us = now_us
        self._taken = 0
        self.sent_size = 0

    def receive_into(self, buffer: bytearray) -> int:
        size = min(self.received_size - self._taken, len(buffer))
        for i in range(size):
            buffer[i] = self.received[self._taken + i]
        self._taken += size
        return size

    def transmit(self, data: bytearray, size: int) -> bool:
        if self.sent_size + size > min(self.room, SEND_SIZE):
            return False
        at = self.sent_size
        for i in range(size):
            self.sent[at + i] = data[i]
        self.sent_size = at + size
        return True

    def write(self, values: "list[int]", enable: bool) -> None:
        for i in range(CHANNELS):
            self.values[i] = values[i]
        self.enable = enable

    def entropy(self) -> int:
        """Seeded, so that a drive can be repeated byte by byte; a real board asks its hardware.

        Two Lehmer generators modulo 65537 (multiplier 75, as in the ZX81), 15 bits from each.
        """
        self._low = (self._low * 75 + 74) % 65537
        self._high = (self._high * 75 + 74) % 65537
        return (self._high & 0x7FFF) << 15 | self._low & 0x7FFF

    def load_into(self, image: bytearray) -> int:
        if len(self.image) > len(image):
            return 0
        image[: len(self.image)] = self.image
        return len(self.image)

    def save(self, image: bytearray, size: int) -> bool:
        self.image = bytes(image[:size])
        return True
