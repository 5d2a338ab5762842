"""The car's own program drives the car in the simulator, and stops when that is gone."""

import math

import pytest

from firmware.protocol import codes
from host_bridge.deploy.hil.host.small_host import RELEASED
from tests.sim_mock.autodrive.unity_drive import UnityDrive

CARS = [
    ("nigel", "nigel", 0.2),
    ("f1tenth", "f1tenth", 1.5),
    ("f1tenth", "roboracer", 1.5),
    ("hunter_se", "hunter_se", 1.5),
]
AUTOMOBILES = ("opencav", "rzr")
CARS_WITH_POINTS = [(*car, ".") for car in CARS]


def in_motion(vehicle="nigel", car=None, speed_mps=0.2, steer_urad=0, for_ms=800, **options):
    drive = UnityDrive(vehicle, car, **options)
    drive.take_the_wheel()
    drive.host.drive(for_ms, round(speed_mps * 1000), steer_urad)
    return drive


@pytest.mark.parametrize(
    ("vehicle", "car", "speed_mps", "mark"), [(*CARS[0], ","), *CARS_WITH_POINTS]
)
def test_a_car_drives_at_the_speed_it_is_told(vehicle, car, speed_mps, mark):
    drive = in_motion(vehicle, car, speed_mps, mark=mark, for_ms=1500)
    assert drive.host.state == codes.ACTIVE
    assert drive.unity.speed == pytest.approx(speed_mps, rel=0.1)
    assert drive.unity.swallowed == []
    assert drive.plant.truth.vx_mps == pytest.approx(drive.unity.speed, rel=0.05)
    assert drive.plant.truth.x_m == pytest.approx(drive.unity.x, abs=0.05 * speed_mps)


@pytest.mark.parametrize(("vehicle", "car", "speed_mps"), CARS)
def test_left_is_left_and_as_far_as_it_is_told(vehicle, car, speed_mps):
    drive = in_motion(vehicle, car, speed_mps, steer_urad=200_000, for_ms=600)
    assert drive.host.state == codes.ACTIVE
    assert drive.unity.steer == pytest.approx(0.2, abs=0.01)
    assert drive.plant.truth.yaw_rate_radps > 0.0
    assert math.sin(drive.plant.truth.yaw_rad) == pytest.approx(math.sin(drive.unity.yaw), abs=0.1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", AUTOMOBILES)
@pytest.mark.parametrize("speed_mps", [2.5, -0.8])
def test_a_full_scale_car_starts_through_its_gearbox_and_drives_as_fast_as_it_is_told(
    name, speed_mps
):
    drive = in_motion(name, speed_mps=speed_mps, for_ms=5000)
    assert drive.host.state == codes.ACTIVE
    assert drive.unity.driven.box.gear == (1 if speed_mps > 0.0 else -1)
    assert drive.unity.speed == pytest.approx(speed_mps, rel=0.15)
    assert drive.unity.swallowed == []


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", AUTOMOBILES)
def test_a_full_scale_car_turns_left_and_is_stopped_by_its_brake(name):
    drive = in_motion(name, speed_mps=2.0, steer_urad=200_000, for_ms=4000)
    assert drive.unity.turn == pytest.approx(drive.unity.speed * math.tan(0.2) / 3.0, rel=0.1)
    pedals = []
    drive.host.stop()
    for _ in range(200):
        drive.host.drive(10, 2000)
        pedals.append(drive.unity.brake)
    assert any(0.0 < pedal < 1.0 for pedal in pedals)  # by degrees
    assert pedals[-1] == 1.0  # and it is held
    assert drive.unity.speed == pytest.approx(0.0, abs=0.01)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", AUTOMOBILES)
def test_a_full_scale_car_whose_drive_is_cut_has_its_brake_down(name):
    """Its throttle alone would let it roll."""
    drive = in_motion(name, speed_mps=2.0, for_ms=4000)
    drive.world.hardware.enable = False
    drive.plant.step(0.001, drive.world.hardware.outputs, False)
    assert (drive.plant.command.throttle, drive.plant.command.brake) == (0.0, 1.0)


def test_what_the_car_measures_is_what_the_simulator_says():
    drive = in_motion(steer_urad=200_000)
    assert drive.host.status.speed_mm_s == pytest.approx(1000 * drive.unity.speed, abs=20)
    assert drive.plant.yaw_rate_mrad_s == pytest.approx(1000 * drive.unity.turn, abs=20)


@pytest.mark.parametrize("rate_hz", [30, 130])
def test_the_speed_is_steady_whatever_the_rate_of_the_frames(rate_hz):
    drive = in_motion(rate_hz=rate_hz, for_ms=1500)
    speeds = []
    for _ in range(50):
        drive.host.drive(10, 200)
        speeds.append(drive.host.status.speed_mm_s)
    assert max(speeds) - min(speeds) < 30


def test_both_encodings_of_the_scan_come_through():
    for packs in (True, False):
        ranges = in_motion(packs=packs, for_ms=100).plant.telemetry.ranges_m()
        assert len(ranges) == 360
        assert ranges[0] == pytest.approx(1.25)
        assert ranges[-1] == math.inf


def test_a_simulator_that_is_gone_stops_the_car_for_good():
    drive = in_motion()
    drive.is_there = False
    before = drive.plant.counts()
    drive.host.drive(600, 200)
    gone_at = drive.plant.counts()
    assert drive.host.state not in (codes.ACTIVE, codes.HOLD)
    assert gone_at[0] - before[0] <= 60  # one frame's travel at most: 0.2 m/s for 8 ms is 15
    assert drive.plant.command.throttle == 0.0
    drive.is_there = True
    drive.host.drive(1000, 200)
    assert drive.host.state not in (codes.ACTIVE, codes.HOLD)
    assert drive.unity.speed == pytest.approx(0.0, abs=1e-3)


def test_after_its_return_a_person_clears_and_drives_on():
    drive = in_motion()
    drive.is_there = False
    drive.host.drive(900, 200)
    drive.is_there = True
    drive.host.drive(1500, deadman=RELEASED)
    drive.clear_and_arm()
    drive.host.drive(50)
    drive.host.drive(900, 200)
    assert drive.host.state == codes.ACTIVE
    assert drive.unity.speed == pytest.approx(0.2, rel=0.1)


def test_a_car_at_rest_does_not_arm_without_its_simulator():
    drive = UnityDrive()
    drive.is_there = False
    drive.host.connect()
    drive.host.drive(600, deadman=RELEASED)
    assert drive.host.act(codes.ACTION_CLEAR) != 0
    assert drive.host.act(codes.ACTION_ARM) != 0
    assert drive.host.state not in (codes.ACTIVE, codes.HOLD)


def test_a_stalled_simulator_is_told_to_stand_by_what_starts_it_again():
    """It keeps on rendering with the last it was told: the one thing that only a word can mend."""
    drive = in_motion()
    drive.unity.breaks_next = True
    frames = drive.unity.frames
    drive.host.drive(480, 200)
    assert drive.unity.frames <= frames + 1
    assert drive.exchange.restarts == 0
    drive.host.drive(100, 200)
    assert drive.exchange.restarts == 1
    assert drive.unity.frames > frames + 5
    assert drive.unity.throttle == 0.0
    assert drive.host.state not in (codes.ACTIVE, codes.HOLD)
    drive.host.drive(500, 200)
    assert drive.unity.speed == pytest.approx(0.0, abs=1e-3)


def test_a_simulator_that_is_paused_is_asked_ever_more_rarely():
    drive = in_motion(for_ms=100)
    drive.unity.on_text = lambda _: None
    drive.host.drive(8000)
    assert drive.exchange.restarts == 4  # after 0.5, 1, 2 and 4 s


def test_a_reset_is_told_once_and_does_not_roll_the_wheels():
    drive = in_motion("f1tenth", speed_mps=1.5, is_reset=True)
    assert drive.unity.resets == 1
    before = drive.plant.counts()
    drive.unity.on_bridge({**dict.fromkeys(drive.unity.reads, "0"), "V1 Reset": "True"})
    drive.unity.throttle = 0.0  # somebody pressed the reset of its screen
    drive.host.drive(20, 1500)
    assert 0 <= drive.plant.counts()[0] - before[0] < 50  # 1.5 m/s for 20 ms are 14


def test_frames_without_wheels_are_answered_and_keep_nobody_driving():
    drive = in_motion()
    emit = drive.unity.emit

    def without_wheels():
        return emit().replace("Encoder", "Decoder")

    drive.unity.emit = without_wheels
    frames = drive.unity.frames
    drive.host.drive(800, 200)
    assert drive.unity.frames - frames > 95
    assert drive.host.state not in (codes.ACTIVE, codes.HOLD)
    assert drive.unity.speed == pytest.approx(0.0, abs=1e-3)


def test_ticks_do_where_angles_are_missing():
    drive = in_motion()
    emit = drive.unity.emit
    drive.unity.emit = lambda: emit().replace("Encoder Angles", "Encoder Angels")
    drive.host.drive(800, 200)
    assert drive.host.state == codes.ACTIVE
    assert drive.unity.speed == pytest.approx(0.2, rel=0.1)


def test_damaged_frames_are_answered():
    drive = in_motion()
    drive.to_car = ['42["Bridge",{"V1 Throttle":']
    drive.host.drive(500, 200)
    assert drive.exchange.damaged == 1
    assert drive.host.state == codes.ACTIVE
