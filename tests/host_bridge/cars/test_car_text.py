"""What the monitor says of a car's senses."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from host_bridge.cars.car_text import (
    cap_text,
    divergence_lines,
    host_clock_ahead_us,
    imu_text,
    other_stop_paths,
    pps_offset_text,
    stop_paths_text,
    why_apart,
)
from host_bridge.core import Second
from tests.host_bridge.drive.drives import Drive, Rig

UNIX_US = 1_700_000_000_000_000  # a whole second


@pytest.fixture
def drive():
    drive = Drive(Rig("red"))
    drive.arm()
    drive.advance(1.0)
    return drive


@pytest.mark.parametrize("ahead_us", [0, 1_300, -1_300, 499_000, -499_000])
@pytest.mark.parametrize("age_us", [10_000, 990_000])
def test_a_second_tells_how_far_this_hosts_clock_is_ahead(drive, ahead_us, age_us):
    car, now_us = drive.rigs[0].car, drive.now_us
    assert host_clock_ahead_us(car, now_us, UNIX_US) is None
    assert pps_offset_text(car, now_us, UNIX_US) == ""
    began_us = car.status.time_us - age_us
    since_us = now_us - car.connection.clock.host_us(began_us, now_us)
    car.second = Second(began_us & (1 << 30) - 1)
    unix_us = UNIX_US + since_us + ahead_us
    assert host_clock_ahead_us(car, now_us, unix_us) == pytest.approx(ahead_us, abs=2)
    assert f"{ahead_us / 1000:+.1f} ms" in pps_offset_text(car, now_us, unix_us)
    assert host_clock_ahead_us(car, now_us + 2_500_000, unix_us + 2_500_000) is None


def test_an_imu_that_is_silent_is_said(drive):
    car = drive.rigs[0].car
    assert imu_text(car) == ""
    car.inputs = replace(car.inputs, has_imu=False)
    assert imu_text(car) == "IMU SILENT"


def test_a_lowered_cap_is_told_also_in_a_profile_that_the_vehicle_file_does_not_offer(drive):
    car = drive.rigs[0].car
    assert cap_text(car) == ""
    car.outputs = replace(car.outputs, cap_mps=0.2)
    assert cap_text(car) == "cap 0.2 m/s"
    car.vehicle = replace(car.vehicle, profile_caps_mps={"stand": 0.3})
    assert cap_text(car) == "cap 0.2 m/s"
    car.outputs = replace(car.outputs, cap_mps=car.vehicle.speed_max_mps)
    assert cap_text(car) == ""


@pytest.mark.parametrize(
    ("amount", "said"),
    [
        (0.25, "yaw rate DIFFERS: 0.25 rad/s, limit 0.1, for 2.0 s"),
        (0.01, "yaw rate DIFFERED until a moment ago: now 0.01 rad/s, limit 0.1"),
    ],
)
def test_an_alarm_that_lingers_is_not_said_of_a_number_within_its_limit(amount, said):
    alarm = SimpleNamespace(
        what="yaw rate", amount=amount, unit="rad/s", limit=0.1, since_us=1_000_000
    )
    divergence = SimpleNamespace(alarms=lambda: [alarm], differences=[alarm])
    assert list(divergence_lines(divergence, 3_000_000)) == [(said, True)]


def test_the_command_that_tells_why_cars_are_apart_names_their_log_or_how_to_make_one():
    command = "tandem replay 'a b.mcap' --car red"
    assert why_apart(Path("a b.mcap"), "red") == f"Why red and its twin differ: {command}"
    assert "--record FILE.mcap, tandem replay FILE.mcap" in why_apart(None, "red")


def test_who_arms_is_told_what_stops_the_car_without_a_network(drive):
    car = drive.rigs[0].car
    ids = {it.name: it.id for it in car.vehicle.stop_sources}
    every_id = tuple(ids.values())
    car.inputs = replace(car.inputs, stop_fresh=every_id)
    of_the_network = {"owner", "seat", "fleet", "external"}
    assert len(other_stop_paths(car)) == len(set(ids) - of_the_network) > 0
    car.inputs = replace(car.inputs, stop_fresh=(ids["runstop_box"],))
    assert stop_paths_text(car) == "Stopped by tandem stop, and without a network by: stop box."
    car.inputs = replace(car.inputs, stop_fresh=(ids["owner"], ids["seat"]))
    assert other_stop_paths(car) == []
    assert "tandem stop ALONE" in stop_paths_text(car)
    car.inputs = None
    assert "ALONE" in stop_paths_text(car)
