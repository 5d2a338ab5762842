"""Sends one kind of datagram at a rate: ``python flood.py KIND ADDRESS PORT A_SECOND SECONDS``.

It prints how many it sent.
"""

import os
import socket
import sys
import time
from collections.abc import Callable

from host_bridge.sharing.network.sealed import handshake
from host_bridge.sharing.stop.frozen_stop import stop_frame

TICK_S = 0.001


def _identify() -> bytes:
    from firmware.protocol.messages import Identify
    from host_bridge.link.protocol import wire

    return wire.encode(wire.new(Identify, token=1, challenge=bytes(8))).ljust(64, b"\0")


def kinds() -> dict[str, Callable[[], bytes]]:
    """By name what makes the next datagram."""
    identify = _identify()
    head = handshake.head(handshake.START)
    return {
        "garbage": lambda: os.urandom(64),
        "handshakes (HELLO)": lambda: handshake.hello(os.urandom(8), os.urandom(16)),
        "handshakes (START)": lambda: head + os.urandom(104),
        "sealed garbage": lambda: b"\x20\0" + os.urandom(63),
        "open questions": lambda: identify,
        "open stops": lambda: stop_frame(int.from_bytes(os.urandom(2), "little"), "flood").ljust(
            64, b"\0"
        ),
    }


def flood(kind: str, address: str, port: int, per_s: float, seconds: float) -> int:
    make = kinds()[kind]
    end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    end.setblocking(False)
    begun_s = now_s = time.monotonic()
    sent = 0
    while now_s < begun_s + seconds:
        while sent < (now_s - begun_s) * per_s:
            try:
                end.sendto(make(), (address, port))
            except OSError:
                break  # its own queue is full: as many as go
            sent += 1
        time.sleep(TICK_S)
        now_s = time.monotonic()
    return sent


if __name__ == "__main__":
    print("ready", flush=True)
    print(
        flood(sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])),
        flush=True,
    )
