"""The driving screen: everything that the driver has to know, on 80 columns and 24 rows.

Pure functions: a drive and the time in, lines out. A line is made of spans, each with a style. What
does not fit beside the rest goes on below, and a low terminal loses what matters least first.
"""

from __future__ import annotations

import math
import re
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
from host_bridge.core import CarStatus
from host_bridge.core.system.printable import one_line
from host_bridge.core.texts.styles import STATE_STYLES, styled_text
from host_bridge.core.texts.table import NO_LINK, source_word
from host_bridge.drive import FleetDrive
from host_bridge.drive.display.agreement import agreement_text

Span = tuple[str, str]  # text, style
Line = list[Span]
Ranked = tuple[int, Line]  # a line, and when it is left out
# When a low terminal leaves lines out: never, or the sooner the greater
_ALWAYS, _MOTION, _KEYBOARD, _TOGETHER, _LINK, _EMPTY = range(6)

_GAUGE = 20  # cells to each side of the middle, where there is room for as many
_AROUND_GAUGE = 31  # columns before and after it, its middle among them
_OLD_MS = 100  # ten statuses are missing: something is wrong with the link
# the least important keys are last: a narrow terminal leaves them out
_KEYS = ("SPACE drive", "E stop", "R arm", "Esc quit", "W/S speed", "A/D steer", "Q centre")
_INDENT = "          "


def screen(
    drive: FleetDrive, now_us: int, columns: int, rows: int, *, has_colours: bool = True
) -> list[str]:
    """Return the screen's lines, styled, none wider than ``columns``, and no more than ``rows``."""
    empty: Ranked = (_EMPTY, [])
    ranked = [
        *_always(_title(drive, now_us, columns), [(_keys(columns), "dim")]),
        empty,
        *_hands(drive, now_us, columns),
        *_always(*_gauges(drive, columns)),
        empty,
    ]
    for car in drive.fleet.cars:
        ranked += [*_car(car, now_us, columns), empty]
    ranked += [*_together(drive, now_us, columns), *_notice(drive, now_us, columns)]
    return [_styled(line, columns, has_colours) for line in _fitted(ranked, rows)]


def _always(*lines: Line) -> Iterator[Ranked]:
    yield from ((_ALWAYS, line) for line in lines)


def _fitted(ranked: list[Ranked], rows: int) -> list[Line]:
    """Return the lines without those that a screen of so many rows has no room for.

    Where too many lines are always there, the last one says how many are missing.
    """
    for least in range(_EMPTY, _ALWAYS, -1):
        if len(ranked) > rows:
            ranked = [(rank, line) for rank, line in ranked if rank < least]
    lines = [line for _, line in ranked]
    if len(lines) <= rows:
        return lines
    left_out = len(lines) - rows + 1
    return [*lines[: rows - 1], [(f" {left_out} more lines: make the terminal higher", "")]]


def _styled(line: Line, columns: int, has_colours: bool) -> str:
    parts = []
    for text, style in line:
        cut = one_line(text)[:columns]
        columns -= len(cut)
        parts.append(styled_text(cut, style, has_colours=has_colours))
    return "".join(parts)


def _flowing(spans: Line, columns: int) -> Iterator[Line]:
    """Yield the spans as lines: one that does not fit beside those before it goes on below them."""
    line: Line = []
    for text, style in spans:
        if line and sum(len(before) for before, _ in line) + len(text.rstrip()) > columns:
            yield line
            line = [(_INDENT, "")]
            text = text.lstrip()
        line.append((text, style))
    yield line


def _wrapped(text: str, style: str, columns: int, indent: str = " ") -> Iterator[Line]:
    for line in textwrap.wrap(
        text,
        max(columns - 1, 20),  # a narrower terminal cuts lines off, which can still be read
        initial_indent=indent,
        subsequent_indent=indent,
    ):
        yield [(line, style)]


def _title(drive: FleetDrive, now_us: int, columns: int) -> Line:
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


def _hands(drive: FleetDrive, now_us: int, columns: int) -> Iterator[Ranked]:
    head = (" DEADMAN  ", "bold")
    if not drive.controls.is_held_by_hand():
        yield from _always([head, ("scripted", "care"), ("   (virtual cars only)", "dim")])
        return
    hint = f"   {drive.controls.hint(now_us)}".rstrip()
    if drive.command.is_held:
        yield from _always([head, ("HELD", "good"), (hint, "care")])
    else:
        yield from _always([head, ("released", ""), (hint, "dim")])
    text = drive.controls.deadman_status_text(now_us)
    if text:
        yield from ((_KEYBOARD, line) for line in _wrapped(text, "care", columns))


def _gauges(drive: FleetDrive, columns: int) -> Iterator[Line]:
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


def _car(car: ConnectedCar, now_us: int, columns: int) -> Iterator[Ranked]:
    name = f" {car.name:8} "
    status = car.status
    if status is None or not car.is_online():
        link_text = "ANOTHER CAR" if car.stranger else NO_LINK
        state = f"   {car.connection.state.value}"
        spans = [(name, "bold"), (link_text, "bad"), (state, "dim")]
        yield from _always(*_flowing(spans, columns))
        return
    style = STATE_STYLES.get(status.shown_state, "")
    profile = profile_text(car)
    spans = [
        (name, "bold"),
        (f"{status.shown_state.word:9}", style),
        (f" {profile} " if profile else "", "care"),
        (f" {who_commands(car)}", ""),
        (f"   {cap_text(car)}" if cap_text(car) else "", "care"),
    ]
    yield from _always(*_flowing(spans, columns))
    if hitl_text(car):
        yield from _always([(_INDENT + hitl_text(car), "care")])
    first, *rest = _flowing(_motion(car, status), columns)
    yield _MOTION, first
    yield from ((_LINK, line) for line in rest)
    yield from _link(car, now_us, columns)
    yield from _always(*_wrapped(car.why_stopped(has_age=True), "bad", columns, _INDENT))


def _motion(car: ConnectedCar, status: CarStatus) -> Line:
    battery = f"   {car.power.battery_v:.1f} V" if car.power else ""
    speed = f"speed {speed_text(status.speed_mps)} of {speed_text(status.target_mps)}"
    return [
        (_INDENT + speed, ""),
        (f"   steer {angle_text(status.steer_rad)}", ""),
        (battery, ""),
    ]


def _link(car: ConnectedCar, now_us: int, columns: int) -> Iterator[Ranked]:
    age = status_age_ms(car, now_us)
    statistics = car.connection.statistics
    trip_us = statistics.round_trip_us(50)  # per cent: the median
    trip = f"  round trip {trip_us * 1e-3:.1f} ms" if trip_us is not None else ""
    refused = car.counters.claims_refused if car.counters else 0
    missing = "lost" if car.is_line_lossy else "skipped"
    is_old = age is None or age > _OLD_MS
    heard = "clock not known" if age is None else f"{age:.0f} ms old"
    text = f"  {missing} {statistics.missed_statuses}  refused {refused}"
    spans = [(f"{_INDENT}link ", ""), (heard, "care" if is_old else ""), (trip, ""), (text, "")]
    yield from ((_ALWAYS if is_old else _LINK, line) for line in _flowing(spans, columns))


def _together(drive: FleetDrive, now_us: int, columns: int) -> Iterator[Ranked]:
    if not drive.divergences:
        return
    words, is_well = agreement_text(drive)
    yield from _parts(" together ", words, not is_well, columns)
    for car, divergence in zip(drive.fleet.cars[1:], drive.divergences, strict=True):
        for number, (text, is_alarm) in enumerate(divergence_lines(divergence, now_us)):
            head = f" {car.name:8} " if number == 0 else _INDENT
            yield from _parts(head, text, is_alarm, columns)
    yield _EMPTY, []


def _parts(head: str, text: str, is_alarm: bool, columns: int) -> Iterator[Ranked]:
    """Yield a head and what is said beside it, in parts that stand together."""
    style, rank = ("bad", _ALWAYS) if is_alarm else ("", _TOGETHER)
    parts = [(part, style) for part in re.findall(r"\s*\S+(?: \S+)*", text)]
    yield from ((rank, line) for line in _flowing([(head, "bold"), *parts], columns))


def _notice(drive: FleetDrive, now_us: int, columns: int) -> Iterator[Ranked]:
    for text in (drive.notice, drive.log_fault_text(), drive.controls.status_text(now_us)):
        if text:
            yield from _always(*_wrapped(text, "care", columns))
            yield _EMPTY, []
