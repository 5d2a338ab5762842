"""S1 to S5 and S10 restated for one step of the car. Imports nothing of the car.

A step is what was (``before``), what is given on it, and what came of it. Each check returns
whether the promise is kept; ``broken`` names those that are not.
"""

from typing import NamedTuple

STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
STATES = range(7)
ARMED = (ACTIVE, HOLD)
STOP_REQUEST_BIT = 1 << 1


class Given(NamedTuple):
    """What holds on one step."""

    stop: bool = False  # any stop cause: latched before and not cleared, present, or new
    fault: bool = False
    ready: bool = False  # the time in neutral after power-up is over
    at_rest: bool = False
    commanded: bool = False  # a fresh, engaged, permitted source has the drive
    arm: bool = False
    clear: bool = False
    disarm: bool = False
    stop_frame: bool = False  # a Stop came with the bytes of this step
    may_arm: bool = True  # nothing speaks against the arm
    may_clear: bool = True


class Outcome(NamedTuple):
    """What came of it. The wheels stand on all these steps: any effort is a drive."""

    state: int
    causes: int = 0
    effort: int = 0
    enable: bool = False


def s1(before: int, given: Given, after: Outcome) -> bool:
    """Drive output differs from neutral only in ACTIVE; the wheels stand: nothing to brake."""
    return after.effort == 0 or after.state == ACTIVE


def s2(before: int, given: Given, after: Outcome) -> bool:
    """ACTIVE needs all of it, and comes out of an armed car only."""
    if after.state != ACTIVE:
        return True
    in_order = given.commanded and not given.stop and not given.fault and not given.disarm
    return before in ARMED and (in_order or (before == ACTIVE and given.disarm))


def s3(before: int, given: Given, after: Outcome) -> bool:
    """Stop and fault lead to STOPPING on the same step; elsewhere they move nothing."""
    if before in ARMED and (given.stop or given.fault):
        return after.state == STOPPING
    if before == STOPPING:
        comes_to_rest = FAULT if given.fault else STOPPED
        return after.state == (comes_to_rest if given.at_rest else STOPPING)
    if given.stop or given.fault:
        return after.state not in ARMED and after.state != STOPPING
    return True


def s4(before: int, given: Given, after: Outcome) -> bool:
    """No way back but a clear with the cause gone, and a new arm."""
    if before in (STOPPED, FAULT) and after.state != before:
        is_cleared = given.clear and given.may_clear and not given.stop and not given.fault
        fails = before == STOPPED and given.fault and after.state == FAULT
        return fails or (is_cleared and after.state == STANDBY)
    if before == STANDBY and after.state in ARMED:
        return given.arm and given.may_arm and after.state == HOLD
    return True


def s5(before: int, given: Given, after: Outcome) -> bool:
    """After power-up neutral first, for its time; never armed; a fault keeps it in FAULT."""
    if before != STARTING:
        return after.state != STARTING
    if given.fault:
        return after.state == FAULT
    return after.state == (STANDBY if given.ready else STARTING)


def s10(before: int, given: Given, after: Outcome) -> bool:
    """A stop request is obeyed in every state."""
    is_kept = after.causes & STOP_REQUEST_BIT != 0 and after.state not in ARMED
    return is_kept or not given.stop_frame


def permission(before: int, given: Given, after: Outcome) -> bool:
    """What a person may, works; else a car that never moves would keep every promise."""
    is_well = not given.stop and not given.fault
    if before == STANDBY:
        arms = given.arm and given.may_arm and is_well
        return after.state == (FAULT if given.fault else HOLD if arms else STANDBY)
    if before == ACTIVE and is_well:
        return after.state == (ACTIVE if given.commanded else HOLD)
    if before == HOLD and is_well and given.disarm:
        return after.state == (HOLD if given.commanded else STANDBY)
    if before == HOLD and is_well:
        return after.state == (ACTIVE if given.commanded else HOLD)
    if before in (STOPPED, FAULT) and is_well and given.clear and given.may_clear:
        return after.state == STANDBY
    return before != STOPPED or not given.fault or after.state == FAULT


PROMISES = {"S1": s1, "S2": s2, "S3": s3, "S4": s4, "S5": s5, "S10": s10, "permission": permission}


def broken(before: int, given: Given, after: Outcome) -> list[str]:
    """The names of the promises that this step does not keep."""
    return [name for name, keeps in PROMISES.items() if not keeps(before, given, after)]
