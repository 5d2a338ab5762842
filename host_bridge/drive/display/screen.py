"""The driving screen: everything that the driver has to know, on 80 columns and 24 rows.

Pure functions: a drive and the time in, lines out. A line is made of spans, each with a style, and
is cut to the width before it is styled.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterator

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.car_text import (
    angle_text,
    cap_text,
    divergence_lines,
    hitl_text,
    profile_text,
    speed_text,
    status_age_ms,
    who_commands,
)
from host_bridge.core import CarStatus, State
from host_bridge.core.system.printable import one_line
from host_bridge.core.texts.table import NO_LINK, source_word
from host_bridge.drive import FleetDrive
from host_bridge.drive.display.agreement import agreement_text

Span = tuple[str, str]  # text, style

_STYLES = {
    "": "",
    "bar": "\x1b[7m",
    "bold": "\x1b[1m",
    "dim": "\x1b[2m",
    "good": "\x1b[1;32m",
    "care": "\x1b[1;33m",
    "bad": "\x1b[1;31m",
}
_COLOURLESS = {**_STYLES, **dict.fromkeys(("good", "care", "bad"), _STYLES["bold"])}
_STATE_STYLES = {
    State.ACTIVE: "good",
    State.HOLD: "bold",
    State.STOPPING: "bad",
    State.STOPPED: "bad",
    State.FAULT: "bad",
}
_GAUGE = 20  # cells to each side of the middle, where there is room for as many
_AROUND_GAUGE = 31  # columns before and after it, its middle among them
_OLD_MS = 100  # ten statuses are missing: something is wrong with the link
# the least important keys are last: a narrow terminal leaves them out
_KEYS = ("SPACE drive", "E stop", "R arm", "Esc quit", "W/S speed", "A/D steer", "Q centre")
_INDENT = "          "


def screen(drive: FleetDrive, now_us: int, columns: int, *, has_colours: bool = True) -> list[str]:
    """Return the screen's lines, styled, none wider than ``columns``."""
    lines = [
        _title(drive, now_us, columns),
        [(_keys(columns), "dim")],
        [],
        *_hands(drive, now_us, columns),
        *_gauges(drive, columns),
        [],
    ]
    for car in drive.fleet.cars:
        lines += [*_car(car, now_us, columns), []]
    lines += [*_together(drive, now_us, columns), *_notice(drive, now_us, columns)]
    styles = _STYLES if has_colours else _COLOURLESS
    return [_styled(line, columns, styles) for line in lines]


def _styled(line: list[Span], columns: int, styles: dict[str, str]) -> str:
    parts = []
    for text, style in line:
        cut = one_line(text)[:columns]
        columns -= len(cut)
        parts.append(f"{styles[style]}{cut}\x1b[0m" if style and cut else cut)
    return "".join(parts)


def _wrapped(text: str, style: str, columns: int, indent: str = " ") -> Iterator[list[Span]]:
    for line in textwrap.wrap(
        text,
        max(columns - 1, 20),  # a narrower terminal cuts lines off, which can still be read
        initial_indent=indent,
        subsequent_indent=indent,
    ):
        yield [(line, style)]


def _title(drive: FleetDrive, now_us: int, columns: int) -> list[Span]:
    minutes, seconds = divmod(int(drive.lasted_s(now_us)), 60)  # seconds of a minute
    progress_s = drive.controls.input.progress_s()
    played = f"   {progress_s[0]:.1f} of {progress_s[1]:.1f} s" if progress_s else ""
    left = f" TANDEM   {drive.phase.value}{played}"
    right = f"{source_word(drive.controls.source.name)}   {minutes:02}:{seconds:02} "
    room = columns - len(right)
    return [(left[: room - 1].ljust(room) + right, "bar")]


def _keys(columns: int) -> str:
    """Return as many keys, the most important first, as stand on one line."""
    text = " " + "   ".join(_KEYS)
    for count in range(len(_KEYS), 0, -1):
        if len(text) <= columns:
            break
        text = " " + "  ".join(_KEYS[:count])
    return text


def _hands(drive: FleetDrive, now_us: int, columns: int) -> Iterator[list[Span]]:
    if not drive.controls.is_held_by_hand():
        yield [(" DEADMAN  ", "bold"), ("scripted", "care"), ("   (virtual cars only)", "dim")]
        return
    hint = f"   {drive.controls.hint(now_us)}".rstrip()
    if drive.command.is_held:
        yield [(" DEADMAN  ", "bold"), ("HELD", "good"), (hint, "care")]
    else:
        yield [(" DEADMAN  ", "bold"), ("released", ""), (hint, "dim")]
    if drive.controls.deadman_status_text(now_us):
        yield from _wrapped(drive.controls.deadman_status_text(now_us), "care", columns)


def _gauges(drive: FleetDrive, columns: int) -> Iterator[list[Span]]:
    """Yield the gauges of the commanded speed and steering; their ends are this input's limits."""
    command = drive.command
    limits = drive.controls.limits
    half = min(_GAUGE, max((columns - _AROUND_GAUGE) // 2, 1))
    speed_part = command.speed_mps / limits.speed_mps if limits.speed_mps else 0.0
    steer_part = command.steer_rad / limits.steer_rad if limits.steer_rad else 0.0
    yield [
        (f" speed  {speed_text(command.speed_mps):>11}  ", ""),
        (_gauge(speed_part, half), "bold"),
        (f"  {limits.speed_mps:.2g} m/s", "dim"),
    ]
    yield [  # the left of the gauge is the left of the car
        (f" steer  {angle_text(command.steer_rad):>11}  ", ""),
        (_gauge(-steer_part, half), "bold"),
        (f"  {math.degrees(limits.steer_rad):.0f}°", "dim"),
    ]


def _gauge(part: float, half: int) -> str:
    """Return a bar from the middle to the right for 1 and to the left for -1, ``half`` as long."""
    cells = round(min(max(part, -1.0), 1.0) * half)
    left = ("█" * -min(cells, 0)).rjust(half, "·")
    right = ("█" * max(cells, 0)).ljust(half, "·")
    return f"{left}│{right}"


def _car(car: ConnectedCar, now_us: int, columns: int) -> Iterator[list[Span]]:
    name = f" {car.name[:8]:8} "
    status = car.status
    if status is None or not car.is_online():
        link_text = "ANOTHER CAR" if car.stranger else NO_LINK
        yield [(name, "bold"), (link_text, "bad"), (f"   {car.connection.state.value}", "dim")]
        return
    style = _STATE_STYLES.get(status.shown_state, "")
    profile = profile_text(car)
    yield [
        (name, "bold"),
        (f"{status.shown_state.word:9}", style),
        (f" {profile} " if profile else "", "care"),
        (f" {who_commands(car)}", ""),
        (f"   {cap_text(car)}" if cap_text(car) else "", "care"),
    ]
    if hitl_text(car):
        yield [(_INDENT + hitl_text(car), "care")]
    yield [(_INDENT + _motion(car, status), "")]
    yield from _link(car, now_us, columns)
    yield from _wrapped(car.why_stopped(has_age=True), "bad", columns, _INDENT)


def _motion(car: ConnectedCar, status: CarStatus) -> str:
    battery = f"   {car.power.battery_v:.1f} V" if car.power else ""
    return (
        f"speed {speed_text(status.speed_mps)} of {speed_text(status.target_mps)}   "
        f"steer {angle_text(status.steer_rad)}{battery}"
    )


def _link(car: ConnectedCar, now_us: int, columns: int) -> Iterator[list[Span]]:
    age = status_age_ms(car, now_us)
    statistics = car.connection.statistics
    trip_us = statistics.round_trip_us(50)  # per cent: the median
    trip = f"  round trip {trip_us * 1e-3:.1f} ms" if trip_us is not None else ""
    refused = car.counters.claims_refused if car.counters else 0
    missing = "lost" if car.is_line_lossy else "skipped"
    text = f"  {missing} {statistics.missed_statuses}  refused {refused}"
    is_old = age is None or age > _OLD_MS
    heard = "clock not known" if age is None else f"{age:.0f} ms old"
    line = [(f"{_INDENT}link ", ""), (heard, "care" if is_old else ""), (trip, "")]
    if sum(len(words) for words, _ in line) + len(text) <= columns:
        yield [*line, (text, "")]
        return
    yield line
    yield [(_INDENT + text.strip(), "")]


def _together(drive: FleetDrive, now_us: int, columns: int) -> Iterator[list[Span]]:
    if not drive.divergences:
        return
    words, is_well = agreement_text(drive)
    yield [(" together ", "bold"), (words, "" if is_well else "bad")]
    for car, divergence in zip(drive.fleet.cars[1:], drive.divergences, strict=True):
        for number, (text, is_alarm) in enumerate(divergence_lines(divergence, now_us)):
            head = f" {car.name[:8]:8} " if number == 0 else _INDENT
            yield [(head, "bold"), (text, "bad" if is_alarm else "")]
    yield []


def _notice(drive: FleetDrive, now_us: int, columns: int) -> Iterator[list[Span]]:
    for text in (drive.notice, drive.log_fault_text(), drive.controls.status_text(now_us)):
        if text:
            yield from _wrapped(text, "care", columns)
            yield []
