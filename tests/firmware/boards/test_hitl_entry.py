"""Who may enter hardware in the loop: no car that could move, and nobody who was not meant."""

import pytest

from firmware.protocol import codes
from firmware.protocol.plant import EnterHitl
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.faults.trial.host import framed
from tests.firmware.boards.doors import door_of
from tests.firmware.worlds import world_of


@pytest.fixture
def car():
    world = world_of()
    return world, SmallHost(world), door_of(world.runner.app)


def knock(world, board_id):
    message = EnterHitl()
    message.board_id[:] = board_id
    world.feed(framed(message))


def test_an_armed_car_does_not_open_nor_one_that_has_yet_to_stand(car):
    world, host, door = car
    host.take_the_wheel()
    for speed_mm_s, ms in ((0, 50), (1000, 1500)):
        host.drive(ms, speed_mm_s)
        assert host.state in (codes.ACTIVE, codes.HOLD)
        knock(world, world.board_id)
        host.drive(20, speed_mm_s)
        assert not door.is_asked
    host.rest(200)  # silence: it brakes
    assert host.state == codes.STOPPING
    knock(world, world.board_id)
    host.rest(20)
    assert not door.is_asked


def test_another_board_is_not_meant(car):
    world, host, door = car
    host.connect()
    knock(world, bytes(8))
    host.rest(20)
    assert not door.is_asked


def test_an_idle_car_opens(car):
    world, host, door = car
    host.connect()
    host.rest(1500)
    assert host.state == codes.STANDBY
    knock(world, world.board_id)
    host.rest(20)
    assert door.is_asked
