"""The limits for a board, one row per measurement; made for an RP2040 at 200 MHz.

The table is for a control period of 10 ms; a longer one leaves more time for a step and an answer.
A car gets its period by its drive with one source (config/boards/step_time.py). With four it is
held to the longest period alone; what it misses with a shorter one is told.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from host_bridge.config.boards.step_time import LONGEST_STEP_US
from host_bridge.deploy.hil.report.report import Measurement

MOST, LEAST = "at most", "at least"


class Limit(NamedTuple):
    """The limit of one measurement.

    ``must`` is the limit and ``aim`` the goal, in ``unit``; with ``side`` MOST a larger value is
    worse.
    """

    what: str
    side: str
    must: float
    aim: float
    unit: str


STEP_MS = 10  # the control period that these limits were made for
_ANY = "any number of {}"  # of a row that is told and not judged, for this reason:
_TOLD = "told and not judged: a period below 20 ms is for one source"
ANSWER_MS = 50  # beside a step: the line, USB's polling, and this machine

LIMITS = {
    "stop_answer": Limit("Stop answered, standing by", MOST, ANSWER_MS + STEP_MS, 30, "ms"),
    "identify_answer": Limit("Identify answered, standing by", MOST, ANSWER_MS + STEP_MS, 30, "ms"),
    "stop_driving": Limit("Stop answered, driving", MOST, ANSWER_MS + STEP_MS, 30, "ms"),
    "identify_driving": Limit("Identify answered, driving", MOST, ANSWER_MS + STEP_MS, 30, "ms"),
    "step_longest": Limit("longest step while driving, with its lateness", MOST, 10, 9, "ms"),
    "beats_1": Limit("beats missed driving, one source at 100 Hz", MOST, 0, 0, "beats"),
    "beats_4": Limit("beats missed driving, four sources at 50 Hz", MOST, 0, 0, "beats"),
    "frames_damaged": Limit("frames damaged on the line while driving", MOST, 0, 0, "frames"),
    "repl": Limit("sixteen 0x03 lead to the REPL, standing by", MOST, 10, 3, "s"),
    "step_median": Limit("step while driving, median", MOST, 8, 6.5, "ms"),
    "step_p99": Limit("step while driving, p99", MOST, 9.5, 8, "ms"),
    "step_max": Limit("step while driving, longest", MOST, 10, 9, "ms"),
    "c_stack": Limit("C stack used while driving, of 8192", MOST, 7168, 6144, "B"),
    "stop_output": Limit("Stop frame to changed output word, p100", MOST, 20, 12, "ms"),
    "guard_share": Limit("the guard's share of the processor", MOST, 8, 5, "%"),
    "link_out": Limit("line from the car, beside its own work", LEAST, 15, 30, "kB/s"),
    "link_in": Limit("line to the car, beside its own work", LEAST, 15, 30, "kB/s"),
    "first_step": Limit("reset to the first step", MOST, 3, 2, "s"),
    "heap_spare": Limit("heap to spare at the car's start", LEAST, 4096, 8192, "B"),
    "heap_spare_hitl": Limit("heap to spare in the loop", LEAST, 0, 4096, "B"),
    "same_bytes": Limit("steps that differ from CPython's", MOST, 0, 0, "steps"),
    "first_pulse": Limit("power to the first safe pulse", MOST, 1, 0.4, "s"),
    "pulse_width": Limit("pulse at neutral, off by", MOST, 1, 0.5, "us"),
    "runstop_pulse": Limit("runstop opens to the first neutral pulse", MOST, 20, 20, "ms"),
    "runstop_life": Limit("runstop opens to the life signal's last edge", MOST, 1000, 100, "us"),
    "runstop_brake": Limit("runstop opens to the brake servo's first pulse", MOST, 60, 40, "ms"),
    "runstop_word": Limit("runstop opens to the VESC's first word to let go", MOST, 60, 40, "ms"),
    "runstop_bridge": Limit("runstop opens to an H-bridge that drives no more", MOST, 1, 1, "ms"),
    "flash": Limit("flashed, verified, up after its trial: files that lack", MOST, 0, 0, "files"),
    "runstop_hand": Limit("runstop opened by hand: signs of a stop that lack", MOST, 0, 0, "signs"),
    "encoder_ahead": Limit("wheels turned ahead by hand", LEAST, 1, 1, "counts"),
    "encoder_turn": Limit("one turn by hand, off the counts of the file", MOST, 10, 3, "%"),
    "power_standby": Limit("power cut, standing by: back within", MOST, 10, 5, "s"),
    "power_commit": Limit("power cut, storing its configuration: back within", MOST, 10, 5, "s"),
    "power_trial": Limit("power cut, its program on trial: back within", MOST, 10, 5, "s"),
}


_OF_THE_BEAT = ("step_longest", "step_median", "step_p99", "step_max")
_OF_THE_LONGEST_BEAT = ("beats_4",)
_AND_A_BEAT = ("stop_answer", "identify_answer", "stop_driving", "identify_driving")


def limit_for(key: str, beat_ms: float) -> Limit:
    """Return the limit for a car with this control period."""
    limit = LIMITS[key]
    if key in _OF_THE_BEAT:
        share = beat_ms / STEP_MS
        return limit._replace(must=limit.must * share, aim=limit.aim * share)
    if key in _AND_A_BEAT:
        return limit._replace(must=limit.must + beat_ms - STEP_MS)
    if key in _OF_THE_LONGEST_BEAT and beat_ms * 1000 < LONGEST_STEP_US:
        return limit._replace(must=math.inf)
    return limit


def judged(
    key: str, value: float, how: str, clock: str, beat_ms: float = STEP_MS, **detail: Any
) -> Measurement:
    """Return the row of a measured value, given in its limit's unit."""
    limit = limit_for(key, beat_ms)
    holds = value <= limit.must if limit.side == MOST else value >= limit.must
    how = f"{how}; {_TOLD}" if limit.must == math.inf else how
    return Measurement(
        limit.what, *_limits(limit), f"{value:.4g} {limit.unit}", how, clock, holds, detail
    )


def failed(key: str, why: str) -> Measurement:
    """Return the row of a measurement that failed."""
    limit = LIMITS[key]
    return Measurement(limit.what, *_limits(limit), got=why, holds=False)


def unmeasured(key: str, why: str) -> Measurement:
    """Return the row of something that was not measured, with the reason."""
    limit = LIMITS[key]
    return Measurement(limit.what, *_limits(limit), how=why)


def _limits(limit: Limit) -> tuple[str, str]:
    sign = "" if limit.side == MOST else ">= "
    must = f"{limit.must:g} {limit.unit}" if limit.must < math.inf else _ANY.format(limit.unit)
    return f"{sign}{must}", f"{sign}{limit.aim:g} {limit.unit}"
