"""The queue between a driver's commands and the car.

Messages that arrive faster than a line can carry them wait, first come, first served. A command
then takes effect late and lasts longer: at 1400 messages a second on a line that carries 1000, four
seconds of throttle drive the car for 5.6. A fixed delay comes on top: buffers, the car's own loop,
and the offset of the odometry's clock.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calibration.arrays import Floats
from calibration.logs.run import Commands

BURST_S = 0.1  # long beside the interval of commands, short beside a drive
BURST = 100  # i.e. 1000 a second; the jump is eightfold, so 50 or 200 would find it too


class CommandChange(NamedTuple):
    """The commands that are in effect from ``t_s`` on, until the next change."""

    t_s: float
    throttle_norm: float
    steering_norm: float


def opening_s(arrivals_s: Floats) -> float:
    """Return the time of the first message with ``BURST`` more within ``BURST_S``: the queue opens.

    It is the time of the first message where the rate never jumps. In the logs of the real Nigel a
    driver's messages come at 250 a second for 1.1 to 1.7 s, then suddenly at 2100; the car starts
    0.3 s after that jump, whenever the first message came. So the first messages are held until the
    jump, and none is lost.
    """
    later = np.searchsorted(arrivals_s, arrivals_s + BURST_S) - np.arange(len(arrivals_s))
    bursts = np.flatnonzero(later > BURST)
    return float(arrivals_s[bursts[0] if bursts.size else 0])


def departures_s(arrivals_s: Floats, delay_s: float, s_per_message: float) -> Floats:
    """Return the time at which each message takes effect; ``arrivals_s`` must rise.

    The queue is a single server that opens at ``opening_s`` and takes ``s_per_message`` for each
    message: Lindley's recursion d_i = max(a_i, d_(i-1)) + s, unrolled into a running maximum of a_i
    - i s. Where ``s_per_message`` is 0 there is no queue, only the delay.
    """
    if s_per_message == 0.0:
        return arrivals_s + delay_s
    held_s = s_per_message * np.arange(1, len(arrivals_s) + 1)
    ready_s = np.maximum(arrivals_s, opening_s(arrivals_s))
    begun_s = np.maximum.accumulate(ready_s - (held_s - s_per_message))
    return np.asarray(begun_s + held_s + delay_s)


def command_changes(commands: Commands, times_s: Floats) -> list[CommandChange]:
    """Return the changes of command that the car sees, if message i takes effect at ``times_s[i]``.

    Both commands are 0 before the first change. Messages that repeat their channel's value are left
    out.
    """
    throttle = steering = 0.0
    found = []
    for i in _changed_indices(commands):
        value = float(commands.value_norm[i])
        throttle, steering = (throttle, value) if commands.is_steering[i] else (value, steering)
        found.append(CommandChange(float(times_s[i]), throttle, steering))
    return found


def _changed_indices(commands: Commands) -> list[int]:
    """Return the indices of the messages that differ from the previous one of their channel."""
    news: list[int] = []
    for channel in (False, True):
        own = np.flatnonzero(commands.is_steering == channel)
        news.extend(own[np.diff(commands.value_norm[own], prepend=0.0) != 0.0].tolist())
    return sorted(news)
