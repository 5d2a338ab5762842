"""Inputs for tests: a person without a terminal, a manoeuvre that is played, what an input sees."""

from __future__ import annotations

import asyncio

from host_bridge.core import DriveCommand, Input, InputContext, Observed, OperatorRequest
from host_bridge.drive.controls import Controls, DriveContext, open_inputs
from host_bridge.drive.options import DriveOptions
from host_bridge.inputs.keyboard import SEAT, SLOW_SEAT, KeyboardSeat
from host_bridge.inputs.manoeuvres import Manoeuvre, ManoeuvrePlayer

DRIVING = Observed((), is_driving=True, is_permitted=True)
RELEASED = Observed((), is_driving=True, is_permitted=False)
STANDING = Observed((), is_driving=False, is_permitted=True)


class Person(Input):
    """Whoever sits at a keyboard; press a key by the seat's ``on_key``."""

    is_person = True

    def __init__(self, has_releases: bool = True, seat: KeyboardSeat | None = None) -> None:
        self.source = SEAT if has_releases else SLOW_SEAT
        self.has_releases = has_releases
        self.seat = seat
        self.given: list[OperatorRequest] = []

    async def open(self, context: InputContext) -> None:
        self.seat = self.seat or KeyboardSeat(context.limits(self.source), self.has_releases)

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        assert self.seat is not None, "opened, or given a seat"
        self.seat.step(now_us)
        return self.seat.read(now_us)

    def requests(self) -> list[OperatorRequest]:
        given, self.given = self.given, []
        return given

    def let_go(self) -> None:
        assert self.seat is not None, "opened, or given a seat"
        self.seat.let_go()


def playing(manoeuvre: Manoeuvre) -> ManoeuvrePlayer:
    """An input that plays it, open already."""
    player = ManoeuvrePlayer(lambda context, limits: manoeuvre)
    player.manoeuvre = manoeuvre
    return player


def context(vehicles, **options) -> DriveContext:
    """What an input is opened with."""
    return DriveContext(DriveOptions(("car",), **options), vehicles, lambda: 0)


def taken(
    chosen: Input,
    vehicles,
    *,
    is_virtual: bool,
    person: Input | None = None,
    terminal: Input | None = None,
    **options,
) -> Controls:
    """The controls of an input, open. Raises errors.TandemError."""
    asked = DriveOptions(("car",), **options)
    return asyncio.run(
        open_inputs(asked, vehicles, is_virtual, chosen, person, lambda: 0, terminal)
    )
