"""The checks of part 1: two cars driven by the same bytes."""

from __future__ import annotations

from host_bridge.demo.cars.together import SKEW_LIMIT_US, DriveResult
from host_bridge.demo.judging.verdict import (
    OK,
    MachineTiming,
    PunctualTiming,
    Ruling,
    by_time,
    ended_by_itself,
    fails,
    missing,
    stopped_by_itself,
)
from host_bridge.demo.output import DemoOutput

LOG = "demo.mcap"
BEFORE_PATCH_S = 2.0
_BUSY_TICKS = 15  # one in a hundred of part 1
_ENDED_EARLY = "the drive ended before"


def judge(drive: DriveResult, output: DemoOutput, machine: MachineTiming | None = None) -> None:
    """Run all checks of the main drive.

    ``machine`` measured how late this machine was; without one the drive was in virtual time,
    which is never late.
    """
    saw = machine or PunctualTiming()
    output.check(
        "slalom and skidpad, both cars",
        drive.why_ended or "driven to the end",
        "to the end",
        _came_to_its_end(drive, saw),
        LOG,
    )
    output.check(
        "claims that both cars accepted, byte for byte",
        accepted_text(drive),
        "all equal, none missed",
        _same(drive, saw),
        LOG,
    )
    output.check(
        "applied at the same time",
        f"{drive.skew_us(0.5) / 1000:.1f} ms apart at most for half of the claims, "
        # of all claims: the last hundredth is the machine's
        f"{drive.skew_us(0.99) / 1000:.1f} ms for 99 of 100",
        f"half at most {SKEW_LIMIT_US / 1000:.0f} ms, a beat and the clocks",
        _at_once(drive, saw),
        LOG,
    )
    if machine is None:
        output.note(
            "In virtual time: the cars' beats and clocks alone; cable and machine add theirs."
        )
    output.check(
        "the alarm finds the load and the slippery patch",
        f"{', '.join(drive.alarms) or 'nothing'}, first after {drive.alarm_s:.1f} s; "
        f"paths {drive.path_m:.2f} m apart",
        f"the path at least, and nothing in the {BEFORE_PATCH_S:.0f} s before the patch",
        _alarmed(drive),
        LOG,
    )
    if drive.ticks_late > _BUSY_TICKS:
        output.note(
            f"This machine is busy: {drive.ticks_late} claims were left out for want of time."
        )


def judge_altered(drive: DriveResult, output: DemoOutput, evidence: str) -> None:
    """Run the same check on a drive in which a bit was altered: it has to fail."""
    lacks = drive.lacks()
    found = OK if drive.is_shown_to_differ() else missing(lacks) if lacks else fails()
    output.check(
        "the same check finds the altered byte",
        accepted_text(drive),
        "both cars' reports, and they must not be equal",
        found,
        evidence,
    )


def accepted_text(drive: DriveResult) -> str:
    """Return what the cars accepted, as text."""
    parts = [f"{name} {n}, CRC {drive.crcs[name]}" for name, n in drive.counts.items()]
    missed = f"; {drive.missed} missed" if drive.missed else ""
    return " and ".join(parts) + missed if parts else "none"


def _came_to_its_end(drive: DriveResult, machine: MachineTiming) -> Ruling:
    return stopped_by_itself(machine, drive.ended_s, "") if drive.why_ended else OK


def _same(drive: DriveResult, machine: MachineTiming) -> Ruling:
    """Judge whether both cars accepted the same bytes.

    A claim that a busy machine delivered too late is missed, but does not differ.
    """
    if drive.is_identical():
        return OK
    if drive.lacks():
        return missing(drive.lacks())
    if drive.missed and not drive.differs:
        return ended_by_itself(machine, drive.begun_s, drive.ended_s, "")
    return fails()


def _at_once(drive: DriveResult, machine: MachineTiming) -> Ruling:
    if not drive.skews_us:
        return missing("when both cars applied one and the same claim")
    over_s = (drive.skew_us(0.5) - SKEW_LIMIT_US) * 1e-6
    return by_time(over_s, machine.worst_wake_s(drive.begun_s, drive.ended_s))


def _alarmed(drive: DriveResult) -> Ruling:
    if "path" in drive.alarms:
        return OK if drive.alarm_s > BEFORE_PATCH_S else fails()
    return missing(_ENDED_EARLY) if drive.why_ended else fails()
