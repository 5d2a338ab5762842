"""Rings 0 and 1 of a virtual board: what the wires carry when the program does not."""

import pytest

from firmware.protocol import codes
from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.board.hardware import PUMP_US, RENEWAL_US, WATCHDOG_US
from sim_mock.world import World
from tests.firmware.worlds import VEHICLES

GUARD_US = 40_000  # four steps


def driving(vehicle="f1tenth"):
    host = SmallHost(World(load_vehicle(vehicle)))
    host.take_the_wheel()
    host.drive(1500, 400)
    assert host.world.enable
    return host


class Wires:
    """What the drive's channel and its enable do from now on, by the millisecond."""

    def __init__(self, host):
        self.world = host.world
        parameters = load_vehicle(self.world.name).parameters
        self.channel = next(
            i for i, kind in enumerate(parameters["channel_kind"]) if kind in (2, 3)
        )
        self.neutral = parameters["channel_neutral"][self.channel]
        self.begun_us = self.world.now_us
        self.enabled_us = self.driven_us = 0
        self.world.observers.append(self.look)

    def look(self, world):
        since_us = world.now_us - self.begun_us
        if world.enable:
            self.enabled_us = since_us
        if world.values[self.channel] != self.neutral:
            self.driven_us = since_us


@pytest.mark.parametrize("vehicle", VEHICLES)
@pytest.mark.parametrize(
    ("interrupts_too", "enable_us", "pulse_us"),
    [(False, GUARD_US, GUARD_US), (True, PUMP_US, RENEWAL_US)],
)
def test_a_hung_program_loses_the_drive_within_100_ms(vehicle, interrupts_too, enable_us, pulse_us):
    host = driving(vehicle)
    wires = Wires(host)
    host.world.hang(300_000, interrupts_too)
    host.world.advance(host.world.now_us + 290_000)
    assert abs(wires.enabled_us - enable_us) <= 11_000  # one step more or less, and a tick
    assert abs(wires.driven_us - pulse_us) <= 11_000
    assert max(wires.enabled_us, wires.driven_us) < 100_000


def test_steering_keeps_its_pulse_while_the_drive_is_gated():
    host = driving()
    host.drive(300, 400, 100_000)
    before = host.world.values[0]
    host.world.hang(200_000)
    host.world.advance(host.world.now_us + 190_000)
    assert (
        host.world.values[0] == before != load_vehicle("f1tenth").parameters["channel_neutral"][0]
    )


def test_a_program_that_hangs_for_less_than_the_guard_waits_drives_on():
    host = driving()
    host.world.hang(20_000)
    host.drive(500, 400)
    assert host.state == codes.ACTIVE


def test_a_program_that_hangs_for_good_begins_anew_within_half_a_second():
    host = driving()
    begun_us = host.world.now_us
    host.latest.clear()
    host.world.hang(60_000_000)
    while "Status" not in host.latest:
        host.beat()
        assert host.world.now_us - begun_us < 500_000
    assert host.world.reset_cause == codes.RESET_WATCHDOG
    assert host.world.now_us - begun_us >= WATCHDOG_US
    assert not host.world.enable


@pytest.mark.parametrize("hangs", [False, True])
@pytest.mark.parametrize("phase_ms", range(10))
def test_an_open_loop_ends_the_drive_within_a_millisecond_hung_or_not(hangs, phase_ms):
    host = driving()
    host.world.advance(host.world.now_us + 1000 * phase_ms)
    wires = Wires(host)
    if hangs:
        host.world.hang(100_000)
    host.world.runstop_closed = False
    host.world.advance(host.world.now_us + 30_000)
    assert max(wires.enabled_us, wires.driven_us) < 1000


@pytest.mark.parametrize(("open_us", "stops"), [(15, False), (200, True), (500, True)])
def test_the_loops_filter_lets_spikes_pass_and_takes_what_is_open(open_us, stops):
    """firmware/core/SAFETY.md: under 20 us ignored, over 200 us always taken."""
    host = driving()
    host.world.hardware.glitch(host.world.now_us, host.world.now_us + open_us)
    host.drive(100, 400)
    assert (host.state != codes.ACTIVE) == stops
    assert bool(host.status.causes & 1 << codes.CAUSE_RUNSTOP_LOOP) == stops


def test_three_starts_that_do_not_last_stay_in_fault_and_a_lasting_one_ends_that():
    host = SmallHost(World(load_vehicle("f1tenth")))
    for _ in range(3):
        host.rest(300)
        host.world.restart(codes.RESET_WATCHDOG)
    host.rest(2000)
    assert host.state == codes.FAULT
    assert host.status.faults == 1 << codes.FAULT_BOOT_LOOP
    host.rest(10_000)  # it has lasted
    host.world.restart(codes.RESET_POWER_ON)
    host.rest(2000)
    assert host.state == codes.STANDBY


def test_what_the_board_has_stored_outlives_a_restart():
    host = driving()
    image = host.world.runner.image()
    host.world.restart(codes.RESET_BROWN_OUT)
    assert host.world.runner.image() == image
    assert not host.world.enable
