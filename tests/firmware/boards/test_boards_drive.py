"""The real board files on the virtual machine drive the virtual car, and stop it every way.

Under CPython, whose outputs are the oracle, and under MicroPython of 64 and 32 bit with the heap
locked in every step and every interrupt. What metal alone can show is not here (tandem hil).
"""

import pytest

from firmware.protocol import codes
from host_bridge.deploy.hil.host.small_host import RELEASED, SmallHost
from tests.firmware.boards.bench_world import HANGS, IS_DEAF, PROGRAM
from tests.firmware.boards.booted import (
    BOARDS,
    FAST_MM_S,
    FRAME_MS,
    PUMP_MS,
    RUNTIMES,
    SPEED_MM_S,
    driving,
    is_neutral,
    moved_off,
)


@pytest.mark.micropython
@pytest.mark.parametrize("vehicle", list(BOARDS))
def test_it_arms_drives_and_stops_when_claims_stop_alike_on_every_python(world_on, vehicle):
    seen = {}
    for runtime in RUNTIMES:
        world = world_on(vehicle, runtime)
        host = driving(world, 3000, FAST_MM_S if vehicle == "autorally" else SPEED_MM_S)
        host.rest(4000)
        assert host.state == codes.STOPPED
        assert host.has_event(codes.EVENT_STOP_LATCHED, codes.CAUSE_SILENCE)
        assert world.plant.truth.vx_mps == 0.0
        assert not world.enable
        assert is_neutral(world, vehicle)
        seen[runtime] = (world.edges, vars(host.latest["Motion"]).get("x_mm"))
    assert seen["cpython"] == seen[64] == seen[32]


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("lasts_us", [200, 400_000])
def test_the_runstop_pin_cuts_and_stays_cut_when_it_closes(world_on, runtime, lasts_us):
    world = world_on("f1tenth", runtime)
    host = driving(world, 600)
    world.turn_loop(False, after_us=137)
    world.turn_loop(True, after_us=137 + lasts_us)
    neutral_ms, off_ms = moved_off(host)
    assert neutral_ms <= 1 + FRAME_MS
    assert off_ms <= 1 + 1 + PUMP_MS
    host.drive(800, SPEED_MM_S)
    assert host.state == codes.STOPPED
    assert host.has_event(codes.EVENT_STOP_LATCHED, codes.CAUSE_RUNSTOP_LOOP)
    assert not world.enable


@pytest.mark.process
def test_a_spike_on_the_runstop_pin_stops_nothing(world_on):
    world = world_on("f1tenth")
    host = driving(world, 600)
    for after_us in (50, 510, 990):
        world.turn_loop(False, after_us)
        world.turn_loop(True, after_us + 19)
    host.drive(300, SPEED_MM_S)
    assert host.state == codes.ACTIVE
    assert world.enable


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_hung_step_is_cut_by_the_guard_and_a_stop_when_it_goes_on(world_on, runtime):
    world = world_on("f1tenth", runtime)
    host = driving(world, 600)
    world.flags = HANGS
    neutral_ms, off_ms = moved_off(host)
    assert neutral_ms <= 40 + 1 + FRAME_MS + 1  # four steps, a tick, a frame
    assert off_ms <= 40 + 2 + PUMP_MS
    world.flags = 0
    host.drive(500, SPEED_MM_S)
    assert host.state == codes.STOPPED
    assert host.has_event(codes.EVENT_STOP_LATCHED, codes.CAUSE_OVERRUN)
    assert world.resets == 0


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_with_interrupts_off_the_pulses_expire_and_the_watchdog_begins_anew(world_on, runtime):
    world = world_on("f1tenth", runtime)
    host = driving(world, 600)
    world.flags = HANGS | IS_DEAF
    neutral_ms, off_ms = moved_off(host)
    assert neutral_ms <= 100
    assert off_ms <= 20 + 1 + PUMP_MS
    world.advance(world.now_us + 400_000)
    assert world.resets == 1
    world.flags = 0
    host.rest(3000)
    assert host.state == codes.STANDBY
    assert host.has_event(codes.EVENT_STARTED, codes.RESET_WATCHDOG, 1)
    host.drive(300, SPEED_MM_S)
    assert not world.enable
    assert is_neutral(world)


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_a_vesc_on_its_uart_drives_and_brakes_and_when_it_is_silent_that_is_a_fault(
    world_on, runtime
):
    world = world_on("f1tenth_vesc", runtime)
    host = driving(world)
    host.claim(0)
    host.drive(700, 0)
    assert world.plant.truth.yaw_rad > 0.05  # it steers by the VESC's servo output too
    assert {name for name, _ in world.vesc.commands} == {"duty", "current", "brake"}
    assert abs(world.plant.truth.vx_mps) < 0.1
    host.drive(500, SPEED_MM_S)
    world.vesc.is_deaf = True
    host.drive(400, SPEED_MM_S)
    assert host.state in (codes.STOPPING, codes.FAULT)
    assert host.has_event(codes.EVENT_FAULT_LATCHED, codes.FAULT_NO_MOTION)  # its counts stand
    assert not world.enable


@pytest.mark.process
def test_a_vesc_that_brakes_light_wheels_never_turns_them_round(world_on):
    """On the stand they follow at once what they are told at rest."""
    world = world_on("f1tenth_vesc")
    host = driving(world)
    world.plant.is_on_stand = True
    host.drive(800, 1000)
    slowest_mps = fastest_mps = world.plant.wheel_speed_mps
    for _ in range(40):
        host.drive(10, 0, deadman=RELEASED)
        slowest_mps = min(slowest_mps, world.plant.wheel_speed_mps)
    assert fastest_mps > 0.5
    assert slowest_mps > -0.05
    assert host.state == codes.HOLD


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize(
    ("board", "vehicle"),
    [
        ("nucleo_f767zi", "f1tenth"),
        ("nucleo_f767zi", "nigel"),
        ("esp32s3_devkitc", "f1tenth"),
        ("esp32s3_devkitc", "autorally"),
    ],
)
def test_other_ports_drive_and_their_runstop_cuts(world_on, board, vehicle, runtime):
    world = world_on(vehicle, runtime, board=board)
    host = driving(world, 3000, FAST_MM_S if vehicle == "autorally" else SPEED_MM_S)
    world.turn_loop(False)
    neutral_ms, off_ms = moved_off(host, vehicle)
    assert neutral_ms <= 1 + 1
    assert off_ms <= 1 + 1 + PUMP_MS
    host.rest(4000)
    assert host.state == codes.STOPPED
    assert host.has_event(codes.EVENT_STOP_LATCHED, codes.CAUSE_RUNSTOP_LOOP)


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_on_stm32_a_hung_step_is_cut_by_the_guard(world_on, runtime):
    world = world_on("f1tenth", runtime, board="nucleo_f767zi")
    host = driving(world, 600)
    world.flags = HANGS
    neutral_ms, off_ms = moved_off(host)
    assert neutral_ms <= 40 + 2
    assert off_ms <= 40 + 2 + PUMP_MS


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_an_allocation_in_a_step_would_be_found(world_on, bits, tmp_path):
    program = tmp_path / "allocates.py"
    line = "        App.step(self, now_us)\n"
    text = PROGRAM.read_text()
    assert line in text
    program.write_text(text.replace(line, line + "        self.kept = [now_us]\n"))
    with pytest.raises(AssertionError, match="MemoryError"):
        SmallHost(world_on("f1tenth", bits, program)).rest(50)
