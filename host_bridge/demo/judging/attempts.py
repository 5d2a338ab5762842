"""The attempts of part 2: each fault tried on its stage, measured and judged."""

from __future__ import annotations

from typing import NamedTuple

from host_bridge.demo.cars.demo_run import SPEED_MPS, WAIT_S, DemoRun, Unmeasured, now_s
from host_bridge.demo.judging.limits import OF_LATENESS, StopLimits, judge_stop
from host_bridge.demo.judging.verdict import Ruling, Verdict, ended_by_itself, fails, missing
from host_bridge.demo.output import DemoOutput
from host_bridge.demo.stops import StopCase
from host_bridge.demo.trace import MeasuredStop

TRIES = 4  # for a case that a busy machine kept from being judged
# After this no more tries: a machine that was too busy until then stays so.
TRIES_WITHIN_S = 120.0


class Attempt(NamedTuple):
    """One try: its result, its limit, and the verdict."""

    got: str
    limit: str
    ruling: Ruling


async def run_cases(cases: list[StopCase], run: DemoRun, output: DemoOutput) -> None:
    """Run the cases one after the other; one that could not be judged is tried again."""
    begun_s = now_s()
    try:
        for case in cases:
            await _run(case, run, output, begun_s)
    finally:
        await run.dismiss()


async def _run(case: StopCase, run: DemoRun, output: DemoOutput, begun_s: float) -> None:
    attempt = await _attempt(case, run, output)
    tries = 1
    while _is_worth_another(attempt, tries, now_s() - begun_s):
        attempt = await _attempt(case, run, output)
        tries += 1
    case.verdict = attempt.ruling.verdict
    output.check(case.name, *attempt, f"{run.trace.path.name}: what the plant did, and when")
    if case.stop:
        output.note(case.why or "; ".join(case.notes))
    if tries > 1:
        output.note(f"Try {tries}: the ones before could not be judged.")


def _is_worth_another(attempt: Attempt, tries: int, since_s: float) -> bool:
    is_open = attempt.ruling.verdict is Verdict.NOT_SHOWN
    return is_open and tries < TRIES and since_s < TRIES_WITHIN_S


async def _attempt(case: StopCase, run: DemoRun, output: DemoOutput) -> Attempt:
    """Cruise, inject the fault, measure."""
    output.live(f"  {case.name}: up to {SPEED_MPS} m/s ...")
    run.slow_start_s = 0.0
    case.stop, case.why, case.notes = None, "", []
    try:
        await run.cruise(case.by_pad)
        await case.inject(run)
        attempt = await _measured(case, run)
    except Unmeasured as it:
        attempt = Attempt("it did not come to that", "as promised", it.ruling)
    if attempt.ruling.verdict is not Verdict.OK:
        await run.dismiss()  # the next case begins with a new driver
    return attempt


async def _measured(case: StopCase, run: DemoRun) -> Attempt:
    case.stop = await run.stopped()
    if case.stop is None:
        return _never_stopped(run)
    afterwards = await _after(case, run)
    latest = run.latest
    case.why = str(latest.get("why", ""))
    limits = case.limits(case.stop.from_mps)
    got, limit = stop_text(case.stop), f"at most {stop_text(limits)}"
    if afterwards is not None:
        return Attempt(got, limit, afterwards)
    ruling = judge_stop(
        case.stop,
        limits,
        run.machine,
        run.fault_s,
        cause=case.cause,
        causes=tuple(latest["causes"]),
        slow_start_s=run.slow_start_s,
    )
    return Attempt(got, limit, ruling)


def _never_stopped(run: DemoRun) -> Attempt:
    what = f"not at rest after {WAIT_S:.0f} s"
    if run.has_evidence():
        return Attempt(what, "it has to stop", fails())
    lost = f"nothing of that time is in {run.trace.path.name}"
    return Attempt("nothing was seen", "it has to stop", missing(lost))


async def _after(case: StopCase, run: DemoRun) -> Ruling | None:
    """Check what is promised for afterwards; return the ruling if that failed, else None."""
    try:
        case.notes.append(await case.after(run))
    except Unmeasured as it:
        causes = run.latest.get("causes", ())
        if causes and causes[0] in OF_LATENESS and causes[0] != case.cause:
            return ended_by_itself(run.machine, run.fault_s, now_s(), it.ruling.reason)
        return it.ruling
    return None


def stop_text(measured: MeasuredStop | StopLimits) -> str:
    """Return the three numbers as text."""
    reaction_ms, ms = measured.reaction_s * 1000, measured.seconds * 1000
    return f"{reaction_ms:.0f} ms to react, {ms:.0f} ms and {measured.metres:.2f} m to stand"
