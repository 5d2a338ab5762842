"""Drives cars by a function, real ones too, while a person at the terminal holds the deadman."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import TypeAlias

from host_bridge import drive as driving
from host_bridge.core import DriveCommand, Input, InputContext, Observed
from host_bridge.core.system.running import run_async, run_in_thread
from host_bridge.drive import DriveOptions
from host_bridge.drive.display.lines import PlainView
from host_bridge.sharing.services import Host, make_host
from tandem.arguments import ArgumentFault, number, uri_of

Decide: TypeAlias = Callable[[float, Observed], "DriveCommand | tuple[float, float] | None"]


class FunctionInput(Input):
    """The input that calls a function on each step; None from it releases the deadman."""

    is_computed = True

    def __init__(self, decide: Decide) -> None:
        self._decide = decide
        self._begun_us: int | None = None
        self._count = 0

    async def open(self, context: InputContext) -> None:
        """Do nothing: the function's time begins when the cars drive."""

    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        """Return the function's command, once the cars are armed and a person permits it."""
        self._count += 1
        if not observed.is_driving or not observed.is_permitted:
            return DriveCommand(input_count=self._count)
        self._begun_us = now_us if self._begun_us is None else self._begun_us
        decided = self._decide((now_us - self._begun_us) * 1e-6, observed)
        if decided is None:
            return DriveCommand(input_count=self._count)
        if isinstance(decided, DriveCommand):
            return decided
        speed_mps, steer_rad = decided
        return DriveCommand(steer_rad, speed_mps, is_held=True, input_count=self._count)


def drive(
    decide: Decide,
    *cars: str | None,
    seconds: float | None = None,
    speed_mps: float | None = None,
    record: str | PathLike[str] | None = None,
    host: Host | None = None,
) -> int:
    """Drive one or more cars by a function, as ``tandem drive`` does; return its exit code.

    ``decide`` is called a hundred times a second with the time in s since driving began, and the
    newest reports of the cars. It returns speed in m/s and steering angle in rad, a
    ``DriveCommand``, or None to let go. All cars get the same claims; the others are compared with
    the first. If one is real, the function drives only while somebody holds SPACE at the terminal.
    Where an event loop runs already, as in a notebook, it drives in a thread of its own. Raises
    TandemError.
    """
    if not callable(decide):
        raise ArgumentFault(
            "tandem.drive() is given the function that decides, and then the cars",
            expected="tandem.drive(decide, 'sim://nigel')",
            got=repr(decide),
        )
    names: Sequence[str | None] = [uri_of(car) for car in cars] or [None]
    options = DriveOptions(
        cars=tuple(names),
        input=FunctionInput(decide),
        seconds=None if seconds is None else number("seconds", seconds, 0.0, unit="s"),
        speed_mps=None if speed_mps is None else number("speed_mps", speed_mps, 0.0, unit="m/s"),
        record=Path(record) if record else None,
    )
    main = driving.drive(options, PlainView(), host or make_host())
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run_async(main)
    return run_in_thread(main)
