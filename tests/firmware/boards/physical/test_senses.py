"""What a booted board senses besides its wheels: an IMU that dies, a time receiver's pulse."""

import pytest

from firmware.protocol import codes
from host_bridge.deploy.hil.host.small_host import SmallHost
from tests.firmware.boards.bench_world import IS_NUMB
from tests.firmware.boards.booted import RUNTIMES, driving

SPEED_MM_S, LEFT_URAD = 500, 200_000


def says_imu(host):
    host.drive(300, SPEED_MM_S, LEFT_URAD)  # slow reports come ten times a second
    return host.latest["Inputs"].imu_answers


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
def test_an_imu_that_falls_silent_is_told_and_the_car_drives_on_by_its_steering(world_on, runtime):
    world = world_on("f1tenth", runtime)
    host = driving(world)
    assert says_imu(host) == 1
    assert not any(event[1] == codes.EVENT_IMU for event in host.events)
    world.flags = IS_NUMB
    assert says_imu(host) == 0
    assert host.has_event(codes.EVENT_IMU, 0)
    began_urad, plant_rad = host.latest["Motion"].yaw_urad, world.plant.truth.yaw_rad
    host.drive(1000, SPEED_MM_S, LEFT_URAD)
    turned_rad = (host.latest["Motion"].yaw_urad - began_urad) * 1e-6
    assert turned_rad == pytest.approx(world.plant.truth.yaw_rad - plant_rad, rel=0.25)
    assert turned_rad > 0.1
    assert host.latest["Motion"].yaw_rate_mrad_s == 0
    world.flags = 0
    assert says_imu(host) == 1
    assert host.has_event(codes.EVENT_IMU, 1)
    assert host.latest["Motion"].yaw_rate_mrad_s > 100
    assert host.state == codes.ACTIVE
    assert (host.status.causes, host.status.faults) == (0, 0)


@pytest.mark.process
def test_a_car_whose_imu_never_answered_says_so_and_arms(world_on):
    world = world_on("f1tenth")
    world.flags = IS_NUMB
    host = driving(world)
    assert says_imu(host) == 0
    assert host.has_event(codes.EVENT_IMU, 0)
    assert host.state == codes.ACTIVE


@pytest.mark.micropython
@pytest.mark.parametrize("runtime", RUNTIMES)
@pytest.mark.parametrize("board", ["pico2", "nucleo_f767zi", "esp32s3_devkitc"])
def test_a_time_receivers_seconds_are_told(world_on, board, runtime):
    world = world_on("autorally", runtime, board=board)
    host = SmallHost(world)
    host.connect()
    host.rest(300)
    assert "Second" not in host.latest
    first_us = world.now_us + 5_137
    for second in range(4):  # the first is no second after another
        world.pulse(world.pins.PPS, first_us + second * 1_000_000)
    told = []
    for _ in range(600):
        host.beat()
        told.append(host.latest.get("Second"))
    seconds = [second.began_us for second in dict.fromkeys(told) if second]
    assert seconds == [first_us + second * 1_000_000 for second in (1, 2, 3)]
