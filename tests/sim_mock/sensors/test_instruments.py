"""What a car carries: each at its own rate, as late as it is, the truth beside it."""

from itertools import pairwise
from math import pi
from statistics import mean, pstdev

import pytest

from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.plant.parameters import PlantParameters
from sim_mock.sensors.instruments import Sampler, instruments_of
from sim_mock.tracks.loading import load_track
from sim_mock.virtual_car.config import virtual_car_config


class Car:
    """A vehicle in its world, and all samples it has put out, by sensor."""

    def __init__(self, vehicle, track=None, seed=5):
        self.world = virtual_car_config(load_vehicle(vehicle), {"seed": str(seed)}).make_world(
            InProcessRunner
        )
        area = load_track(track) if track else None
        instruments = instruments_of(self.world, seed, area)
        self.samples = {instrument.name: [] for instrument in instruments}
        self.world.observers.append(Sampler(instruments, self.put, self.world.now_us).step)
        self.host = SmallHost(self.world)

    def put(self, sample):
        assert sample.out_us <= self.world.now_us
        self.samples[sample.sensor].append(sample)

    def drive(self, ms, speed_mm_s, steer_urad=0):
        self.host.take_the_wheel()
        self.host.drive(ms, speed_mm_s, steer_urad)
        return self


RATES = [
    (
        "f1tenth",
        "corridor",
        {"truth": 100, "imu": 100, "wheels": 100, "position": 100, "lidar": 40},
    ),
    ("nigel", "oval", {"truth": 100, "imu": 100, "wheels": 100, "position": 30, "lidar": 7}),
    ("autorally", "autorally", {"truth": 100, "imu": 200, "wheels": 100, "position": 20}),
]


@pytest.mark.parametrize(("vehicle", "track", "rates"), RATES)
def test_each_comes_at_its_own_rate(vehicle, track, rates):
    car = Car(vehicle, track)
    car.world.advance(3_000_000)
    taken = {name: len(samples) for name, samples in car.samples.items()}
    assert taken == {name: pytest.approx(3 * rate, abs=2) for name, rate in rates.items()}
    for name, rate in rates.items():
        gaps_us = [b.taken_us - a.taken_us for a, b in pairwise(car.samples[name])]
        assert max(gaps_us) - min(gaps_us) <= 1000  # the plant's grain
        assert mean(gaps_us) == pytest.approx(1e6 / rate, rel=1e-2)


def test_without_walls_a_lidar_takes_no_part():
    assert "lidar" not in Car("f1tenth").samples


def test_what_position_says_is_as_old_as_its_latency():
    car = Car("autorally").drive(3000, 2000)
    for sample in car.samples["position"]:
        assert sample.out_us == sample.taken_us + 50_000
    motion = {s.taken_us: s.truth for s in car.samples["truth"]}
    last = car.samples["position"][-1]
    behind_m = 0.23 - -0.1  # the antenna, from the centre of gravity
    assert last.truth["x_m"] == pytest.approx(motion[last.taken_us]["x_m"] - behind_m, abs=0.01)


def test_positions_scatter_about_the_truth_as_the_file_says():
    car = Car("f1tenth")
    car.world.advance(20_000_000)
    for axis in ("x_m", "y_m"):
        errors = [s.measured[axis] - s.truth[axis] for s in car.samples["position"]]
        assert pstdev(errors) == pytest.approx(0.001, rel=0.1)
        assert abs(mean(errors)) < 4 * 0.001 / len(errors) ** 0.5


def test_hall_periods_are_the_time_from_magnet_to_magnet():
    car = Car("autorally").drive(5000, 3000, 60_000)
    gap_m = 2 * pi * 0.0975 / 6
    settled = car.samples["wheels"][-100:]
    for side in ("left", "right"):
        measured = mean(s.measured[f"{side}_period_s"] for s in settled)
        assert measured == pytest.approx(
            mean(s.truth[f"{side}_period_s"] for s in settled), rel=0.02
        )
        assert measured == pytest.approx(
            gap_m / mean(s.truth[f"{side}_mps"] for s in settled), 0.02
        )
    assert settled[-1].measured["left_period_s"] > settled[-1].measured["right_period_s"]


def test_a_wheel_that_stands_has_no_period_and_one_without_magnets_never_has():
    at_rest = Car("autorally")
    at_rest.world.advance(1_000_000)
    assert at_rest.samples["wheels"][-1].measured["left_period_s"] is None
    assert "left_period_s" not in Car("f1tenth").drive(500, 1000).samples["wheels"][-1].measured


def test_the_imu_that_is_published_is_the_one_that_the_board_reads():
    car = Car("f1tenth").drive(1000, 1500, 100_000)
    imu = car.world.plant.imu
    last = car.samples["imu"][-1].measured
    assert round(last["yaw_rate_radps"] * 1000) == imu.yaw_rate_mrad_s
    assert round(last["accel_y_mps2"] * 1000) == imu.accel_y_mm_s2
    assert car.samples["imu"][-1].truth["accel_z_mps2"] == 9.81


def test_looking_changes_nothing():
    """A car that is measured sends the same bytes and drives the same path."""
    looked_at, alone = (
        Car("f1tenth", "corridor", seed=9),
        virtual_car_config(load_vehicle("f1tenth"), {"seed": "9"}),
    )
    alone = alone.make_world(InProcessRunner)
    assert looked_at.world.advance(2_000_000) == alone.advance(2_000_000)
    assert looked_at.world.plant.truth.values() == alone.plant.truth.values()


def test_the_seed_decides_every_sample():
    runs = []
    for seed in (1, 1, 2):
        car = Car("f1tenth", "corridor", seed)
        car.world.advance(300_000)
        runs.append(car.samples)
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("name", vehicle_names())
def test_every_vehicle_says_how_big_it_is_and_where_it_is_found(name):
    vehicle = load_vehicle(name)
    p = PlantParameters.from_mapping({**vehicle.plant, "channels": list(vehicle.channels)})
    assert p.outline
    assert p.outline.length_m > p.body.wheelbase_m
    assert p.outline.width_m > p.body.track_m
    assert p.position
