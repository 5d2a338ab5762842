"""Measurements on the chip: small programs at its raw REPL, around the car's own.

They wrap the car's step, or the board's interface, and report by the chip's own clock.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from firmware.core.settings.params import Params
from firmware.protocol import codes, messages
from host_bridge.deploy.flash.board.repl import ASK
from host_bridge.deploy.hil import same_bytes
from host_bridge.deploy.hil.bench import HilBench, program, slot_of
from host_bridge.deploy.hil.host.paced_car import NotDriving, PacedCar
from host_bridge.deploy.hil.host.port import NoAnswer, Port
from host_bridge.deploy.hil.report.histogram import merged, summary
from host_bridge.deploy.hil.report.limits import judged, unmeasured
from host_bridge.deploy.hil.report.report import Measurement

CHIP = "the chip's clock (ticks_us)"
MARK, END = b"@@@", b"\x04"
PROMPT = b"\x01"  # a raw REPL answers this with its name and a prompt
KINDS = ("standing", "driving", "stopped")
DRIVING_KEYS = ("step_median", "step_p99", "step_max", "c_stack")
HEAP_KEYS = {"car": "heap_spare", "hitl": "heap_spare_hitl"}
_HEAP_STEP, _HEAP_STEPS = 1024, 32  # the resolution of the search in bytes, and its limit in these
# without a command; and a line full of noise: some hundred steps each
_STANDING_S, _LINE_S = 5.0, 3.0
_NOISE = b"\x55" * 400  # without a delimiter; 400 bytes per step of 10 ms are 40 kB/s


def watched(bench: HilBench, mode: str, speed_mm_s: int, drive: Callable[[PacedCar], None]) -> Any:
    """Return what ``on_board/steps.py`` reports after ``drive``.

    Raises NoAnswer with the board's text.
    """
    with bench.board() as board:
        transport = board.begin(program("steps", FOLDER=slot_of(board), MODE=mode))
        with bench.car(speed_mm_s, transport.serial) as car:
            end, is_ended = "", False
            try:
                car.connect()
                drive(car)
            except (NotDriving, KeyboardInterrupt) as error:
                end, is_ended = str(error), isinstance(error, KeyboardInterrupt)
                car.halt()  # an armed car does not leave its program
            car.port.feed(b"\0" + ASK)
            output = _rest(car.port, transport, bench)
        if is_ended:
            raise KeyboardInterrupt
        found = _found(output)
        found["end"] = end
        return found


def _rest(port: Port, transport: Any, bench: HilBench) -> bytes:
    if bench.repl == bench.link:
        output = port.rest_of_line(END + b">", 10.0)
        # Its prompt has been read, but the code that resets it waits for one. Without another the
        # wait lasts until the watchdog resets it, and then the restarted car's reports never end.
        transport.serial.write(PROMPT)
        return output
    output, wrong = transport.follow(10.0 * bench.patience)
    return bytes(output + wrong) + END


def _found(output: bytes) -> Any:
    text = output.rpartition(MARK)[2].partition(END)[0]
    try:
        return json.loads(text)
    except ValueError:
        raise NoAnswer(f"the program on the board ended: {output[-600:]!r}") from None


def step_times(bench: HilBench, speed_mm_s: int, seconds: float) -> Iterator[Measurement]:
    """Yield percentiles of steps while driving, from a histogram made on the chip."""

    beat_ms = 10.0

    def drive(car: PacedCar) -> None:
        nonlocal beat_ms
        beat_ms = car.step_us / 1000
        for _ in range(int(_STANDING_S * 100)):
            car.host.beat()
        car.arm()
        car.drive_for(seconds, 1)
        car.disarm()

    found = watched(bench, "steps", speed_mm_s, drive)
    driving = merged(found["rows"], "driving")
    if not driving["steps"]:
        for key in DRIVING_KEYS:
            yield unmeasured(key, found["end"] or "it did not drive")
        return
    shown = {kind: summary(merged(found["rows"], kind)) for kind in KINDS}
    how = f"{driving['steps']} steps driving, {found['mhz']} MHz, in bins of 100 us"
    detail = {"heap_free": found["free"], "end": found["end"], "beats": found["beats"], **shown}
    yield judged("step_median", shown["driving"]["median_ms"], how, CHIP, beat_ms, **detail)
    yield judged("step_p99", shown["driving"]["p99_ms"], how, CHIP, beat_ms)
    yield judged("step_max", shown["driving"]["longest_ms"], how, CHIP, beat_ms)
    if found["stack"]:
        how = "filled before, looked through afterwards; interrupts included, no write to flash"
        yield judged("c_stack", found["stack"], how, "")
    else:
        yield unmeasured("c_stack", "where this chip's C stack lies is not known")


def stops(bench: HilBench, speed_mm_s: int, count: int) -> Iterator[Measurement]:
    """Measure Stop frames at moments that a timer chooses."""

    def drive(car: PacedCar) -> None:
        car.arm()
        for done in range(count):
            bench.progress(f"stop {done + 1} of {count}")
            for _ in range(400):  # steps: it is stopped within, by whatever is tried
                car.host.drive(10, speed_mm_s)
                if car.host.state not in (codes.ACTIVE, codes.HOLD):
                    break
            else:
                raise NotDriving(f"a Stop was not obeyed in 400 steps; {car.why()}")
            car.arm()
        car.disarm()

    found = watched(bench, "stops", speed_mm_s, drive)
    took = sorted(found["stops_us"])
    if not took:
        yield unmeasured("stop_output", found["end"] or "no stop")
        return
    how = f"{len(took)} phases; from the frame in the board's queue to the return of the write "
    how += "that obeyed it; the line and what waits in the port's own buffer are not in it"
    median = took[len(took) // 2] / 1000
    yield judged("stop_output", took[-1] / 1000, how, CHIP, median_ms=median, end=found["end"])


def line_rates(bench: HilBench) -> Iterator[Measurement]:
    """Measure the bytes each way, in STANDBY, beside the steps."""

    def talk(car: PacedCar) -> None:
        for _ in range(int(_LINE_S * 100)):
            car.host.beat()
        for _ in range(int(_LINE_S * 100)):
            car.port.feed(_NOISE)
            car.host.beat()

    came, in_us, went, out_us = watched(bench, "link", 0, talk)["line"]
    how = "standing by, beside its steps and reports; zeros out, then noise in"
    yield judged("link_out", went / max(out_us, 1) * 1000, how, CHIP)
    yield judged("link_in", came / max(in_us, 1) * 1000, how, CHIP)


# --- without a host at the link


def guard_share(bench: HilBench) -> Measurement:
    """Compare the turns of an empty loop with the guard's timer and without."""
    with bench.board() as board:
        transport = board.begin(program("guard_share", FOLDER=slot_of(board)))
        # s: three turns of some seconds, and the start
        output, wrong = transport.follow(30.0 * bench.patience)
    found = _found(output + wrong + END)
    shares = {k: 100 * (1 - found[k] / found["without"]) for k in ("standing", "enabled")}
    how = "turns of an empty loop with it and without; the greater of standing by and enabled"
    return judged(
        "guard_share", max(shares.values()), how, CHIP, **shares, tripped=found["tripped"]
    )


def heap_spare(bench: HilBench, mode: str, need: int = 0) -> Measurement:
    """Find the largest block of heap beside which the car, or hardware in the loop, starts.

    The search begins where a known ``need``, in bytes, would have it; 0 if none is known.
    """
    found = _started_beside(bench, mode, 0)
    if not found["is_up"]:
        return judged(HEAP_KEYS[mode], -1, found["error"], "", total=found["total"], need=None)
    guess = (found["total"] - need) // _HEAP_STEP if need else None
    low = _HEAP_STEP * largest(
        lambda steps: _started_beside(bench, mode, steps * _HEAP_STEP)["is_up"], _HEAP_STEPS, guess
    )
    how = f"the largest block taken first beside which it starts, to {_HEAP_STEP} B; "
    how += f"{found['free']} B are free without one, of {found['total']} B of heap"
    return judged(
        HEAP_KEYS[mode], low, how, "", total=found["total"], free=found["free"],
        need=found["total"] - low,
    )  # fmt: skip


def largest(holds: Callable[[int], bool], limit: int, guess: int | None = None) -> int:
    """Return the largest number below ``limit`` for which ``holds`` is true; it is true for 0.

    ``holds`` is true up to some number and false above it.

    The interval is halved, or searched from ``guess`` on, ever farther: each question costs a start
    of the board, and a guess that is right needs two.
    """
    low, high, width = 0, limit, limit if guess is None else 1
    at = limit // 2 if guess is None else min(max(guess, 1), limit - 1)
    while high - low > 1:
        low, high = (at, high) if holds(at) else (low, at)
        at = (low + high) // 2
        if high == limit:
            at = min(low + width, at)
        elif low == 0:
            at = max(high - width, at)
        width *= 2
    return low


def _started_beside(bench: HilBench, mode: str, ballast: int) -> Any:
    bench.progress(f"{mode} beside {ballast} B")
    with bench.board() as board:
        text = program("heap", FOLDER=slot_of(board), MODE=mode, BALLAST=ballast)
        transport = board.begin(text)
        # s: a start with a ballast, and a collection
        output, wrong = transport.follow(30.0 * bench.patience)
    return _found(output + wrong + END)


def bytes_row(bench: HilBench, vehicle: str, beats: int) -> Measurement:
    """Check S13: the board's bytes against CPython's; see same_bytes."""
    with bench.board() as board:
        transport = board.begin(same_bytes.program(slot_of(board)))
        patience_s = same_bytes.PATIENCE_S * bench.patience
        return same_bytes.compare(transport.serial, vehicle, beats, patience_s, bench.progress)


def first_step(bench: HilBench) -> Measurement:
    """Reset the board by its REPL; its events tell when it was first in STANDBY.

    Raises NoAnswer.
    """
    with bench.board():
        pass
    with bench.car(0) as car:
        car.port.advance(0)
        car.connect()
        index = Params().index("start_ms")
        car.host.say(messages.ParameterRead, index=index)
        car.host.say(messages.EventRequest, first=0)
        car.host.rest(1000)
        start_ms = car.host.latest["Parameter"].value
        stood = [e[0] for e in car.host.events if e[1:3] == (codes.EVENT_STATE_CHANGED, 0)]
    if not stood:
        return unmeasured("first_step", "its events do not go back to its start")
    how = "from its clock's zero, which a reset makes, less start_ms; the boot ROM is before it"
    return judged("first_step", stood[0] / 1e6 - start_ms / 1e3, how, "the car's clock (events)")
