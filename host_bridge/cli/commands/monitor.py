"""``tandem monitor``: shows the state of cars live."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.car_text import (
    hitl_text,
    host_clock_ahead_us,
    imu_text,
    pps_offset_text,
    rc_mode_text,
    step_time_text,
    stop_sources_text,
)
from host_bridge.cli.arguments.arg_types import add_seconds
from host_bridge.cli.arguments.car_option import add_car, add_vehicle_option, car_of, vehicle_for
from host_bridge.cli.output.status_line import (
    LiveLines,
    folded,
    short_line,
    shown_state,
    status_line,
)
from host_bridge.core import CarEvent, stop_remedy
from host_bridge.core.system.clock import Clock
from host_bridge.core.system.printable import one_line
from host_bridge.core.system.running import run_async
from host_bridge.core.texts.events import event_text
from host_bridge.core.texts.styles import STATE_STYLES, styled_text
from host_bridge.link.protocol.events import (
    CarRestarted,
    LinkIdentified,
    LinkLost,
    LinkMismatched,
    LinkNoisy,
)
from host_bridge.logs.rows import row_of, topic_of
from host_bridge.sharing.endpoints.attached import attached
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem monitor                every car that is served here, a line each
  tandem monitor nigel          one of them
  tandem monitor serial:///dev/ttyACM0
                                a car that nobody serves yet
  tandem monitor --json         lines of JSON: events as they come, the rest ten times a second

Below each car stand its stop sources (* is required in its profile), the mode of its transmitter,
and how long a step of its program takes, with the control periods that were missed; and the MAVLink
stations that are at it. A single car
has its latest events too. A terminal that is too low for all of it shows the state of every
car, then why it stands, then the rest. This command cannot move a car, nor keep one from moving.
"""
EVERY_S = 0.1  # as often as an eye can follow figures
_EVENTS_SHOWN = 5  # lines below a single car, which a person reads at a glance
_LINK_NEWS = (LinkLost, LinkMismatched, LinkNoisy, CarRestarted, LinkIdentified)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Show what cars do, live, and why they stopped."
    parser.epilog = EPILOG
    add_car(parser)
    add_vehicle_option(parser)
    parser.add_argument("--json", action="store_true", help="print lines of JSON")
    add_seconds(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Run until Ctrl-C, or for --seconds.

    Raises errors.TandemError.
    """
    return run_async(_monitor(args, host))


async def _monitor(args: argparse.Namespace, host: Host) -> int:
    names: list[str | None] = [car_of(args)]
    if names == [None]:
        names = [car.name for car in host.cars.served()] or [None]
    vehicle = vehicle_for(args, [str(name) for name in names])
    cars: list[OpenCar] = []
    show = _as_json if args.json else _as_lines
    try:
        for name in names:
            cars.append(await host.cars.open(name, vehicle=vehicle))
        await _watch(cars, show(cars, host.cars.clock), args.seconds)
    finally:
        for car in cars:
            await car.close()
    return 0


async def _watch(cars: Sequence[OpenCar], show: Callable[[], None], seconds: float | None) -> None:
    loop = asyncio.get_running_loop()
    begun_s = loop.time()
    while seconds is None or loop.time() - begun_s < seconds:
        await asyncio.sleep(EVERY_S)
        show()


def _as_lines(cars: Sequence[OpenCar], clock: Clock) -> Callable[[], None]:
    screen = LiveLines(sys.stdout)

    def show() -> None:
        columns, rows = shutil.get_terminal_size()
        whole = [_lines(car, clock.now_us()) for car in cars]
        if sys.stdout.isatty():
            screen.draw(fitted(cars, whole, columns, rows), columns, partial(painted, cars))
        else:
            screen.draw(_joined(whole) + _events(cars), columns)

    return show


def fitted(
    cars: Sequence[OpenCar], whole: Sequence[list[str]], columns: int, rows: int
) -> list[str]:
    """Return as much of each car as a terminal has room for: what scrolls up is drawn over no more.

    The state of each comes first, then why, then its numbers, and then the details.
    """
    short = [[short_line(car.car), lines[1]] for car, lines in zip(cars, whole, strict=True)]
    one = [_cut(f"{short_line(it.car)}  {_why(it)}", columns) for it in cars]
    room = rows - 1  # the cursor stands below
    for lines in (
        [*_joined(whole), *_events(cars)],
        _joined(whole),
        _joined([lines[:2] for lines in whole]),
        _joined(short),
        _joined([[line, _cut(reason, columns)] for line, reason in short]),
        one,
    ):
        if sum(len(folded(line, columns)) for line in lines) <= room:
            return lines
    return [*one[: room - 1], f"{len(one) - room + 1} more cars: make the terminal higher"]


def painted(cars: Sequence[OpenCar], row: str) -> str:
    """Return a row with the word of its car's state in the state's colour."""
    for car in (it.car for it in cars):
        name, word = one_line(f"{car.name:12}  "), shown_state(car)
        status = car.status if car.is_online() else None
        style = STATE_STYLES.get(status.shown_state, "") if status else "bad"
        if row.startswith(name) and word in row[len(name) :]:
            colours = not os.environ.get("NO_COLOR")
            return name + row[len(name) :].replace(
                word, styled_text(word, style, has_colours=colours), 1
            )
    return row


def _cut(line: str, columns: int) -> str:
    return line if len(line) <= columns else f"{line[: columns - 1]}…"


def _joined(cars: Sequence[list[str]]) -> list[str]:
    return [line for lines in cars for line in lines]


def _events(cars: Sequence[OpenCar]) -> list[str]:
    return _latest(cars[0]) if len(cars) == 1 else []


def _latest(opened: OpenCar) -> list[str]:
    """Return the newest events; on a terminal padded to a fixed number of lines."""
    car = opened.car
    found = [event_text(event, car.vehicle) for event in list(car.events)[-_EVENTS_SHOWN:]]
    padding = [""] * (_EVENTS_SHOWN - len(found)) if sys.stdout.isatty() else []
    return [f"    {text}" for text in found] + padding


def _lines(opened: OpenCar, now_us: int) -> list[str]:
    """Return the lines of one car; details that do not fit beside the numbers stand below them."""
    car = opened.car
    line = status_line(car).removesuffix(car.why_stopped()).rstrip()
    reason = _why(opened, _why_and_what_to_do(car))
    seconds = pps_offset_text(car, now_us, _unix_us())
    words = (stop_sources_text(car), rc_mode_text(car), imu_text(car), step_time_text(car), seconds)
    details = "   ".join(filter(None, words))
    stations = "; ".join(map(str, attached(opened.name)))
    below = [f"    {words}" for words in (hitl_text(opened.car), details, stations) if words]
    if sys.stdout.isatty():
        return [line, f"    {reason}", *below]
    return [line if reason in line else f"{line}  {reason}", *below]


def _why(opened: OpenCar, words: str = "") -> str:
    """Return why it is not heard, or the words on why it stands, in short if none are given."""
    return opened.why_offline.split("\n")[0] or words or opened.car.why_stopped()


def _why_and_what_to_do(car: ConnectedCar) -> str:
    why = car.why_stopped(has_age=True)
    return f"{why} {stop_remedy(car.status)}".rstrip() if why and car.status else why


def _unix_us() -> int:
    return time.time_ns() // 1000


def _as_json(cars: Sequence[OpenCar], clock: Clock) -> Callable[[], None]:
    # Events are printed with the samples, not in their callback: there a broken pipe would only
    # be logged, while here it ends the command.
    news: list[tuple[OpenCar, Sequence[object]]] = []
    for opened in cars:
        opened.events.subscribe(
            partial(lambda opened, events: news.append((opened, events)), opened)
        )

    def show() -> None:
        for opened, events in news:
            _print_events(opened, events)
        news.clear()
        for opened in cars:
            _print_sample(opened, clock.now_us())

    return show


def _print_events(opened: OpenCar, events: Sequence[object]) -> None:
    for event in events:
        if isinstance(event, CarEvent):
            text = event_text(event, opened.car.vehicle)
            _print(opened, topic_of(type(event)), {**row_of(event), "text": text})
        elif isinstance(event, _LINK_NEWS):
            _print(opened, topic_of(type(event)), {"text": str(event), **row_of(event)})


def _print_sample(opened: OpenCar, now_us: int) -> None:
    car = opened.car
    if not car.is_online():
        _print(opened, "link", {"is_up": False, "text": opened.why_offline})
        return
    if car.identity is not None:
        who = {"car_name": car.identity.car_name, "board_id": car.identity.board_id.hex()}
        _print(opened, "identity", {**who, "is_hitl": car.identity.is_hitl})
    for report in (car.status, car.motion, car.inputs, car.power, car.outputs):
        if report is not None:
            _print(opened, topic_of(type(report)), row_of(report))
    stations = [asdict(it) for it in attached(opened.name)]
    if stations:
        _print(opened, "stations", {"stations": stations})
    ahead_us = host_clock_ahead_us(car, now_us, _unix_us())
    if ahead_us is not None:
        _print(opened, "second", {"host_clock_ahead_us": ahead_us})
    left_s = car.stand_left_s()
    if left_s is not None:
        _print(opened, "stand", {"left_s": round(left_s, 1)})
    if car.status and car.status.state.is_halted:
        row = {"text": car.why_stopped()}
        age_s = car.stop_age_s()
        _print(opened, "why_stopped", row if age_s is None else {**row, "age_s": round(age_s, 1)})


def _print(opened: OpenCar, topic: str, row: dict[str, Any]) -> None:
    print(json.dumps({"car": opened.name, "topic": topic, **row}), flush=True)
