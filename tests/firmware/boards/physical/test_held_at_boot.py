"""A board that is switched on while something keeps it from driving: nothing but neutral comes out
of it, and it says why; whoever tries to arm it is told, too."""

import pytest

from firmware.protocol import codes
from host_bridge.deploy.hil.host.small_host import SmallHost
from tests.firmware.boards.booted import BOARDS, FRAME_MS, NEUTRAL, RUNTIMES

LOOP, CONTACT, SERVO, ESC = 6, 7, 2, 16  # hardware/boards/pico.toml
NOT_MOVING = (codes.STANDBY, codes.STOPPED, codes.FAULT)


def is_driven(value, neutral):
    """No pulse is none, and a PIO's pulse is within a tick of what was asked."""
    return value != 0 and abs(value - neutral) > 1000


def tries_everything(host):
    """Arms, clears and claims; the refusals of the last arm."""
    host.connect()
    host.act(codes.ACTION_CLEAR)
    refusals = host.act(codes.ACTION_ARM)
    host.drive(500, 1000, steer_urad=100_000)
    return refusals


def nothing_moved(world, vehicle="f1tenth", drives=(1,)):
    assert not any(is_on for _, is_on, _ in world.edges)
    seen = [values[at] for _, _, values in world.edges for at in drives]
    assert not any(is_driven(value, NEUTRAL[vehicle]) for value in seen)
    assert world.plant.truth.vx_mps == 0.0


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_loop_that_is_open_at_the_start_lets_nothing_out_until_it_is_closed_and_cleared(
    world_on, runtime
):
    world = world_on("f1tenth", runtime, held=[f"{LOOP}=0"])
    host = SmallHost(world)
    refusals = tries_everything(host)
    assert refusals >> codes.REFUSED_CAUSE_PRESENT & 1
    assert host.status.first_cause == codes.CAUSE_RUNSTOP_LOOP
    assert host.has_event(codes.EVENT_STOP_LATCHED, codes.CAUSE_RUNSTOP_LOOP)
    assert host.state in NOT_MOVING
    nothing_moved(world)
    world.turn_loop(True)
    host.drive(300)
    assert host.act(codes.ACTION_ARM)
    nothing_moved(world)
    assert host.act(codes.ACTION_CLEAR) == 0
    host.rest(3 * FRAME_MS)
    host.take_the_wheel()
    assert world.enable


@pytest.mark.process
def test_a_receiver_whose_switch_says_stop_at_the_start_is_named(world_on):
    world = world_on("f1tenth")
    world.hand = [1500, 1500, 2000, 1000]
    host = SmallHost(world)
    refusals = tries_everything(host)
    assert refusals >> codes.REFUSED_CAUSE_PRESENT & 1
    assert host.has_event(codes.EVENT_STOP_LATCHED, codes.CAUSE_STOP_SOURCE)
    nothing_moved(world)


@pytest.mark.process
def test_a_stop_that_comes_before_all_else_is_latched(world_on):
    world = world_on("f1tenth")
    host = SmallHost(world)
    host.stop()
    host.connect()
    assert host.act(codes.ACTION_ARM) >> codes.REFUSED_STOP_CAUSE & 1
    assert host.has_event(codes.EVENT_STOP_LATCHED, codes.CAUSE_STOP_REQUEST)
    host.drive(500, 1000)
    nothing_moved(world)


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    ("gpio", "fault"),
    [(CONTACT, codes.FAULT_RELAY), (ESC, codes.FAULT_OUTPUT), (SERVO, codes.FAULT_OUTPUT)],
)
def test_a_pin_that_is_held_high_at_the_start_is_a_fault(world_on, runtime, gpio, fault):
    world = world_on("f1tenth", runtime, held=[f"{gpio}=1"])
    host = SmallHost(world)
    assert tries_everything(host) >> codes.REFUSED_FAULT & 1
    assert host.state == codes.FAULT
    assert host.has_event(codes.EVENT_FAULT_LATCHED, fault)
    nothing_moved(world)


@pytest.mark.process
def test_so_is_a_direction_of_an_h_bridge(world_on):
    world = world_on("nigel")
    drives = [i for i, row in enumerate(world.pins.CHANNELS) if row[0] == "h_bridge"]
    in1 = world.pins.CHANNELS[drives[0]][2]
    world = world_on("nigel", held=[f"{in1}=1"])
    host = SmallHost(world)
    tries_everything(host)
    assert host.has_event(codes.EVENT_FAULT_LATCHED, codes.FAULT_OUTPUT)
    nothing_moved(world, "nigel", drives)


@pytest.mark.process
@pytest.mark.parametrize("vehicle", list(BOARDS))
def test_with_nothing_held_the_same_host_drives(world_on, vehicle):
    world = world_on(vehicle)
    host = SmallHost(world)
    assert tries_everything(host) == 0
    assert world.enable


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_real_board_says_that_it_is_no_virtual_car(world_on, runtime):
    """The program that is flashed, on its board's own pins; a virtual car's board says 1."""
    host = SmallHost(world_on("f1tenth", runtime))
    host.connect()
    assert host.latest["Identity"].flags == 0
