"""Each vehicle file drives well: its own program, over the wire, on its own plant."""

from math import hypot, isclose

import pytest

from firmware.protocol import codes
from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.deploy.hil.host.small_host import RELEASED, SmallHost
from sim_mock.world import World
from tests.firmware.core.desk import parameters_of

NAMES = vehicle_names()
# speed asked for, how many metres it may take to stop from there
SPEEDS = [
    ("f1tenth", 0.5, 0.15),
    ("f1tenth", 1.0, 0.25),
    ("f1tenth", 2.0, 0.6),
    ("f1tenth", -1.0, 0.15),
    ("f1tenth_vesc", 0.5, 0.15),
    ("f1tenth_vesc", 3.0, 1.2),
    ("f1tenth_vesc", 4.0, 2.0),
    ("f1tenth_vesc", -1.0, 0.25),
    ("autorally", 3.0, 1.6),  # below some 2 m/s its magnets are too few for 2 percent
    ("autorally", 8.0, 10.6),
    ("hunter_se", 0.5, 0.2),
    ("hunter_se", 2.0, 1.2),
    ("hunter_se", -1.0, 0.4),
    ("opencav", 0.5, 0.3),
    ("opencav", 2.0, 1.5),
    ("opencav", -1.0, 0.5),
    ("rzr", 0.5, 0.3),
    ("rzr", 2.0, 1.5),
    ("rzr", -1.0, 0.5),
    ("nigel", 0.1, 0.01),
    ("nigel", 0.4, 0.04),
    ("nigel", -0.4, 0.04),
]

# where tyres hardly slip, and encoders have something to count
SLOWLY_MPS = {
    "f1tenth": 0.3,
    "f1tenth_vesc": 0.3,
    "nigel": 0.3,
    "autorally": 1.5,
    "hunter_se": 0.5,
    "opencav": 0.5,
    "rzr": 0.5,
}


def driver(name, seed=0):
    host = SmallHost(World(load_vehicle(name), seed=seed))
    host.take_the_wheel()
    return host


def speed_mps(host):
    return host.world.plant.truth.vx_mps


def accelerate(host, target_mps, seconds=4):
    host.drive(seconds * 1000, round(target_mps * 1000))


def let_go(host, ms, steer_urad=0):
    """Speeds while the deadman is released, beat by beat."""
    speeds = []
    for _ in range(ms // 10):
        host.drive(10, 0, steer_urad, deadman=RELEASED)
        speeds.append(speed_mps(host))
    return speeds


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "target_mps", "_metres"), SPEEDS)
def test_speed_settles_within_two_percent_of_the_target(name, target_mps, _metres):
    host = driver(name)
    accelerate(host, target_mps)
    speeds = []
    for _ in range(100):
        host.drive(10, round(target_mps * 1000))
        speeds.append(speed_mps(host))
    assert sum(speeds) / len(speeds) == pytest.approx(target_mps, rel=0.02)
    assert max(abs(speed) for speed in speeds) < abs(target_mps) * 1.05
    assert min(abs(speed) for speed in speeds) > abs(target_mps) * 0.95


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "target_mps", "_metres"), SPEEDS)
def test_speed_overshoots_by_less_than_a_twentieth(name, target_mps, _metres):
    host = driver(name)
    fastest = 0.0
    for _ in range(400):
        host.drive(10, round(target_mps * 1000))
        fastest = max(fastest, abs(speed_mps(host)))
    assert fastest < abs(target_mps) * 1.05


@pytest.mark.exhaustive
@pytest.mark.parametrize(("name", "target_mps", "metres"), SPEEDS)
def test_letting_go_stops_firmly_and_never_turns_round(name, target_mps, metres):
    host = driver(name)
    accelerate(host, target_mps)
    before = host.world.plant.truth.x_m
    speeds = let_go(host, 2500)
    assert abs(host.world.plant.truth.x_m - before) < metres
    assert speeds[-1] == 0.0
    forward = 1 if target_mps > 0 else -1
    rest_mps = parameters_of(host.world.runner.app).get("standstill_mm_s") * 1e-3
    assert min(speed * forward for speed in speeds) > -rest_mps  # all that its encoders can tell
    assert host.state == codes.HOLD


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_a_held_car_stands_still_for_ever(name):
    host = driver(name)
    accelerate(host, 0.3, 2)
    let_go(host, 2500)
    assert set(let_go(host, 5000)) == {0.0}


@pytest.mark.parametrize(
    ("name", "target_mps"), [("f1tenth", 2.0), ("f1tenth_vesc", 3.0), ("autorally", 8.0)]
)
def test_wheels_do_not_lock_while_a_car_brakes(name, target_mps):
    host = driver(name)
    accelerate(host, target_mps)
    sliding = 0
    for _ in range(150):
        host.drive(10, deadman=RELEASED)
        sliding += host.world.plant.is_sliding
    assert sliding == 0


def test_a_car_without_a_direction_slows_down_by_its_brake_and_never_by_its_drive():
    host = driver("autorally")
    accelerate(host, 8.0)
    pulses, brakes = set(), set()
    for _ in range(350):
        host.drive(10, 2000)
        pulses.add(host.world.values[1])
        brakes.add(host.world.values[2])
    assert speed_mps(host) == pytest.approx(2.0, abs=0.5)
    assert min(pulses) >= 1_500_000
    assert max(brakes) > 1_800_000
    assert host.state == codes.ACTIVE


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("steer", [-1.0, -0.5, 0.5, 1.0])
def test_the_wheels_of_the_plant_turn_as_far_as_was_commanded(name, steer):
    host = driver(name)
    steer_rad = steer * load_vehicle(name).steer_max_rad
    host.drive(1200, 0, round(steer_rad * 1e6))
    assert isclose(host.world.plant.steer_rad, steer_rad, abs_tol=0.005)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_a_slow_circle_has_the_radius_of_the_geometry(name):
    """Half of the lock, slowly: gyro, counts and plant agree."""
    vehicle = load_vehicle(name)
    host = driver(name)
    steer_rad = vehicle.steer_max_rad / 2
    speed = SLOWLY_MPS[name]
    host.drive(2000, round(speed * 1000), round(steer_rad * 1e6))
    begin = host.latest["Motion"]
    host.drive(3000, round(speed * 1000), round(steer_rad * 1e6))
    end = host.latest["Motion"]
    turned_rad = (end.yaw_urad - begin.yaw_urad) % 6_283_185 * 1e-6
    rolled_m = (end.distance_mm - begin.distance_mm) * 1e-3
    curvature = vehicle.parameters["curvature_per_10km"][6] * 1e-4
    assert turned_rad / rolled_m == pytest.approx(curvature, rel=0.05)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_odometry_says_where_the_car_is_after_ten_seconds_straight_on(name):
    host = driver(name)
    accelerate(host, min(1.0, load_vehicle(name).speed_max_mps), 10)
    motion, truth = host.latest["Motion"], host.world.plant.truth
    away_m = hypot(motion.x_mm * 1e-3 - truth.x_m, motion.y_mm * 1e-3 - truth.y_m)
    assert away_m < 0.05 * hypot(truth.x_m, truth.y_m)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_cars_that_differ_in_their_noise_only_do_not_count_as_different(name):
    """The limits of divergence hold for twins: 15 s of slalom, seeds 1 and 2."""
    limits = load_vehicle(name).divergence
    cars = [driver(name, seed) for seed in (1, 2)]
    top = min(3.0, load_vehicle(name).speed_max_mps * 0.9)
    for beat in range(1500):
        steer = 100_000 if beat // 100 % 2 else -100_000
        for car in cars:
            car.drive(10, round(top * 1000), steer)
        a, b = (car.status for car in cars)
        assert abs(a.steer_50urad - b.steer_50urad) * 50e-6 < limits.steer_rad
        assert abs(a.speed_mm_s - b.speed_mm_s) * 1e-3 < limits.speed_mps
        a, b = (car.latest["Motion"] for car in cars)
        assert abs(a.yaw_rate_mrad_s - b.yaw_rate_mrad_s) * 1e-3 < limits.yaw_rate_radps
        assert hypot(a.x_mm - b.x_mm, a.y_mm - b.y_mm) * 1e-3 < limits.path_m
