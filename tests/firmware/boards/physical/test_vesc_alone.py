"""What a VESC does by itself, once its board has let the drive go: the self-test judges it."""

import pytest

from tests.firmware.boards.booted import RUNTIMES, driving

pytestmark = pytest.mark.process

TIMED_OUT, KILLED = 1, 2


def told(host):
    host.rest(300)  # it comes ten times a second
    return host.latest["VescState"]


def opened_while_it_turns(world):
    host = driving(world)
    assert told_while_driving(host).status == 0
    world.turn_loop(False)
    host.rest(1500)
    return host


def told_while_driving(host):
    host.drive(300, 300)
    return host.latest["VescState"]


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_kill_switch_brake_and_timeout_are_told_after_the_loop_opened(world_on, runtime):
    world = world_on("f1tenth_vesc", runtime)
    state = told(opened_while_it_turns(world))
    assert (state.tells, state.status) == (1, TIMED_OUT | KILLED)
    assert state.brake_ma == 20_000
    assert 100 <= state.timeout_ms <= 140  # asked on every other step


@pytest.mark.parametrize(
    ("setup", "status", "brake_ma", "timeout_ms"),
    [
        ({"timeout_us": 1_000_000}, TIMED_OUT | KILLED, 20_000, (1000, 1040)),
        ({"brake_a": 0.0}, TIMED_OUT | KILLED, 0, (100, 140)),
        ({"is_wired": False, "timeout_us": 400_000}, TIMED_OUT, 0, (400, 440)),
        ({"timeout_us": 1 << 40}, KILLED, 20_000, (0, 0)),
    ],
)
def test_what_was_not_set_up_shows(world_on, setup, status, brake_ma, timeout_ms):
    world = world_on("f1tenth_vesc")
    vars(world.vesc).update(setup)
    state = told(opened_while_it_turns(world))
    assert (state.status, state.brake_ma) == (status, brake_ma)
    assert timeout_ms[0] <= state.timeout_ms <= timeout_ms[1]


def test_what_it_did_at_the_last_stop_is_forgotten_when_it_drives_again(world_on):
    world = world_on("f1tenth_vesc")
    host = driving(world)
    state = told_while_driving(host)
    assert (state.status, state.brake_ma, state.timeout_ms) == (0, 0, 0)


def test_a_car_without_a_vesc_says_nothing_of_one(world_on):
    host = driving(world_on("f1tenth"))
    assert "VescState" not in host.latest
