"""Part 2: the table of faults at speed; each time the car has to stop by itself.

Cases that depend on the car alone run in virtual time and always give the same figures. Where a
program is really killed, paused, started or cut off, the case runs in real time (``is_real``).
"""

from __future__ import annotations

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import cast

from host_bridge.core import State
from host_bridge.demo.cars.demo_run import NAME, DemoRun, Unmeasured, now_s
from host_bridge.demo.judging.limits import StopLimits
from host_bridge.demo.judging.verdict import Verdict, stopped_by_itself
from host_bridge.demo.stages.real_time import DriverProcess
from host_bridge.demo.trace import MeasuredStop
from sim_mock.programs import children

_STOP_S = 0.30  # the promise of `tandem stop`, from exec to the brake
# Its start takes as long as that of 3 empty Pythons (20 to 40 ms) on an idle machine, 5 to 7 if
# all cores are busy. Where that is longer than the promise, nothing can be judged.
_STARTS = 7


@dataclass
class StopCase:
    """One fault, and its result."""

    name: str
    reaction_s: float  # the promised time from the fault to the brake
    cause: str  # the stop cause the car has to name; "" for none: it holds
    inject: Callable[[DemoRun], Awaitable[None]]
    after: Callable[[DemoRun], Awaitable[str]]
    by_pad: bool = False
    is_real: bool = False  # in real time, whatever the machine gives
    stop: MeasuredStop | None = None
    verdict: Verdict = Verdict.NOT_SHOWN
    why: str = ""
    notes: list[str] = field(default_factory=list)

    def limits(self, speed_mps: float) -> StopLimits:
        """Return its limits at this speed."""
        return StopLimits.of(self.reaction_s, speed_mps)


# --- the faults


async def _release(run: DemoRun) -> None:
    run.now()
    run.driver.tell("release")


async def _stop_frame(run: DemoRun) -> None:
    run.now()
    run.driver.tell("stop")


async def _stop_program(run: DemoRun) -> None:
    """Run ``tandem stop``. The promise counts from exec, on a machine that can start a program."""
    begun_s = now_s()
    empty = await asyncio.create_subprocess_exec(
        sys.executable, "-I", "-c", "pass", start_new_session=True
    )
    await empty.wait()
    run.slow_start_s = max(_STARTS * (now_s() - begun_s) - _STOP_S, 0.0)
    run.now()
    process = await asyncio.create_subprocess_exec(
        *children.module("host_bridge.cli.main", "stop", NAME),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,  # its result is seen at the car
        start_new_session=True,  # like a second terminal: Linux shares the processor by session
    )
    await process.wait()


async def _kill(run: DemoRun) -> None:
    run.now()
    _program(run).send_signal(signal.SIGKILL)
    await _program(run).wait()


async def _suspend(run: DemoRun) -> None:
    run.now()
    _program(run).send_signal(signal.SIGSTOP)


def _program(run: DemoRun) -> asyncio.subprocess.Process:
    """Return the driver's process."""
    return cast("DriverProcess", run.driver).process


async def _unplug(run: DemoRun) -> None:
    run.now()
    run.stage.tell_car("unplug")


async def _freeze(run: DemoRun) -> None:
    run.now()
    run.driver.tell("freeze")


def _pad(word: str) -> Callable[[DemoRun], Awaitable[None]]:
    """Return the fault that gives the pad's driver this command."""

    async def inject(run: DemoRun) -> None:
        run.now()
        run.driver.tell(word)

    return inject


async def _burst(run: DemoRun) -> None:
    """Inject a burst that has to be ridden out, then one that has to stop the car."""
    run.now()
    run.stage.tell_car("deaf 70")
    await asyncio.sleep(0.5)
    if run.latest["state"] != State.ACTIVE.name:
        why = f"a loss of 70 ms stopped the car: {run.latest['why']}"
        raise Unmeasured(stopped_by_itself(run.machine, now_s(), why))
    run.now()
    run.stage.tell_car("deaf 1000")


# --- the checks afterwards: each returns a note for the table


async def _drives_on(run: DemoRun) -> str:
    await run.until(lambda s: s["state"] == State.HOLD.name, State.HOLD.word)
    run.driver.tell("hold")
    await run.until(
        lambda s: s["state"] == State.ACTIVE.name and s["speed_mps"] > 1.0, "driving on"
    )
    return f"{State.HOLD.word}, then held again: drives on"


async def _stays(run: DemoRun) -> str:
    await run.until(lambda s: s["state"] == State.STOPPED.name, State.STOPPED.word)
    return "stays STOPPED"


async def _is_found_stopped(run: DemoRun) -> None:
    await run.until(
        lambda s: s["is_known"] and s["state"] == State.STOPPED.name, State.STOPPED.word
    )


async def _new_host(run: DemoRun) -> str:
    await run.change_driver()
    await _is_found_stopped(run)
    return "a new host finds it STOPPED"


async def _resume(run: DemoRun) -> str:
    _program(run).send_signal(signal.SIGCONT)
    await _is_found_stopped(run)
    await asyncio.sleep(0.3)  # it claims again at once: nothing may move
    await _is_found_stopped(run)
    return "resumed and claiming: stays STOPPED"


async def _replug(run: DemoRun) -> str:
    await run.until(lambda s: not s["is_known"], "a car that is lost")
    begun_s = now_s()
    run.stage.tell_car("plug")
    await _is_found_stopped(run)
    return f"plugged in: telemetry after {now_s() - begun_s:.1f} s, not armed"


async def _plug_again(run: DemoRun) -> str:
    await run.until(lambda s: s["state"] == State.STOPPED.name, State.STOPPED.word)
    run.driver.tell("plug")
    await asyncio.sleep(0.5)
    await run.until(lambda s: s["state"] == State.STOPPED.name, State.STOPPED.word)
    return "plugged in again: stays STOPPED until START"


async def _rests(run: DemoRun) -> str:
    await run.until(lambda s: s["state"] == State.HOLD.name, State.HOLD.word)
    return f"{State.HOLD.word}: a release, as it is reported"


async def _rode_out(run: DemoRun) -> str:
    await _is_found_stopped(run)
    return "70 ms ridden out, 1 s stops"


def cases() -> list[StopCase]:
    """Return the cases in the order of the table; reactions as firmware/core/SAFETY.md promises."""
    # Of each the reaction in s that SAFETY.md promises: a step and the line; for silence and frozen
    # inputs their limits besides
    return [
        StopCase("deadman released", 0.02, "", _release, _drives_on),
        StopCase("the frame of tandem stop", 0.02, "STOP_REQUEST", _stop_frame, _stays),
        StopCase("input frozen", 0.22, "FROZEN_INPUT", _freeze, _stays),
        StopCase("burst of loss", 0.13, "SILENCE", _burst, _rode_out),
        *(_pad_cases() if has_pads() else ()),
        _real("tandem stop, second terminal", _STOP_S, "STOP_REQUEST", _stop_program, _stays),
        _real("host killed (kill -9)", 0.13, "SILENCE", _kill, _new_host),
        _real("host suspended (SIGSTOP)", 0.13, "SILENCE", _suspend, _resume),
        _real("cable pulled", 0.13, "SILENCE", _unplug, _replug),
    ]


def _real(
    name: str,
    reaction_s: float,
    cause: str,
    inject: Callable[[DemoRun], Awaitable[None]],
    after: Callable[[DemoRun], Awaitable[str]],
) -> StopCase:
    return StopCase(name, reaction_s, cause, inject, after, is_real=True)


def has_pads() -> bool:
    """Return whether PySDL2 is installed."""
    return find_spec("sdl2") is not None


def _pad_cases() -> list[StopCase]:
    """Return the cases with SDL's virtual joystick, at ``tandem drive --input gamepad``.

    The pad that ends with zeros comes first: it is no stop, so the car has to be rolling by the
    same program.
    """
    frozen = ("FROZEN_INPUT", 0.22)  # as above
    # Of each the reaction in s: a report of the pad, a tick, a step and the line
    return [
        StopCase("gamepad: battery empty, ends with zeros", 0.03, "", _pad("zeros"), _rests, True),
        StopCase(
            "gamepad: battery empty, silent", frozen[1], frozen[0], _pad("freeze"), _stays, True
        ),
        StopCase("gamepad: dongle repeats", frozen[1], frozen[0], _pad("repeat"), _stays, True),
        StopCase("gamepad: unplugged", 0.05, "STOP_REQUEST", _pad("unplug"), _plug_again, True),
    ]
