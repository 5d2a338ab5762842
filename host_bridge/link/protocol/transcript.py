"""The decoding of frames of either direction, for logs."""

from __future__ import annotations

from firmware.protocol.codec import Message
from firmware.protocol.messages import Claim
from host_bridge.core import commands, reports
from host_bridge.link.protocol.units import claim_of, report_of
from host_bridge.link.protocol.wire import MessageDecoder


class LogDecoder:
    """A decoder for logs: from bytes as they come to a car's reports and a host's claims.

    Frames that are damaged, unknown or without SI values are left out; their bytes are logged
    anyway.
    """

    def __init__(self) -> None:
        self._decoder = MessageDecoder()

    def __call__(self, data: bytes) -> list[reports.Report | commands.Claim]:
        messages = self._decoder.feed(data)
        found = (_meaning(it) for it in messages if isinstance(it, Message))
        return [meaning for meaning in found if meaning is not None]


def _meaning(message: Message) -> reports.Report | commands.Claim | None:
    if isinstance(message, Claim):
        return claim_of(message)
    try:
        return report_of(message)
    except KeyError:  # another message of a host
        return None
