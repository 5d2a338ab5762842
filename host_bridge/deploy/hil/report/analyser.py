"""Measurements from a logic analyser's CSV: pulse widths, first pulse, reactions to the runstop.

It takes what Saleae's Logic, PulseView and sigrok-cli export, with time: a first column of times,
then a column of 0 and 1 for each channel, and a line with the names before them; a line for each
change, or one for each sample. Lines that begin with a semicolon are remarks.

The unit of the times is in the name of their column (``Time [s]``). sigrok names none: it counts in
the largest unit in which a sample takes at least one, and rounds what a sample takes down (41 ns at
24 MHz). So its times are made of its remark ``Samplerate``.
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from host_bridge.core.files import (
    Table,
    TableSchema,
    integer,
    number,
    parse_number,
    raised_as,
    stream_table,
)
from host_bridge.deploy.hil import wirings
from host_bridge.deploy.hil.report.limits import judged, unmeasured
from host_bridge.deploy.hil.report.report import Measurement

# The signals that a channel can carry, and what each is for
PARTS = {
    "esc": "the drive's pulses",
    "servo": "the steering's pulses",
    "power": "the board's 3.3 V, or what switches it",
    "loop": "the runstop pin, high while the loop is closed",
    "life": "the life signal of the drive enable",
    "brake": "the pulses of a brake servo",
    "vesc": "the board's line to a VESC",
    "pwm": "an H-bridge's PWM",
    "in1": "its first direction pin",
    "in2": "its second one",
    "standby": "its standby pin, where the board has it",
}
KEYS = (
    "first_pulse", "pulse_width", "runstop_pulse", "runstop_life", "runstop_brake", "runstop_word",
    "runstop_bridge",
)  # fmt: skip
_OPENED = ("runstop_pulse", "runstop_life", "runstop_brake", "runstop_word", "runstop_bridge")
_BRIDGE = ("pwm", "in1", "in2")
CLOCK = "the analyser's clock"
_SHORTEST_S, _LONGEST_S = 300e-6, 3e-3  # the limits of a servo's or an ESC's pulse
_NEAR_S = 5e-6  # a pulse this near to neutral counts as neutral


_TIME = "time"  # what its column is called here
_LATEST = 1e16  # in the file's unit: three years of picoseconds are refused, a day is not
_UNITS_S = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "ps": 1e-12}
_UNIT = re.compile(rf"[\[( _]({'|'.join(_UNITS_S)})[\])]?$")  # the end of Time [s], Time(s), t_s
_RATE = re.compile(r"samplerate: ([\d.]+) ([kmg]?)hz", re.IGNORECASE)
_RATES_HZ = {"": 1.0, "k": 1e3, "m": 1e6, "g": 1e9}


@dataclass(frozen=True)
class CapturedChannel:
    """The changes of one channel, and its level before them, ``first``."""

    first: int
    times_s: Sequence[float]
    levels: Sequence[int]

    def edges(self, level: int) -> list[float]:
        return [t for t, to in zip(self.times_s, self.levels, strict=True) if to == level]

    def pulses(self) -> list[tuple[float, float]]:
        """Return rise and width of each high pulse that can be a servo's."""
        found, rise_s = [], None
        for time_s, level in zip(self.times_s, self.levels, strict=True):
            if level:
                rise_s = time_s
            elif rise_s is not None and _SHORTEST_S < time_s - rise_s < _LONGEST_S:
                found.append((rise_s, time_s - rise_s))
        return found


def schema_of(parts: Sequence[str]) -> TableSchema:
    """Return the schema of a capture of these signals."""
    return TableSchema(
        "logic analyser's capture",
        (number(_TIME, -_LATEST, _LATEST), *(integer(part, 0, 1) for part in parts)),
        rows="samples",
        rising=_TIME,
        example="Time [s],D0,D1 / 0.000001,1,0 (sigrok-cli -O csv:time=true:label=channel)",
        first=_TIME,
        remarks=("#", ";"),
    )


def read(
    path: Path, named: Mapping[str, str], told: Callable[[int, int], None] | None = None
) -> dict[str, CapturedChannel]:
    """Return channels by signal; ``named`` maps each to its column: {"esc": "Channel 0"}.

    ``told`` is called with the bytes that were read, and those of the file. Raises
    errors.DataFileFault.
    """
    table, rows = stream_table(path, schema_of(list(named)), named, told)
    with raised_as():
        seconds_of = _clock_of(table)
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    times = {part: array("d") for part in named}
    levels = {part: bytearray() for part in named}
    for _, values in rows:
        for part in named:
            level = values[part]
            if last.setdefault(part, level) != level:
                times[part].append(seconds_of(values[_TIME]))
                levels[part].append(level)
                last[part] = level
            first.setdefault(part, level)
    return {part: CapturedChannel(first[part], times[part], levels[part]) for part in named}


def _clock_of(table: Table) -> Callable[[float], float]:
    """Return what makes seconds of the times of a capture. Raises FileFault."""
    if unit := _UNIT.search(table.heading.lower()):
        unit_s = _UNITS_S[unit[1]]
        return lambda time: time * unit_s
    rates = [found for remark in table.comments if (found := _RATE.match(remark))]
    if not rates:
        raise table.fault(
            table.header_line,
            "its first column is no time in a unit that is known",
            "a name as Time [s], or sigrok's remark Samplerate before it",
            table.heading,
        )
    return _sigrok_clock(parse_number(rates[0][1]) * _RATES_HZ[rates[0][2].lower()])


def _sigrok_clock(rate_hz: float) -> Callable[[float], float]:
    """Return what makes seconds of sigrok's times, which are multiples of a rounded sample."""
    units_per_s = 1
    while units_per_s < rate_hz:
        units_per_s *= 1000
    step = units_per_s // rate_hz
    return lambda time: round(time / step) / rate_hz


def measure(
    channels: Mapping[str, CapturedChannel],
    neutral_us: float = 1500.0,  # of servos and ESCs that are not set otherwise
) -> Iterator[Measurement]:
    """Yield everything that these channels show."""
    neutral_s = neutral_us * 1e-6
    yield _first_pulse(channels)
    yield _width(channels, neutral_s)
    yield from _runstop(channels, neutral_s)


def _first_pulse(channels: Mapping[str, CapturedChannel]) -> Measurement:
    power, esc = channels.get("power"), channels.get("esc")
    if power is None or esc is None or not power.edges(1):
        return unmeasured("first_pulse", "a capture with power= (rising) and esc= tells")
    up_s = power.edges(1)[0]
    later = [rise_s - up_s for rise_s, _ in esc.pulses() if rise_s > up_s]
    if not later:
        return unmeasured("first_pulse", "the power came, and no pulse of the esc after it")
    how = "from the rise of power to the rise of the ESC's first pulse"
    servo = (
        [s - up_s for s, _ in channels["servo"].pulses() if s > up_s] if "servo" in channels else []
    )
    return judged("first_pulse", later[0], how, CLOCK, servo_s=servo[0] if servo else None)


def _width(channels: Mapping[str, CapturedChannel], neutral_s: float) -> Measurement:
    pulses = channels["esc"].pulses() if "esc" in channels else []
    neutral = [abs(w - neutral_s) for _, w in pulses if abs(w - neutral_s) < 2 * _NEAR_S]
    if not neutral:
        return unmeasured("pulse_width", "a capture with esc= at neutral tells")
    off_us = max(neutral) * 1e6
    widths = sorted(round(w * 1e6, 2) for _, w in pulses)
    how = f"the worst of {len(neutral)} pulses near neutral, of {len(pulses)}"
    ends = {"narrowest_us": widths[0], "widest_us": widths[-1]}
    return judged("pulse_width", off_us, how, CLOCK, **ends)


def _runstop(channels: Mapping[str, CapturedChannel], neutral_s: float) -> Iterator[Measurement]:
    opened = channels["loop"].edges(0) if "loop" in channels else []
    if not opened:
        why = "a capture with loop= (opened while it drives), and the channels of its drive tells"
        yield from (unmeasured(key, why) for key in _OPENED)
        return
    how = f"the longest of {len(opened)} times that the loop opened"
    to_neutral = [_to_neutral(channels.get("esc"), at, neutral_s) for at in opened]
    found = [s for s in to_neutral if s is not None]
    yield (
        judged("runstop_pulse", max(found) * 1e3, how, CLOCK)
        if len(found) == len(opened)
        else unmeasured("runstop_pulse", "the esc did not drive as the loop opened, or went on")
    )
    yield _life(channels.get("life"), opened, how)
    yield from _wirings(channels, opened, how)


def _wirings(
    channels: Mapping[str, CapturedChannel], opened: Sequence[float], how: str
) -> Iterator[Measurement]:
    """Yield the rows of other drives than an ESC, if their channels were captured."""
    brake, line = channels.get("brake"), channels.get("vesc")
    is_bridge = set(_BRIDGE) <= channels.keys()
    found = {
        "runstop_brake": [wirings.time_to_brake(brake, at) for at in opened] if brake else [],
        "runstop_word": [wirings.time_to_command(line, at) for at in opened] if line else [],
        "runstop_bridge": [wirings.time_to_idle(channels, at) for at in opened]
        if is_bridge
        else [],
    }
    for key, seconds in found.items():
        took = [s for s in seconds if s is not None]
        if seconds and len(took) == len(seconds):
            yield judged(key, max(took) * 1e3, how, CLOCK)
        else:
            went_on = "it did not drive as the loop opened, or went on"
            yield unmeasured(key, went_on if seconds else "its channels were not captured")


def _to_neutral(esc: CapturedChannel | None, opened_s: float, neutral_s: float) -> float | None:
    """Return the time to the rise of the first neutral pulse.

    None if it was neutral before, or never became so.
    """
    pulses = esc.pulses() if esc else []
    at = bisect_right([rise_s for rise_s, _ in pulses], opened_s)
    if at == 0 or abs(pulses[at - 1][1] - neutral_s) < _NEAR_S:
        return None
    for rise_s, width_s in pulses[at:]:
        if abs(width_s - neutral_s) < _NEAR_S:
            return rise_s - opened_s
    return None


def _life(life: CapturedChannel | None, opened: Sequence[float], how: str) -> Measurement:
    """Return the time to the last edge before a pause of 10 ms; a loop stays open for longer."""
    if life is None:
        return unmeasured("runstop_life", "a capture with life= tells")
    longest_s = 0.0
    for opened_s in opened:
        last_s = opened_s
        for time_s in life.times_s[bisect_right(life.times_s, opened_s) :]:
            if time_s - last_s > 10e-3:  # s: ten waves of 1 ms at least are missing: it has ended
                break
            last_s = time_s
        longest_s = max(longest_s, last_s - opened_s)
    return judged("runstop_life", longest_s * 1e6, how, CLOCK)
