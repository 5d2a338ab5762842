"""Taps: every frame at an owner, both ways, for logs.

A tap's stream is a sequence of records: ``HEADER`` (direction, size, time in monotonic us, bytes
lost on this tap so far) followed by the bytes.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable
from pathlib import Path

from host_bridge.core.errors import DeviceFault
from host_bridge.link.transports.descriptor import Stream
from host_bridge.sharing.endpoints.endpoint import SocketEndpoint
from host_bridge.sharing.endpoints.served import socket_path
from host_bridge.sharing.owner.board_verification import DOWN, UP, RelayedFrames
from host_bridge.sharing.owner.owner import Owner

HEADER = struct.Struct("<BIQQ")
DIRECTIONS = (UP, DOWN)
# Unlike a claim, a log has to survive a slow disk, for a few seconds.
_SEND_BUFFER_BYTES = 1 << 20
_READ_BYTES = 1 << 16


def tap_path(name: str) -> Path:
    """Return the path of the socket for taps. Raises as ``socket_path`` does."""
    return socket_path(name).with_suffix(".tap")


def tap_endpoint(name: str) -> SocketEndpoint:
    """Return the listener for taps. Nothing that comes this way reaches the car."""
    return SocketEndpoint(tap_path(name), name, _TapClient)


class _TapClient:
    """The owner's end of one tap."""

    def __init__(self, end: socket.socket, owner: Owner) -> None:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _SEND_BUFFER_BYTES)
        self._lost_bytes = 0
        self._socket = end
        self._stream = Stream(end.fileno(), lambda data: None, self._lose)
        self._unsubscribe = owner.taps.subscribe(self._tap)

    def _tap(self, relayed: RelayedFrames) -> None:
        place, size = DIRECTIONS.index(relayed.direction), len(relayed.frames)
        header = HEADER.pack(place, size, relayed.time_us, self._lost_bytes)
        if not self._stream.send(header + relayed.frames):
            self._lost_bytes += size

    def _lose(self, error: OSError | None) -> None:
        self._unsubscribe()
        self._socket.close()


class TapReader:
    """A parser of a tap's stream, which calls ``tap``; ``lost_bytes`` is the owner's count."""

    def __init__(self, tap: Callable[[RelayedFrames], None]) -> None:
        self.lost_bytes = 0
        self.has_heard = False
        self._tap = tap
        self._rest = bytearray()

    def feed(self, data: bytes) -> None:
        self.has_heard = True
        self._rest += data
        while len(self._rest) >= HEADER.size:
            place, size, time_us, self.lost_bytes = HEADER.unpack_from(self._rest)
            end = HEADER.size + size
            if len(self._rest) < end:
                return
            frames = bytes(self._rest[HEADER.size : end])
            self._tap(RelayedFrames(DIRECTIONS[place], frames, time_us))
            del self._rest[:end]


class TapLine:
    """A client's end of a tap."""

    def __init__(self, stream: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._stream = stream
        self._writer = writer  # kept, else the connection would be closed

    async def follow(self, reader: TapReader) -> None:
        """Pass on what comes, until the owner ends."""
        try:
            while data := await self._stream.read(_READ_BYTES):
                reader.feed(data)
        finally:
            self._writer.close()


async def listen_in(name: str) -> TapLine:
    """Connect to a car's tap. Raises errors.DeviceFault if there is no owner."""
    try:
        return TapLine(*await asyncio.open_unix_connection(tap_path(name)))
    except OSError as error:
        raise DeviceFault(
            "its owner lets nobody listen in",
            where=f"tandem:///{name}",
            got=error.strerror or str(error),
            remedy="is it still there? tandem cars lists the cars that are served",
        ) from None
