"""The far ends of the drivers' wires, written on their own: a VESC, RC receivers, and bad lines."""

import binascii
import random
import struct


class Wire:
    """A UART's two buffers without metal. ``incoming`` is what a peer sent."""

    def __init__(self):
        self.incoming = bytearray()
        self.outgoing = bytearray()
        self.waited = 0

    def any(self):
        return len(self.incoming)

    def readinto(self, buf, nbytes):
        size = min(nbytes, len(self.incoming))
        self.waited += size < nbytes
        buf[:size] = self.incoming[:size]
        del self.incoming[:size]
        return size or None

    def write(self, buf):
        self.outgoing += buf
        return len(buf)


# --- VESC ------------------------------------------------------------------------------------

# GET_VALUES: what the firmware sends after the id, in order (name, struct code, scale)
VALUES = (
    ("fet_degc", "h", 10), ("motor_degc", "h", 10), ("motor_a", "i", 100), ("input_a", "i", 100),
    ("id_a", "i", 100), ("iq_a", "i", 100), ("duty", "h", 1000), ("erpm", "i", 1),
    ("input_v", "h", 10), ("ah", "i", 10_000), ("ah_charged", "i", 10_000), ("wh", "i", 10_000),
    ("wh_charged", "i", 10_000), ("tachometer", "i", 1), ("tachometer_abs", "i", 1),
    ("fault", "B", 1), ("position", "i", 1_000_000), ("id", "B", 1), ("mos1", "h", 10),
    ("mos2", "h", 10), ("mos3", "h", 10), ("vd", "i", 1000), ("vq", "i", 1000),
)  # fmt: skip
COMMANDS = {5: "duty", 6: "current", 7: "brake", 8: "rpm", 12: "servo", 30: "alive", 4: "get"}


def vesc_frame(payload):
    return b"\2%c%b%b\3" % (len(payload), payload, binascii.crc_hqx(payload, 0).to_bytes(2, "big"))


class VescPeer:
    """A VESC that obeys, times out after a second, and answers GET_VALUES."""

    def __init__(self, status=True):
        self.has_status = status
        self.values = dict.fromkeys((name for name, _, _ in VALUES), 0)
        self.status = 0
        self.commands = []
        self._bytes = bytearray()

    def reply(self):
        payload = b"\4" + b"".join(
            struct.pack(">" + code, round(self.values[name] * scale))
            for name, code, scale in VALUES
        )
        return vesc_frame(payload + bytes([self.status]) if self.has_status else payload)

    def exchange(self, wire):
        """Take what the driver wrote, answer it."""
        self._bytes += wire.outgoing
        wire.outgoing.clear()
        while len(self._bytes) >= 2 and len(self._bytes) >= self._bytes[1] + 5:
            size = self._bytes[1]
            payload = bytes(self._bytes[2 : 2 + size])
            assert vesc_frame(payload) == bytes(self._bytes[: size + 5])
            del self._bytes[: size + 5]
            self._obey(payload, wire)

    def _obey(self, payload, wire):
        name = COMMANDS[payload[0]]
        value = int.from_bytes(payload[1:], "big", signed=True)
        self.commands.append((name, value))
        if name == "get":
            wire.incoming += self.reply()


# --- RC receivers ----------------------------------------------------------------------------


def packed(channels):
    """Sixteen channels of eleven bits."""
    bits = sum(value << 11 * i for i, value in enumerate(channels))
    return bits.to_bytes(22, "little")


def sbus_frame(channels, flags=0, end=0):
    return b"\x0f" + packed(channels) + bytes([flags, end])


def crsf_frame(kind, payload, address=0xC8):
    body = bytes([kind]) + payload
    return bytes([address, len(body) + 1]) + body + bytes([_crc8(body)])


def _crc8(data):
    """Bit by bit, polynomial 0xD5."""
    crc = 0
    for byte in data:
        for bit in range(7, -1, -1):
            out = crc >> 7 ^ byte >> bit & 1
            crc = crc << 1 & 0xFF ^ (0xD5 if out else 0)
    return crc


def crsf_channels(channels):
    return crsf_frame(0x16, packed(channels))


def crsf_link(quality):
    return crsf_frame(0x14, bytes([60, 70, quality, 8, 0, 4, 3, 50, 100, 6]))


# --- bad lines -------------------------------------------------------------------------------


def bad_line(frames, seed, loss=0.002, flips=0.002, noise=0.002):
    """The frames as one stream with bytes lost, bits flipped and bytes that nobody sent.

    Returns the stream and the set of the frames' numbers that came whole.
    """
    chance = random.Random(seed)
    stream, whole = bytearray(), set()
    for number, frame in enumerate(frames):
        before = len(stream)
        for byte in frame:
            if chance.random() < loss:
                continue
            if chance.random() < noise:
                stream.append(chance.randrange(256))
            stream.append(byte ^ (1 << chance.randrange(8) if chance.random() < flips else 0))
        if bytes(stream[before:]) == bytes(frame):
            whole.add(number)
    return bytes(stream), whole


def torn(stream, seed):
    """The stream in pieces of 0 to 40 bytes."""
    chance = random.Random(seed)
    at = 0
    while at < len(stream):
        size = chance.randrange(41)
        yield stream[at : at + size]
        at += size
