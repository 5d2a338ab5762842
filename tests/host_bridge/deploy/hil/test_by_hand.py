"""What a person does to a car on its bench: played, on a virtual car in virtual time."""

import pytest

from firmware.protocol import codes
from host_bridge.deploy.hil import by_hand
from host_bridge.deploy.hil.person import PERSON_TIMEOUT_S, PersonTimeout
from host_bridge.deploy.hil.report.limits import LIMITS
from tests.host_bridge.deploy.hil.virtual_bench import Player, VirtualBench


@pytest.fixture
def bench():
    return VirtualBench()


def set_loop(bench, is_closed):
    def act():
        bench.world.runstop_closed = is_closed

    return act


def test_an_opened_runstop_is_told_by_the_car_sign_by_sign(bench):
    person = Player(Open=set_loop(bench, False), Close=set_loop(bench, True))
    [row] = by_hand.runstop(bench, person)
    assert row.what == LIMITS["runstop_hand"].what
    assert row.holds, row.how
    assert len(row.detail["signs"]) == 6
    assert {word.split(".")[0] for word in person.heard} >= {"RUNSTOP", "The car is armed"}
    assert bench.world.enable is False


@pytest.mark.exhaustive(as_a_whole=True)  # a whole minute, for which a person is waited for
def test_a_runstop_that_nobody_opens_is_not_measured_and_the_car_is_disarmed(bench):
    with pytest.raises(PersonTimeout, match="not opened"):
        list(by_hand.runstop(bench, Player()))
    assert bench.world.now_us > PERSON_TIMEOUT_S * 1e6
    assert bench.world.enable is False


def test_a_runstop_whose_loop_is_not_wired_through_the_relay_does_not_hold(bench):
    """The loop is seen, and the contact of the drive enable stays closed."""

    def opened():
        bench.world.runstop_closed = False
        bench.world.hardware.contact_stuck = True

    [row] = by_hand.runstop(bench, Player(Open=opened, Close=set_loop(bench, True)))
    assert row.holds is False
    assert "the drive enable fell" in row.how


@pytest.mark.exhaustive(as_a_whole=True)  # a whole minute, for which a person is waited for
def test_a_runstop_that_stays_open_does_not_hold(bench):
    [row] = by_hand.runstop(bench, Player(Open=set_loop(bench, False)))
    assert row.holds is False
    assert row.how == "lacking: closed again, cleared and standing by"


class Interrupting(Player):
    def tell(self, text):
        super().tell(text)
        if text.startswith("The car is armed"):
            raise KeyboardInterrupt


def test_ctrl_c_while_it_is_armed_leaves_no_car_armed(bench):
    with pytest.raises(KeyboardInterrupt):
        list(by_hand.runstop(bench, Interrupting()))
    with bench.car(0) as car:
        car.connect()
        assert car.host.state in (codes.STOPPED, codes.STOPPING)
    assert bench.world.enable is False


def turned(bench, left, right):
    def act():
        bench.world.plant.by_hand = (left, right)

    return Player(ENCODER=act)


@pytest.mark.parametrize(
    ("left", "right", "per_turn", "verdicts"),
    [
        (168, 168, 168.0, [True, True]),
        (-168, -168, 168.0, [False, True]),  # the wrong way round
        (84, 84, 168.0, [True, False]),  # every other edge is lost
        (0, 170, 168.0, [True, True]),  # one side only is fitted
        (0, 0, 168.0, [False, False]),
        (168, 168, None, [True, None]),  # nothing to compare with
    ],
)
def test_a_turn_by_hand_tells_sign_and_number(bench, left, right, per_turn, verdicts):
    rows = list(by_hand.encoder(bench, turned(bench, left, right), per_turn))
    assert [row.holds for row in rows] == verdicts
    assert rows[0].got == f"{max(left, right, key=abs)} counts"
    assert rows[0].detail["left"] == left


def test_what_a_turn_should_count_is_in_the_vehicle_file(bench):
    assert by_hand.counts_per_turn(bench._vehicle) == 168
