"""A stop of a car that another machine serves, without a token. Imports little.

The frame goes as a datagram until the answer comes. The answer is not proven to be the car's: who
sits on the path can forge it. So a person is told that the car says it, and looks.
"""

from __future__ import annotations

import select
import socket
import time

from host_bridge.core.errors import DeviceFault
from host_bridge.sharing.endpoints.naming import parts_of
from host_bridge.sharing.stop.stop_request import AGAIN_S, GIVE_UP_S, StopCall

_SIZE = 64  # padded, so that no answer is longer than its question
_READ_BYTES = 2048  # bytes: more than one Ethernet frame, the longest datagram


def stop_afar(uri: str) -> StopCall:
    """Stop the car of ``tandem://HOST:PORT/NAME``. Raises errors.TandemError."""
    host, port, name = parts_of(uri)
    call = StopCall(name or host, 0)
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(family, kind, number) as end:
            end.connect(address)
            end.setblocking(False)
            _talk(end, call)
    except OSError as error:
        raise DeviceFault(
            "this host cannot be reached, so its car was not stopped",
            where=uri,
            got=error.strerror or str(error),
            remedy="use the car's runstop, or cut its power",
        ) from None
    if not call.is_seen:
        raise DeviceFault(
            f"no car acknowledged the stop within {GIVE_UP_S:g} s",
            where=uri,
            expected="tandem serve --listen on that host",
            got="silence",
            remedy="use the car's runstop, or cut its power",
        )
    return call


def _talk(end: socket.socket, call: StopCall) -> None:
    give_up_s = time.monotonic() + GIVE_UP_S
    while not call.is_seen and time.monotonic() < give_up_s:
        try:
            end.send(call.frame.ljust(_SIZE, b"\0"))
            if select.select([end], [], [], AGAIN_S)[0]:
                call.hear(end.recv(_READ_BYTES))
        except ConnectionRefusedError:  # nobody listens at this moment: it may begin to
            time.sleep(AGAIN_S)
