"""A bare UDP echo, beside which a car's control is told: it needs nothing but Python.

``serve ADDRESS PORT`` answers until it is ended. ``ask ADDRESS PORT HZ SECONDS`` sends datagrams as
long as a sealed claim, and prints the round trips in ms as JSON, null for what was lost.
"""

import json
import select
import socket
import sys
import time

CLAIM_BYTES = 65  # a claim, sealed
WAIT_S = 0.5  # after the last one


def serve(address: str, port: int) -> None:
    end = _socket(address)
    end.bind((address, port))
    print("ready", flush=True)
    while True:
        data, sender = end.recvfrom(2048)
        end.sendto(data, sender)


def ask(address: str, port: int, hz: float, seconds: float) -> None:
    end = _socket(address)
    end.connect((address, port))
    begun_s = time.monotonic()
    sent_s: list[float] = []
    took_ms: dict[int, float] = {}
    count = int(hz * seconds)
    while (now_s := time.monotonic()) < begun_s + count / hz + WAIT_S:
        due_s = begun_s + len(sent_s) / hz
        if len(sent_s) < count and now_s >= due_s:
            sent_s.append(now_s)
            try:
                end.send(len(sent_s).to_bytes(4, "little").ljust(CLAIM_BYTES, b"\0"))
            except OSError:
                continue  # nobody there, by an answer of before: lost
        wait_s = due_s - now_s if len(sent_s) < count else WAIT_S
        if not select.select([end], [], [], max(wait_s, 0.0))[0]:
            continue
        try:
            number = int.from_bytes(end.recv(2048)[:4], "little")
        except OSError:
            continue
        took_ms.setdefault(number, (time.monotonic() - sent_s[number - 1]) * 1e3)
    print(json.dumps([took_ms.get(number + 1) for number in range(len(sent_s))]))


def _socket(address: str) -> socket.socket:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM)


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], int(sys.argv[3]))
    else:
        ask(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5]))
