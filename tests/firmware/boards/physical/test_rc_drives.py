"""A hand at a transmitter drives a booted board, whatever its receiver speaks, and losing it stops.

The receiver is the bench world's: four wires, or a line with the real bytes of SBUS or CRSF.
"""

from pathlib import Path

import pytest

from firmware.protocol import codes
from host_bridge.config.boards.reading import FOLDER
from host_bridge.deploy.hil.host.small_host import SmallHost
from tests.firmware.boards.booted import RUNTIMES, is_neutral

pytestmark = pytest.mark.process

BY_WIRES = 'rc = { kind = "pulses", steering = 12, throttle = 13, live_man = 14, mode = 15 }'
KINDS = {
    "pulses": BY_WIRES,
    "sbus": 'rc = { kind = "sbus", rx = 9, order = [0, 2, 4, 5] }',
    "crsf": 'rc = { kind = "crsf", tx = 8, rx = 9, order = [0, 1, 4, 7] }',
}
LET_GO, HELD, FORWARD = [1500, 1500, 1000, 1500], [1500, 1500, 2000, 1500], [1450, 1560, 2000, 1500]
# A frame's lease of 60 ms, a step of the car, a millisecond on the line; then it brakes
STOPS_MS = 60 + 10 + 1
SAYS_SO_MS = 14 + STOPS_MS  # the frame that says it comes in its turn


@pytest.fixture
def world_with(world_on, tmp_path):
    def make(kind, runtime="cpython"):
        board = tmp_path / "pico.toml"
        text = Path(FOLDER / "pico.toml").read_text()
        assert BY_WIRES in text
        board.write_text(text.replace(BY_WIRES, KINDS[kind]))
        return world_on("f1tenth", runtime, board=str(board))

    return make


def driven_by_hand(world, ms=1500):
    """By the gesture: let go and in neutral for a second, then held; then forward, to the left."""
    host = SmallHost(world)
    host.connect()
    world.hand = LET_GO
    host.rest(1500)
    assert host.state == codes.STANDBY
    world.hand = HELD
    host.rest(300)
    assert host.state == codes.ACTIVE
    world.hand = FORWARD
    host.rest(ms)
    assert world.plant.truth.vx_mps > 0.1
    assert world.plant.truth.yaw_rad > 0.01
    assert not is_neutral(world)
    return host


def stopped_within_ms(host):
    """Until the car says that it is stopping: claims that come by a receiver have a short lease."""
    for ms in range(1, 300):
        host.hear(host.world.advance(host.world.now_us + 1000))
        if host.state in (codes.STOPPING, codes.STOPPED):
            return ms
    raise AssertionError("it drives on")


def stays_stopped(host):
    host.rest(1500)
    assert host.state == codes.STOPPED
    assert host.has_event(codes.EVENT_STOP_LATCHED, codes.CAUSE_SILENCE)
    assert host.world.plant.truth.vx_mps == 0.0
    assert not host.world.enable
    assert is_neutral(host.world)


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("kind", list(KINDS))
def test_a_hand_at_a_transmitter_drives_and_its_silence_stops(world_with, kind, runtime):
    world = world_with(kind, runtime)
    host = driven_by_hand(world)
    world.hand = None
    assert stopped_within_ms(host) <= STOPS_MS
    stays_stopped(host)
    world.hand = FORWARD  # found again: it does not drive on
    host.rest(1500)
    assert host.state == codes.STOPPED
    assert not world.enable


@pytest.mark.parametrize("kind", ["sbus", "crsf"])
def test_a_receiver_that_says_it_lost_its_transmitter_stops_the_car(world_with, kind):
    world = world_with(kind)
    host = driven_by_hand(world)
    world.is_out_of_range = True  # its frames go on to come, with the last thing it heard
    assert stopped_within_ms(host) <= SAYS_SO_MS
    stays_stopped(host)


@pytest.mark.parametrize("kind", list(KINDS))
def test_a_hand_that_was_there_and_held_before_the_car_was_does_not_arm_it(world_with, kind):
    world = world_with(kind)
    world.hand = FORWARD
    host = SmallHost(world)
    host.connect()
    world.hand = HELD
    host.rest(2000)
    assert host.state == codes.STANDBY
    assert not world.enable


def test_one_broken_wire_is_a_loss(world_with):
    world = world_with("pulses")
    host = driven_by_hand(world)
    world.broken_wire = 2
    assert stopped_within_ms(host) <= STOPS_MS
    stays_stopped(host)
