"""The trials of part 2: each fault tried on its stage, measured and judged."""

from __future__ import annotations

from typing import NamedTuple

from host_bridge.demo.cars.demo_run import SPEED_MPS, WAIT_S, DemoRun, Unmeasured, now_s
from host_bridge.demo.judging.limits import OF_LATENESS, Limits, ruled
from host_bridge.demo.judging.verdict import Ruling, Verdict, ended_by_itself, fails, missing
from host_bridge.demo.output import Show
from host_bridge.demo.stops import Case
from host_bridge.demo.trace import Stop

TRIES = 4  # for a case that a busy machine kept from being judged
# After this no more tries: a machine that was too busy until then stays so.
TRIES_WITHIN_S = 120.0


class Trial(NamedTuple):
    """One try: its result, its limit, and the verdict."""

    got: str
    limit: str
    ruling: Ruling


async def run_cases(cases: list[Case], run: DemoRun, show: Show) -> None:
    """Run the cases one after the other; one that could not be judged is tried again."""
    begun_s = now_s()
    try:
        for case in cases:
            await _run(case, run, show, begun_s)
    finally:
        await run.dismiss()


async def _run(case: Case, run: DemoRun, show: Show, begun_s: float) -> None:
    trial = await _tried(case, run, show)
    tries = 1
    while _is_worth_another(trial, tries, now_s() - begun_s):
        trial = await _tried(case, run, show)
        tries += 1
    case.verdict = trial.ruling.verdict
    show.check(case.name, *trial, f"{run.truth.path.name}: what the plant did, and when")
    if case.stop:
        show.note(case.why or "; ".join(case.notes))
    if tries > 1:
        show.note(f"Try {tries}: the ones before could not be judged.")


def _is_worth_another(trial: Trial, tries: int, since_s: float) -> bool:
    is_open = trial.ruling.verdict is Verdict.NOT_SHOWN
    return is_open and tries < TRIES and since_s < TRIES_WITHIN_S


async def _tried(case: Case, run: DemoRun, show: Show) -> Trial:
    """Cruise, inject the fault, measure."""
    show.live(f"  {case.name}: up to {SPEED_MPS} m/s ...")
    run.slow_start_s = 0.0
    case.stop, case.why, case.notes = None, "", []
    try:
        await run.cruise(case.by_pad)
        await case.inject(run)
        trial = await _measured(case, run)
    except Unmeasured as it:
        trial = Trial("it did not come to that", "as promised", it.ruling)
    if trial.ruling.verdict is not Verdict.OK:
        await run.dismiss()  # the next case begins with a new driver
    return trial


async def _measured(case: Case, run: DemoRun) -> Trial:
    case.stop = await run.stopped()
    if case.stop is None:
        return _never_stopped(run)
    afterwards = await _after(case, run)
    latest = run.latest
    case.why = str(latest.get("why", ""))
    limits = case.limits(case.stop.from_mps)
    got, limit = told(case.stop), f"at most {told(limits)}"
    if afterwards is not None:
        return Trial(got, limit, afterwards)
    ruling = ruled(
        case.stop,
        limits,
        run.machine,
        run.fault_s,
        cause=case.cause,
        causes=tuple(latest["causes"]),
        slow_start_s=run.slow_start_s,
    )
    return Trial(got, limit, ruling)


def _never_stopped(run: DemoRun) -> Trial:
    what = f"not at rest after {WAIT_S:.0f} s"
    if run.has_truth():
        return Trial(what, "it has to stop", fails())
    lost = f"nothing of that time is in {run.truth.path.name}"
    return Trial("nothing was seen", "it has to stop", missing(lost))


async def _after(case: Case, run: DemoRun) -> Ruling | None:
    """Check what is promised for afterwards; return the ruling if that failed, else None."""
    try:
        case.notes.append(await case.after(run))
    except Unmeasured as it:
        causes = run.latest.get("causes", ())
        if causes and causes[0] in OF_LATENESS and causes[0] != case.cause:
            return ended_by_itself(run.machine, run.fault_s, now_s(), it.ruling.reason)
        return it.ruling
    return None


def told(measured: Stop | Limits) -> str:
    """Return the three numbers as text."""
    reaction_ms, ms = measured.reaction_s * 1000, measured.seconds * 1000
    return f"{reaction_ms:.0f} ms to react, {ms:.0f} ms and {measured.metres:.2f} m to stand"
