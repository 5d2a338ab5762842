"""Drives cars by a function, real ones too, while a person at the terminal holds the deadman."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from host_bridge import drive as driving
from host_bridge.core.system.running import run_async, run_in_thread
from host_bridge.drive import DriveOptions
from host_bridge.drive.display.lines import PlainView
from host_bridge.inputs.function import Decide, FunctionInput
from host_bridge.sharing.services import Host, make_host
from tandem.arguments import ArgumentFault, number, uri_of


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
