"""Sentences for the person at a station, as STATUSTEXT: pieces of 50 bytes under one number."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from host_bridge.core import CarEvent, EventCode
from host_bridge.station.mavlink.messages.dialect import mavlink

_PIECE = 50  # bytes of STATUSTEXT.text
_NUMBERS = 0xFFFF  # 0 is for a text of one piece

CRITICAL: int = mavlink.MAV_SEVERITY_CRITICAL
WARNING: int = mavlink.MAV_SEVERITY_WARNING
NOTICE: int = mavlink.MAV_SEVERITY_NOTICE
INFO: int = mavlink.MAV_SEVERITY_INFO

# How much an event of the car matters to who looks at a screen; all others are INFO
_SEVERITIES = {
    EventCode.STOP_LATCHED: CRITICAL,
    EventCode.FAULT_LATCHED: CRITICAL,
    EventCode.ACTION_REFUSED: WARNING,
    EventCode.CLAIM_REFUSED: WARNING,
    EventCode.SOURCE_SILENT: WARNING,
    EventCode.BATTERY: WARNING,
    EventCode.BEAT: WARNING,
    EventCode.STATE_CHANGED: NOTICE,
    EventCode.ACTION_TAKEN: NOTICE,
}


def severity(event: CarEvent) -> int:
    """Return MAVLink's severity of a car's event."""
    return _SEVERITIES.get(event.code, INFO)


class StatusTexts:
    """Makes messages of sentences, and numbers those that need more than one."""

    def __init__(self) -> None:
        self._number = 0

    def messages(self, level: int, sentence: str) -> Iterator[Any]:
        """Yield the messages of a sentence, cut between letters."""
        pieces = list(_pieces(sentence))
        number = 0
        if len(pieces) > 1:
            self._number = self._number % _NUMBERS + 1
            number = self._number
        for place, piece in enumerate(pieces):
            yield mavlink.MAVLink_statustext_message(level, piece, number, place)


def _pieces(sentence: str) -> Iterator[bytes]:
    """Yield the sentence's bytes in pieces that end where a letter does.

    A text that fills its last piece is followed by an empty one, for that is how its end is told.
    """
    piece = b""
    for letter in sentence:
        encoded = letter.encode()
        if len(piece) + len(encoded) > _PIECE:
            yield piece
            piece = b""
        piece += encoded
    yield piece
    if len(piece) == _PIECE and len(sentence.encode()) > _PIECE:
        yield b""
