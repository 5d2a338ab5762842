"""``tandem:///NAME``: a car that a process on this machine serves, over its Unix socket.

The owner of a car listens at ``<runtime dir>/NAME.sock`` and describes itself in ``NAME.json``
beside it. The socket carries Tandem's frames both ways, verbatim.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from pathlib import Path

from host_bridge.core.errors import DeviceFault
from host_bridge.link.transports.base import Transport, TransportContext
from host_bridge.link.transports.descriptor import DescriptorTransport
from host_bridge.link.transports.uri import Uri
from host_bridge.sharing.endpoints.served import (
    ServedCar,
    announce,
    runtime_dir,
    served,
    socket_path,
    withdraw,
)

__all__ = [
    "LocalSocket",
    "ServedCar",
    "announce",
    "make",
    "runtime_dir",
    "served",
    "socket_path",
    "withdraw",
]

# The system doubles it and accounts some 800 bytes per small frame: some 40 frames, 400 ms of
# claims. By default many seconds of stale claims would pile up for an owner that hangs.
SEND_BUFFER_BYTES = 16_384


class LocalSocket(DescriptorTransport):
    """The client's end of the socket; the owner listens at the other."""

    def __init__(self, label: str, path: Path) -> None:
        super().__init__(label)
        self._path = path
        self._socket: socket.socket | None = None

    def _connect(self) -> int:
        end = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER_BYTES)
            end.setblocking(False)
            end.connect(str(self._path))  # a Unix socket connects at once or not at all
        except OSError as error:
            end.close()
            raise _connect_fault(self.label, error) from None
        self._socket = end
        return end.fileno()

    def _disconnect(self) -> None:
        if self._socket:
            self._socket.close()
            self._socket = None

    def _lost_fault(self, error: OSError | None) -> DeviceFault:
        return DeviceFault(
            "the program that served the car went away",
            where=self.label,
            got=error.strerror if error and error.strerror else "end of file",
            remedy="the car stops by itself; look at what tandem serve last said",
        )


def make(uri: Uri, context: TransportContext) -> Transport:
    """Return the transport of a ``tandem://`` URI. Raises errors.UsageFault, errors.DeviceFault."""
    if uri.authority:
        from host_bridge.sharing.network import network_car  # cryptography takes 20 ms to load

        return network_car.make(uri, context)
    uri.refuse_others()
    return LocalSocket(uri.text, socket_path(uri.path.removeprefix("/")))


def _connect_fault(label: str, error: OSError) -> DeviceFault:
    explain = _EXPLAINED.get(error.errno or 0)
    if explain:
        return explain(label)
    return DeviceFault(
        "the socket of the car cannot be used",
        where=label,
        got=str(error),
        remedy="is TANDEM_RUNTIME_DIR the folder it was served in, and short (under 80 letters)?",
    )


def _not_served(label: str) -> DeviceFault:
    names = ", ".join(f"tandem:///{car.name}" for car in served())
    return DeviceFault(
        "nobody serves this car",
        where=label,
        expected="a running tandem serve of that name",
        got=f"served here: {names or 'no car'}",
        remedy="start one: tandem serve --car serial:///dev/ttyACM0 --name NAME",
    )


def _not_answering(label: str) -> DeviceFault:
    return DeviceFault(
        "the program that serves the car does not answer",
        where=label,
        got="its queue of waiting clients is full",
        remedy="it hangs or was stopped: end it (tandem cars shows its pid) and start it again",
    )


_EXPLAINED: dict[int, Callable[[str], DeviceFault]] = {
    errno.ENOENT: _not_served,
    errno.ECONNREFUSED: _not_served,  # a socket that its owner left behind
    errno.EAGAIN: _not_answering,
}
