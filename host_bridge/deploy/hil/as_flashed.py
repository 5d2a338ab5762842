"""Measurements of a car by its own reports, while it runs as it was flashed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from firmware.protocol import messages
from host_bridge.deploy.hil.host.paced_car import NotDriving, PacedCar
from host_bridge.deploy.hil.report.limits import judged, unmeasured
from host_bridge.deploy.hil.report.report import Measurement

CAR = "the car's clock"
DRIVING_KEYS = (
    "identify_driving", "step_longest", "frames_damaged", "beats_1", "stop_driving", "beats_4",
)  # fmt: skip


def measure(car: PacedCar, seconds: float) -> Iterator[Measurement]:
    """Measure in STANDBY, then driving for ``seconds`` with one source and again with four.

    The drive with four comes last: a slow board may stop by itself in it. At its end the car is
    disarmed and cleared. Whoever ends it before, or NoAnswer, which it raises, leaves the car to
    stop by itself, and to be cleared by a person who sees why.
    """
    yield _answered(car, "identify_answer", messages.Identify, "Identity", False)
    yield _answered(car, "stop_answer", messages.Stop, "StopSeen", False)
    done = set()
    try:
        car.clear()
        car.arm()
        yield _answered(car, "identify_driving", messages.Identify, "Identity", True)
        done.add("identify_driving")
        yield from _driven(car, seconds, 1, "beats_1")
        done |= {"beats_1", "step_longest", "frames_damaged"}
        yield _answered(car, "stop_driving", messages.Stop, "StopSeen", True)
        done.add("stop_driving")
        car.clear()
        car.arm()
        yield from _driven(car, seconds, 4, "beats_4")
        done.add("beats_4")
    except NotDriving as error:
        yield from (unmeasured(key, str(error)) for key in DRIVING_KEYS if key not in done)
    with contextlib.suppress(NotDriving):
        car.disarm()
        car.clear()


def _answered(car: PacedCar, key: str, what: type, answer: str, drive: bool) -> Measurement:
    took = sorted(car.answers_us(what, answer, drive))
    how = f"{len(took)} asked, the longest; at most, to whole steps"
    beat_ms, median_ms = car.step_us / 1000, took[len(took) // 2] / 1000
    return judged(key, took[-1] / 1000, how, CAR, beat_ms, median_ms=median_ms)


def _driven(car: PacedCar, seconds: float, sources: int, key: str) -> Iterator[Measurement]:
    found = car.drive_for(seconds, sources)
    how = f"{found['seconds']} s, by its own count (a step that ended after the next was due)"
    beat_ms = car.step_us / 1000
    yield judged(key, found["missed"], how, CAR, beat_ms, **found)
    if sources == 1:
        how = "the longest that it told of (Inputs.step_10us)"
        longest_ms = found["longest_step_ms"]
        yield judged("step_longest", longest_ms, how, "the car's clock", beat_ms)
        damaged = found["damaged"] + found["oversized"]
        how = f"of {found['frames_to_car']} sent, by the car's count"
        yield judged("frames_damaged", damaged, how, "")
