"""Every message of the dialect with any contents: none makes the gateway fail, and none moves."""

from __future__ import annotations

import random
import re
import struct

import pytest
from pymavlink.dialects.v20 import development as mavlink

from host_bridge.core import State
from tests.host_bridge.station.mavlink.rover import AFAR, LOCAL, Rover, StationEnd
from tests.support.evidence import some

TIMES = 2  # of each message, with other contents
SPECIAL = (b"\x00", b"\xff", b"\x7f", b"\x80", b"\x7f\xc0\x00\x00", b"\x00\x00\xc0\x7f")


def to_the_car(kind, payload):
    """The same bytes, addressed to the car."""
    payload, at = bytearray(payload), 0
    tokens = re.findall(r"\d*[a-zA-Z]", kind.unpacker.format)
    for name, token in zip(kind.ordered_fieldnames, tokens, strict=True):
        if name in ("target", "target_system", "target_component"):
            payload[at] = 1
        at += struct.calcsize(f"<{token}")
    return bytes(payload)


def frame(number, payload, key_library):
    """A frame of a message with these bytes, whatever they mean."""
    kind = mavlink.mavlink_map[number]
    library = key_library
    header = mavlink.MAVLink_header(number, 0, 0, len(payload), library.seq, 255, 190)
    body = header.pack() + payload
    crc = mavlink.x25crc(body[1:])
    crc.accumulate(struct.pack("<B", kind.crc_extra))
    library.seq = (library.seq + 1) % 256
    return body + struct.pack("<H", crc.crc)


@pytest.mark.exhaustive
@pytest.mark.parametrize("address", [AFAR, LOCAL])
def test_no_contents_of_any_message_fail_or_move_anything(address):
    rover = Rover(has_guest=True, is_virtual=False, deadman=0)
    StationEnd(rover, address)
    library = mavlink.MAVLink(None)
    draw = random.Random(38)
    for number in some(sorted(mavlink.mavlink_map)):
        size = mavlink.mavlink_map[number].unpacker.size
        for _ in range(TIMES):
            payload = draw.randbytes(size)
            if draw.random() < 0.5:
                payload = (draw.choice(SPECIAL) * size)[:size]
            payload = to_the_car(mavlink.mavlink_map[number], payload)
            rover.gateway.hear(frame(number, payload, library), address)
    rover.advance(1.0)
    assert rover.gateway.view().lost_frames == 0  # all were understood
    assert rover.state in (State.STANDBY, State.STOPPING, State.STOPPED)
    assert abs(rover.speed_mps) < 0.02
