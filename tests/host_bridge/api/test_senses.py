"""What a script sees of its virtual car: the same names in lockstep, in real time, with asyncio."""

from __future__ import annotations

import asyncio
from math import inf, nan, radians

import numpy as np
import pytest
import tandem

from host_bridge.core import State
from tests.host_bridge.sharing.desk import runtime_folder

CORRIDOR = "sim://f1tenth?track=corridor"


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def driven(car: tandem.Car, seconds: float, speed_mps: float = 1.0, steer_rad: float = 0.0) -> None:
    for _ in car.ticks(seconds):
        car.drive(speed_mps, steer_rad)


def test_a_scan_has_the_walls_where_they_are():
    with tandem.open(CORRIDOR, lockstep=True) as car:
        scan = car.scan()
        assert len(scan.ranges_m) == len(scan.angles_rad) == 1081
        assert scan.angles_rad[0] == pytest.approx(radians(-135))
        assert scan.nearest_m(radians(90)) == pytest.approx(1.0, abs=0.05)  # 2 m wide
        assert scan.nearest_m(radians(-90)) == pytest.approx(1.0, abs=0.05)
        assert car.scan() is not None
        assert scan.nearest_m(0.0) > 5.0
        car.wait(0.1)
        assert car.scan().taken_s == pytest.approx(scan.taken_s + 0.1)


def test_a_sector_goes_over_the_back_and_through_rays_without_a_return():
    scan = tandem.Scan(0.0, np.radians([-179.0, 0.0, 90.0, 179.0]), np.array([2.0, inf, nan, 3.0]))
    assert scan.nearest_m(radians(180), 0.1) == 2.0
    assert scan.nearest_m(radians(179), 0.01) == 3.0
    assert scan.nearest_m(0.0) == inf
    assert scan.nearest_m(radians(90)) == inf
    assert repr(scan) == "<tandem.Scan at 0.000 s: 4 rays, the nearest 2.00 m at -179°>"


def test_truth_hits_and_laps_of_a_car_that_drives_into_a_wall():
    with tandem.open(f"{CORRIDOR}&start=5,0,0", lockstep=True) as car:
        car.arm()
        driven(car, 2.0)
        assert car.truth().x_m == pytest.approx(5.0 + car.pose[0], abs=0.1)
        assert (car.hits, car.laps.count) == (0, 0)
        assert 1.5 < car.laps.time_s < 2.1
        driven(car, 3.0)
        assert car.hits == 1
        assert not car.is_off_track


def test_a_reset_is_a_car_as_it_was_opened():
    with tandem.open(f"{CORRIDOR}&start=5,0,0", lockstep=True) as car:
        car.arm()
        driven(car, 4.0, steer_rad=0.02)
        assert car.hits == 1
        assert car.state is State.ACTIVE
        before_s = car.now_s
        car.reset()
        assert car.now_s > before_s
        assert car.state is State.STANDBY
        assert (car.hits, car.laps) == (0, tandem.LapTimes())
        truth = car.truth()
        assert (truth.x_m, truth.y_m, truth.yaw_rad) == (5.0, 0.0, 0.0)
        assert car.pose == (0.0, 0.0, 0.0)
        car.arm()
        driven(car, 1.5)
        x_m, y_m, yaw_rad = car.pose
        assert x_m > 0.8
        assert (y_m, yaw_rad) == pytest.approx((0.0, 0.0), abs=0.05)


def test_a_reset_clears_the_stop_of_a_script_that_paused():
    with tandem.open("sim://nigel", lockstep=True) as car:
        car.arm()
        driven(car, 1.0, 0.4)
        car.wait(0.2)
        assert car.state in (State.STOPPING, State.STOPPED)
        car.reset()
        assert car.state is State.STANDBY
        car.arm()
        driven(car, 1.0, 0.4)
        assert car.speed_mps > 0.2


def test_a_reset_waits_for_nobody_who_stands_there():
    with (
        tandem.open(f"{CORRIDOR}&scene=r&name=red", lockstep=True) as red,
        tandem.open(f"{CORRIDOR}&scene=r&name=blue&start=-1.5,0,0", lockstep=True) as blue,
    ):
        red.arm()
        driven(red, 3.0)
        blue.arm()
        driven(blue, 2.0)
        with pytest.raises(tandem.UsageFault, match="cannot be put at its start"):
            red.reset()


def test_without_walls_there_is_truth_and_no_scan():
    with tandem.open("sim://nigel", lockstep=True) as car:
        assert car.truth().x_m == 0.0
        with pytest.raises(tandem.UsageFault, match="has no scan") as refused:
            car.scan()
        assert "no track and no map" in refused.value.got


def test_cars_of_one_script_tick_together():
    with (
        tandem.open("sim://nigel", lockstep=True) as red,
        tandem.open("sim://nigel?name=blue", lockstep=True) as blue,
    ):
        red.arm()
        blue.arm()
        begun = red.now_s, blue.now_s
        times = list(tandem.ticks(red, blue, seconds=0.5))
        assert len(times) == 50
        assert red.now_s - begun[0] == pytest.approx(0.5)
        assert blue.now_s - begun[1] == pytest.approx(0.5)
    with pytest.raises(tandem.ArgumentFault):
        list(tandem.ticks())


def test_with_asyncio_the_names_are_the_same():
    async def drive() -> tuple[float, int]:
        async with await tandem.connect(CORRIDOR, lockstep=True) as car:
            await car.arm()
            async for _ in car.ticks(1.0):
                car.drive(1.0)
            seen = car.scan().nearest_m(radians(90)), car.hits
            assert car.laps.count == 0
            await car.reset()
            assert car.truth().x_m == 0.0
            return seen

    left_m, hits = asyncio.run(drive())
    assert left_m == pytest.approx(1.0, abs=0.1)
    assert hits == 0


@pytest.mark.process(drives=True)
@pytest.mark.xdist_group("wall clock")
@pytest.mark.parametrize("uri", [CORRIDOR, f"lossy+{CORRIDOR}"])
def test_in_the_time_of_the_world_the_names_are_the_same(uri):
    with tandem.open(uri) as car:
        car.arm()
        driven(car, 1.0)
        assert car.scan().nearest_m(radians(90)) == pytest.approx(1.0, abs=0.1)
        assert car.truth().x_m > 0.3
        assert car.laps.time_s > 0.3
        car.reset()
        assert (car.hits, car.state) == (0, State.STANDBY)
        assert car.truth().x_m == pytest.approx(0.0, abs=0.01)
        assert car.pose == (0.0, 0.0, 0.0)


@pytest.mark.process(drives=True)
@pytest.mark.xdist_group("wall clock")
def test_a_car_in_another_process_has_no_senses_here():
    with tandem.open("sim+process://nigel") as car:
        for ask in (car.scan, car.truth, lambda: car.hits, lambda: car.laps, car.reset):
            with pytest.raises(tandem.UsageFault, match="virtual car of this script") as refused:
                ask()
            assert "sim+process://nigel" in refused.value.got
