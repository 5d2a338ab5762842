"""A host and its guests in virtual time: no socket, no clock, the real keys."""

from __future__ import annotations

from firmware.protocol.codes import SENDER_GUEST
from firmware.protocol.messages import Act, Bind, Claim, Stop
from host_bridge.link.protocol import wire
from host_bridge.sharing.network.guest_link import GuestLink, GuestState
from host_bridge.sharing.network.guests import GuestBook, new_guest
from host_bridge.sharing.network.network_server import NetworkServer, Output
from host_bridge.sharing.network.sealed.handshake import Role

BOARD = bytes(range(8))
REMOTE = 7
HOST_ADDRESSES = [(f"192.0.2.{n}", 50_000 + n) for n in range(1, 40)]


class Bench:
    """A host with a car; what passed to the car is in ``passed``."""

    def __init__(self, folder, board=BOARD):
        folder.mkdir(mode=0o700, exist_ok=True)
        self.now_us = 1_000_000
        self.wall_s = 1_800_000_000.0
        self.book = GuestBook(board, folder, lambda: self.wall_s)
        self.has_car = True
        self.server = NetworkServer(self.book, lambda: self.has_car, self.now_us)
        self.passed: list[bytes] = []
        self.sent = 0

    def token(self, role=Role.DRIVE, for_s=3600.0, cap_mm_s=1000, stop_sources=0):
        limits = {"sources": 1 << REMOTE, "cap_mm_s": cap_mm_s, "stop_sources": stop_sources}
        guest = new_guest(role, "guest", for_s, **(limits if role is Role.DRIVE else {}))
        object.__setattr__(guest, "made_s", self.wall_s)
        object.__setattr__(guest, "until_s", self.wall_s + for_s)
        return self.book.invite(guest, "red", ())

    def take(self, out: Output):
        self.passed += out.frames
        self.sent += len(out.datagrams)
        return out.datagrams

    def hear(self, datagram, address=HOST_ADDRESSES[0]):
        return self.take(self.server.hear([(datagram, address)], self.now_us))

    def join(self, token, address=HOST_ADDRESSES[0], within_us=1_500_000) -> GuestLink:
        """The guest's link after its handshake, whatever came of it."""
        link = GuestLink(token, self.now_us)
        for _ in range(within_us // 10_000):
            for datagram in link.step(self.now_us):
                for answer, where in self.hear(datagram, address):
                    if where == address:
                        link.hear(answer, self.now_us)
            if link.state in (GuestState.LIVE, GuestState.REFUSED):
                break
            self.now_us += 10_000
        return link


def claim(epoch=5, source=REMOTE, speed=100, sequence=1):
    fields = dict.fromkeys(wire.LAYOUTS[Claim].names, 0)
    fields |= {"epoch": epoch, "source": source, "speed_mm_s": speed, "sequence": sequence}
    return wire.encode(wire.new(Claim, **{**fields, "mask": 7, "deadman": 1, "lease_ms": 120}))


def bind(epoch=5):
    return wire.encode(wire.new(Bind, epoch=epoch, protocol_hash=wire.own_protocol_hash()))


def stop(token=1):
    return wire.encode(wire.new(Stop, token=token, sender=SENDER_GUEST, sender_name=bytes(16)))


def act(epoch=5, sender=SENDER_GUEST):
    return wire.encode(
        wire.new(Act, epoch=epoch, action=1, sender=sender, value=0, nonce=0, config_hash=bytes(4))
    )
