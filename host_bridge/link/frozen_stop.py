"""The two messages of a stop, which never change, for whoever has no time to import the rest."""

from __future__ import annotations

from firmware.protocol.codes import SENDER_COMMAND, SENDER_FLEET
from firmware.protocol.messages import Stop, StopSeen
from host_bridge.link import wire

# domain.State in words: its import costs the 40 ms that a stop has not
STATES = ("STARTING", "STANDBY", "ACTIVE", "HOLD", "STOPPING", "STOPPED", "FAULT")
_NAME_SIZE = 16


__all__ = ("SENDER_COMMAND", "SENDER_FLEET", "STATES", "StopWatch", "stop_frame")


def stop_frame(token: int, sender_name: str, sender: int = SENDER_COMMAND) -> bytes:
    """A Stop; the name is cut to 16 bytes of UTF-8."""
    name = sender_name.encode()[:_NAME_SIZE].decode("utf-8", "ignore").encode()
    return wire.encode(
        wire.new(Stop, token=token, sender=sender, sender_name=name.ljust(_NAME_SIZE, b"\0"))
    )


class StopWatch:
    """Looks for the acknowledgement of one stop; ``state`` is the one that it brought."""

    def __init__(self, token: int) -> None:
        self.is_seen = False
        self.state = ""
        self._token = token
        self._decoder = wire.Decoder()

    def feed(self, data: bytes) -> None:
        for message in self._decoder.feed(data):
            if isinstance(message, StopSeen) and message.token == self._token:
                self.is_seen = True
                known = message.state < len(STATES)
                self.state = STATES[message.state] if known else f"state {message.state}"
