"""A stop of a car that another machine serves, without a token. Imports little.

It goes as the stop of any fleet to one address until the answer comes, which names the car: of
several cars of a host each has a port of its own. The answer is not proven to be the car's: who
sits on the path can forge it. So a person is told that the car says it, and looks.
"""

from __future__ import annotations

import select
import socket
import time

from host_bridge.core.errors import DeviceFault
from host_bridge.core.texts.table import locked_state_word
from host_bridge.sharing.endpoints.naming import parts_of
from host_bridge.sharing.network.stops.fleet_messages import (
    EVERY_CAR,
    NAME_BYTES,
    parse_answer,
    stop_question,
)
from host_bridge.sharing.stop.stop_request import AGAIN_S, GIVE_UP_S, StopCall

_READ_BYTES = 2048  # bytes: more than one Ethernet frame, the longest datagram


class FarStopCall(StopCall):
    """A stop request to the car at an address; ``stranger`` is another one that answered there."""

    def __init__(self, host: str, wanted: str) -> None:
        super().__init__(wanted or host, 0)
        self.stranger = ""
        self._host = host
        self._wanted = wanted

    def hear(self, data: bytes) -> None:
        answer = parse_answer(data)
        if answer is None:
            return
        _, name, frame = answer
        if self._wanted and name != self._wanted[:NAME_BYTES]:
            self.stranger = name
            return
        self.name = self._wanted or name
        super().hear(frame)

    def row(self) -> dict[str, object]:
        return {**super().row(), "address": self._host, "answer": "said"}

    def __str__(self) -> str:
        state = locked_state_word(self.state)
        return f"{self.name} ({self._host}): {state}, says so after {self.took_ms:.0f} ms: look"


def stop_afar(uri: str) -> StopCall:
    """Stop the car of ``tandem://HOST:PORT/NAME``. Raises errors.TandemError."""
    host, port, name = parts_of(uri)
    call = FarStopCall(host, name)
    ends: list[socket.socket] = []
    try:
        _connect_all(host, port, ends)
        _talk(ends, call)
    except (OSError, UnicodeError) as error:
        raise DeviceFault(
            "this host cannot be reached, so its car was not stopped",
            where=uri,
            got=getattr(error, "strerror", None) or str(error),
            remedy="use the car's runstop, or cut its power",
        ) from None
    finally:
        for end in ends:
            end.close()
    if call.stranger and not call.is_seen:
        raise DeviceFault(
            f"another car is there, so {name} was not stopped",
            where=uri,
            expected=name,
            got=f"{call.stranger}, which was stopped",
            remedy="the address that tandem serve prints, with its port; or tandem stop "
            "--all-networks, the car's runstop, or cut its power",
        )
    if not call.is_seen:
        raise DeviceFault(
            f"no car acknowledged the stop within {GIVE_UP_S:g} s",
            where=uri,
            expected="tandem serve --listen on that host",
            got="silence",
            remedy="use the car's runstop, or cut its power",
        )
    return call


def _connect_all(host: str, port: int, ends: list[socket.socket]) -> None:
    """Add a socket towards each address of the host: its car may listen at one of them only.

    Raises OSError where there is none, and UnicodeError for what cannot be a name.
    """
    why = OSError(f"{host} has no address")
    for family, kind, number, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM):
        try:
            ends.append(_connected(socket.socket(family, kind, number), address))
        except OSError as error:  # such as on a machine without IPv6
            why = error
    if not ends:
        raise why


def _connected(end: socket.socket, address: object) -> socket.socket:
    try:
        end.setblocking(False)
        end.connect(address)  # type: ignore[arg-type]
    except OSError:
        end.close()
        raise
    return end


def _talk(ends: list[socket.socket], call: FarStopCall) -> None:
    """Repeat the stop until it is acknowledged, for a second.

    Raises OSError if the last one had no way to go.
    """
    now_s = again_s = time.monotonic()
    give_up_s = now_s + GIVE_UP_S
    faults: list[OSError] = []
    while not call.is_seen and now_s < give_up_s:
        if now_s >= again_s:
            again_s = now_s + AGAIN_S
            faults = _say(ends, call)
        for end in select.select(ends, [], [], max(again_s - now_s, 0.0))[0]:
            _hear(end, call)
        now_s = time.monotonic()
    if not call.is_seen and len(faults) == len(ends):
        raise faults[0]


def _say(ends: list[socket.socket], call: StopCall) -> list[OSError]:
    """Send the stop to all of them; return why it had no way to go."""
    faults = []
    for end in ends:
        try:
            end.send(stop_question(EVERY_CAR, call.frame))
        except ConnectionRefusedError:  # nobody listens at this moment: it may begin to
            pass
        except OSError as error:
            faults.append(error)
    return faults


def _hear(end: socket.socket, call: StopCall) -> None:
    try:  # noqa: SIM105 - contextlib takes 2 ms to import
        call.hear(end.recv(_READ_BYTES))
    except OSError:  # nobody listens there, as its host says
        pass
