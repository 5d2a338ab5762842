"""Reaction of drives other than an ESC to an open loop: a brake servo, a VESC, an H-bridge.

Each is found in an analyser's channels, as ``analyser.py`` reads them.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

BAUD = 115_200  # a VESC's line, 8N1, idle high
_BITS = 8  # of a byte on the line, the lowest first
_CHANGED_S = 20e-6  # a brake's pulse that differs by more has moved
_PAUSE_S = 10e-3  # a loop stays open for longer
# the VESC's commands, as firmware/drivers/outputs/vesc.py numbers them
_DUTY, _CURRENT, _BRAKE = 5, 6, 7
_DRIVES = (_DUTY, _CURRENT, _BRAKE)


class Levels(Protocol):
    """A channel of an analyser."""

    @property
    def first(self) -> int: ...
    @property
    def times_s(self) -> Sequence[float]: ...
    @property
    def levels(self) -> Sequence[int]: ...
    def pulses(self) -> list[tuple[float, float]]: ...


@dataclass(frozen=True)
class VescCommand:
    """A command to a VESC: its number, its value, and when its last byte had come."""

    time_s: float
    command: int
    value: int

    @property
    def drives(self) -> bool:
        """True if it turns the wheels forward."""
        return self.command == _DUTY and self.value > 0


def level_at(channel: Levels, time_s: float) -> int:
    """Return the channel's level at this time, 0 or 1."""
    at = bisect_right(channel.times_s, time_s)
    return channel.levels[at - 1] if at else channel.first


def time_to_brake(brake: Levels, opened_s: float) -> float | None:
    """Return the seconds from the opening to the first pulse that differs; None without one."""
    pulses = brake.pulses()
    at = bisect_right([rise_s for rise_s, _ in pulses], opened_s)
    if at == 0:
        return None
    before_s = pulses[at - 1][1]
    for rise_s, width_s in pulses[at:]:
        if abs(width_s - before_s) > _CHANGED_S:
            return rise_s - opened_s
    return None


def time_to_command(line: Levels, opened_s: float) -> float | None:
    """Return the seconds to the first command that does not drive.

    None if it did not drive at the opening, or goes on.
    """
    words = [word for word in vesc_commands(line) if word.command in _DRIVES]
    at = bisect_right([word.time_s for word in words], opened_s)
    if at == 0 or not words[at - 1].drives:
        return None
    for word in words[at:]:
        if not word.drives:
            return word.time_s - opened_s
    return None


def vesc_commands(line: Levels) -> Iterator[VescCommand]:
    """Yield the short frames on a VESC's line: 02, length, payload, two bytes of CRC, 03."""
    held: list[tuple[float, int]] = []
    for come in _bytes_of(line):
        held.append(come)
        while held and held[0][1] != 2:
            held.pop(0)
        if len(held) < 2 or len(held) < held[1][1] + 5:  # start, length, two of CRC, end
            continue
        payload = bytes(byte for _, byte in held[2 : 2 + held[1][1]])
        if held[-1][1] == 3 and payload:
            yield VescCommand(
                held[-1][0], payload[0], int.from_bytes(payload[1:], "big", signed=True)
            )
        held.clear()


def _bytes_of(line: Levels) -> Iterator[tuple[float, int]]:
    """Yield each byte with the middle of its stop bit."""
    bit_s, free_s = 1 / BAUD, float("-inf")
    for time_s, level in zip(line.times_s, line.levels, strict=True):
        if level or time_s < free_s:
            continue
        # the middle of the first bit, behind the start bit
        bits = [level_at(line, time_s + (1.5 + n) * bit_s) for n in range(_BITS)]
        free_s = time_s + (1.5 + _BITS) * bit_s  # the middle of the stop bit
        if level_at(line, free_s):
            yield free_s, sum(bit << n for n, bit in enumerate(bits))


def time_to_idle(channels: Mapping[str, Levels], opened_s: float) -> float | None:
    """Return the seconds until an H-bridge (pwm, in1, in2, perhaps standby) stops driving.

    None if it did not drive at the opening, or goes on.
    """
    there = [channels[part] for part in ("pwm", "in1", "in2", "standby") if part in channels]
    times_s = sorted({time_s for channel in there for time_s in channel.times_s})
    opened_at = bisect_right(times_s, opened_s)
    newest = times_s[bisect_right(times_s, opened_s - _PAUSE_S) : opened_at]
    drives = _drives(channels, opened_s)
    if not drives and not any(_drives(channels, time_s) for time_s in newest):
        return None
    last_s = opened_s
    for time_s in times_s[opened_at:]:
        if drives:
            last_s = time_s
        drives = _drives(channels, time_s)
        if drives and time_s - last_s > _PAUSE_S:
            return last_s - opened_s
    return None if drives else last_s - opened_s


def _drives(channels: Mapping[str, Levels], time_s: float) -> bool:
    if "standby" in channels and not level_at(channels["standby"], time_s):
        return False
    is_one_way = level_at(channels["in1"], time_s) != level_at(channels["in2"], time_s)
    return is_one_way and bool(level_at(channels["pwm"], time_s))
