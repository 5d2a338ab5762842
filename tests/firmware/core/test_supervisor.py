"""Every state times every combination of conditions, against S1 to S5 restated in words."""

import itertools

import pytest

from firmware.core import supervisor
from tests.support.evidence import some

STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
NAMES = ("STOP", "FAULTY", "READY", "AT_REST", "COMMANDED", "ARMED", "CLEARED", "DISARMED")


def expected(state: int, has: set[str]) -> int:
    """The promises S1 to S5, by state; refusal before permission."""
    is_halted = "STOP" in has or "FAULTY" in has
    if state in (ACTIVE, HOLD) and is_halted:
        return STOPPING  # S3
    if state in (STARTING, STANDBY, STOPPED) and "FAULTY" in has:
        return FAULT
    if state == STOPPING and "AT_REST" in has:
        return FAULT if "FAULTY" in has else STOPPED
    for before, cause, blocked, after in (
        (ACTIVE, "nobody", False, HOLD),
        (HOLD, "DISARMED", "COMMANDED" in has, STANDBY),
        (HOLD, "COMMANDED", "DISARMED" in has, ACTIVE),
        (STARTING, "READY", False, STANDBY),
        (STANDBY, "ARMED", is_halted, HOLD),  # S4
        (STOPPED, "CLEARED", is_halted, STANDBY),
        (FAULT, "CLEARED", is_halted, STANDBY),
    ):
        is_asked = cause in has or (cause == "nobody" and "COMMANDED" not in has)
        if state == before and is_asked and not blocked:
            return after
    return state


def bits(has) -> int:
    return sum(getattr(supervisor, name) for name in has)


def every_set() -> list[set[str]]:
    sizes = range(len(NAMES) + 1)
    return [set(has) for size in sizes for has in itertools.combinations(NAMES, size)]


@pytest.mark.parametrize("state", range(7))
def test_every_combination_of_conditions_leads_where_the_promises_say(state):
    for has in some(every_set()):
        machine = supervisor.Supervisor()
        machine.state = state
        machine.step(bits(has))
        after = expected(state, has)
        assert (machine.state, machine.before) == (after, state), sorted(has)
        assert machine.has_changed() is (after != state)


def test_each_condition_has_a_bit_of_its_own():
    given = [getattr(supervisor, name) for name in NAMES]
    assert sorted(given) == [2**i for i in range(len(NAMES))]


def test_a_car_begins_by_starting_and_nothing_has_changed():
    machine = supervisor.Supervisor()
    assert (machine.state, machine.before) == (STARTING, STARTING)
    assert machine.has_changed() is False
