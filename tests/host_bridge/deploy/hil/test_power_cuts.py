"""Power that a person pulls: played, on a virtual car in virtual time."""

import pytest

from host_bridge.core.errors import AnotherCarFault
from host_bridge.deploy.flash.plan import Slots
from host_bridge.deploy.hil.person import PersonTimeout
from host_bridge.deploy.hil.power_cuts import COMMIT, KEYS, STANDBY, TRIAL, PowerCuts
from host_bridge.deploy.hil.report.limits import LIMITS
from tests.host_bridge.deploy.hil.virtual_bench import Player, VirtualBench

WHAT = {LIMITS[key].what: key for key in KEYS}


@pytest.fixture
def bench():
    return VirtualBench()


def pulled(bench, pulls, after_steps=1, was_flashed=False):
    person = Player(NOW=lambda: bench.pull(after_steps))
    rows = list(PowerCuts(bench, person, was_flashed).rows(pulls))
    return [(WHAT[row.what], row) for row in rows], person


def name_of(bench):
    with bench.car(0) as car:
        car.connect()
        it = car.host.latest["Identity"]
        return bytes(it.car_name).rstrip(b"\0"), bytes(it.config_hash)


def test_a_car_that_comes_back_says_so_of_itself(bench):
    before = name_of(bench)
    [(key, row), *rest] = pulled(bench, 1)[0]
    assert key == STANDBY
    assert row.holds, row.how
    assert before[1].hex() in row.how
    assert row.clock.startswith("the car's clock")
    assert row.detail["reset_cause"] == 0
    assert sorted(key for key, _ in rest) == sorted((COMMIT, TRIAL))
    assert [row.holds for _, row in rest] == [None, None]


@pytest.mark.parametrize("after_steps", [3, 40, 130])
def test_one_that_was_storing_has_one_of_two_configurations_and_gets_its_own_back(
    bench, after_steps
):
    before = name_of(bench)

    def pull():  # reading all its parameters comes first
        if "storing" not in person.heard[-2]:
            bench.pull(1)
        else:
            bench.pull(after_steps)

    person = Player(NOW=pull)
    rows = list(PowerCuts(bench, person, False).rows(2))
    [row] = [row for row in rows if row.what == LIMITS[COMMIT].what]
    assert row.holds, row.how
    assert len(set(row.detail["config_may_be"])) == 2
    assert row.detail["config_hash"] in row.detail["config_may_be"]
    assert name_of(bench) == before


def test_both_configurations_are_met(bench):
    """Else the test above would pass on a car that never stores anything."""
    found = set()
    for steps in (3, 70):
        person = Player(NOW=lambda steps=steps: bench.pull(steps))
        rows = PowerCuts(bench, person, False).rows(2)
        found |= {row.detail["config_hash"] for row in rows if row.what == LIMITS[COMMIT].what}
    assert len(found) == 2


def test_a_car_that_went_on_was_not_without_power(bench):
    """A cable was pulled, and its battery still feeds it."""
    bench.is_fed = True
    row = next(iter(PowerCuts(bench, Player(NOW=bench.pull), False).rows(1)))
    assert row.holds is None
    assert "it went on" in row.how


def test_a_car_that_does_not_come_back_does_not_hold(bench):
    bench.comes_back = False
    [(key, row)] = pulled(bench, 3)[0]
    assert (key, row.holds) == (STANDBY, False)
    assert "did not come back" in row.got


@pytest.mark.exhaustive(as_a_whole=True)  # a whole minute, for which a person is waited for
def test_power_that_nobody_pulls_is_not_measured_and_the_name_is_put_back(bench):
    before = name_of(bench)
    person = Player(NOW=lambda: bench.pull(1) if len(person.heard) == 2 else None)
    with pytest.raises(PersonTimeout, match="not pulled"):
        list(PowerCuts(bench, person, False).rows(2))
    assert name_of(bench) == before


def test_a_trial_needs_an_older_program_and_leaves_the_slot_as_it_was(bench):
    bench.slots_now = Slots(1, False, 0)
    bench.slots = lambda: bench.slots_now
    found, _ = pulled(bench, 3, was_flashed=True)
    [row] = [row for key, row in found if key == TRIAL]
    assert row.holds is None
    assert "older program" in row.how
    bench.older = True

    def pull():
        bench.pull(1)
        if bench.switched_to:  # on trial: it falls back
            bench.slots_now = Slots(0, False, 0)

    rows = list(PowerCuts(bench, Player(NOW=pull), True).rows(3))
    [row] = [row for row in rows if row.what == LIMITS[TRIAL].what]
    assert row.holds, row.how
    assert "slot a after b" in row.how
    assert bench.switched_to == [1, 1]


def test_a_slot_that_changed_by_itself_does_not_hold(bench):
    slots = iter([Slots(0, False, 0), Slots(1, False, 0)])
    bench.slots = lambda: next(slots)
    row = next(iter(PowerCuts(bench, Player(NOW=bench.pull), False).rows(1)))
    assert row.holds is False
    assert "other slot" in row.how


def test_a_port_that_was_away_is_timed_by_this_hosts_clock():
    bench = VirtualBench(link="/dev/no-such-port")
    row = next(iter(PowerCuts(bench, Player(NOW=bench.pull), False).rows(1)))
    assert row.holds, row.how
    assert row.clock.startswith("this host's")


def test_ctrl_c_while_it_stores_puts_its_own_name_back(bench):
    before = name_of(bench)

    def pull():
        if len(person.heard) == 2:
            bench.pull(1)
        else:
            bench.interrupt_in = 120

    person = Player(NOW=pull)
    with pytest.raises(KeyboardInterrupt):
        list(PowerCuts(bench, person, False).rows(2))
    assert name_of(bench) == before


def test_another_board_that_comes_back_is_not_measured_for_the_one_that_was_pulled(bench):
    own = bench.world.board_id.hex()

    def pull():
        make = bench._world
        bench._world = lambda image: make(board="another")  # from its own flash
        bench.pull()

    with pytest.raises(AnotherCarFault) as wrong:
        list(PowerCuts(bench, Player(NOW=pull), False).rows(1))
    assert own in wrong.value.what
    assert bench.world.board_id.hex() in wrong.value.what
    assert bench.world.board_id.hex() != own
