"""Measurements from a logic analyser's CSV: pulse widths, first pulse, reactions to the runstop.

It takes what Saleae's Logic, PulseView and sigrok-cli (``-O csv``) export, with time: a first
column of seconds, then a column of 0 and 1 for each channel, and a line with the names before
them; a line for each change, or one for each sample. Lines that begin with a semicolon are
sigrok's remarks.
"""

from __future__ import annotations

import csv
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

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


class BadCapture(ValueError):
    """Raised for a file that no analyser exports, or that lacks a channel."""


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


def read(path: Path, named: Mapping[str, str]) -> dict[str, CapturedChannel]:
    """Return channels by signal; ``named`` maps each to its column: {"esc": "Channel 0"}.

    Raises BadCapture.
    """
    with path.open(newline="") as file:
        rows = csv.reader(line for line in file if line.strip() and not line.startswith(";"))
        try:
            head = [name.strip() for name in next(rows)]
        except StopIteration:
            raise BadCapture(f"{path} is empty") from None
        missing = sorted(set(named.values()) - set(head[1:]))
        if missing:
            there = ", ".join(head[1:])
            raise BadCapture(f"{path} has no column {missing[0]!r}; there is {there}")
        places = {part: head.index(column) for part, column in named.items()}
        return _channels(path, rows, places)


def _channels(
    path: Path, rows: Iterable[Sequence[str]], places: Mapping[str, int]
) -> dict[str, CapturedChannel]:
    first: dict[str, int] = {}
    changes: dict[str, tuple[list[float], list[int]]] = {part: ([], []) for part in places}
    last: dict[str, int] = {}
    for number, row in enumerate(rows, 2):
        try:
            time_s = float(row[0])
            levels = {part: int(row[at]) for part, at in places.items()}
        except (ValueError, IndexError):
            raise BadCapture(
                f"{path}, line {number}: expected seconds and a 0 or 1 for each channel, "
                f"got {','.join(row)[:60]}"
            ) from None
        for part, level in levels.items():
            if last.setdefault(part, first.setdefault(part, level)) != level:
                changes[part][0].append(time_s)
                changes[part][1].append(level)
                last[part] = level
    if not first:
        raise BadCapture(f"{path} has names and no samples")
    return {part: CapturedChannel(first[part], *changes[part]) for part in places}


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
