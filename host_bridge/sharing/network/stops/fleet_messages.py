"""The stop of a fleet as datagrams, and where it goes. Imports little.

A question is 64 bytes: type, the fleet's tag (u32), the frame of a Stop, zeros. An answer is 53:
type, board id, the first 16 bytes of the car's name, the frame of its StopSeen.
"""

from __future__ import annotations

from struct import Struct
from zlib import crc32

FLEET_STOP, FLEET_ANSWER = 0x01, 0x02  # types of datagrams
PORT = 27_400  # of every host that listens, for stops of fleets and nothing else
GROUP_IPV4, GROUP_IPV6 = "239.255.84.77", "ff12::5444:4d31"  # of the site, and of the link
EVERY_CAR = 0  # a tag that each car is meant by
NAME_BYTES = 16  # of a car's name in an answer, which is no longer than its question
_QUESTION = Struct("<BI59s")  # 64 bytes, so that no answer is longer
_ANSWER = Struct(f"<B8s{NAME_BYTES}s28s")


def fleet_tag(fleet: str) -> int:
    """Return the tag of a fleet; that of no name is ``EVERY_CAR``."""
    return crc32(fleet.encode())


def stop_question(tag: int, frame: bytes) -> bytes:
    """Return the datagram that stops a fleet."""
    return _QUESTION.pack(FLEET_STOP, tag, frame)


def parse_stop(datagram: bytes) -> tuple[int, bytes]:
    """Return tag and frame of a question, cut off where it is too short."""
    _, tag, frame = _QUESTION.unpack(datagram.ljust(_QUESTION.size, b"\0"))
    return tag, frame


def answer(board_id: bytes, car_name: str, frame: bytes) -> bytes:
    """Return the answer of a car, around the frame with which it acknowledged."""
    return _ANSWER.pack(FLEET_ANSWER, board_id, car_name.encode(), frame)


def parse_answer(datagram: bytes) -> tuple[bytes, str, bytes] | None:
    """Return board id, name and frame; None for anything else."""
    if len(datagram) != _ANSWER.size or datagram[0] != FLEET_ANSWER:
        return None
    _, board_id, name, frame = _ANSWER.unpack(datagram)
    return board_id, name.rstrip(b"\0").decode("utf-8", "replace"), frame
