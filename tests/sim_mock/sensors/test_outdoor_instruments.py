"""GPS, magnetometer, barometer: where a vehicle names them, with the errors that it asks for."""

from math import cos, pi, radians
from types import SimpleNamespace

import numpy as np
import pytest

from host_bridge.config import load_vehicle
from sim_mock.board.firmware_runner import InProcessRunner
from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.vehicle_plant import Plant
from sim_mock.sensors.instruments import Sampler, instruments_of
from sim_mock.sensors.outdoor_instruments import GpsReceiver, altitude_at, pressure_at
from sim_mock.sensors.parameters import GpsParameters
from sim_mock.virtual_car.config import virtual_car_config
from tests.sim_mock.plant.cars import f1tenth_mapping
from tests.support.evidence import every

GPS = {"rate_hz": 20.0, "latency_s": 0.2, "horizontal_m": 0.3, "vertical_m": 0.6, "first_m": 10.0,
       "fix_s": 2.0, "latitude_deg": 34.7, "longitude_deg": -82.8, "altitude_m": 220.0}  # fmt: skip
COMPASS = {"rate_hz": 50.0, "noise_ut": 0.2, "bias_ut": 0.0, "horizontal_ut": 22.0,
           "down_ut": 42.0, "declination_deg": -6.0}  # fmt: skip
BAROMETER = {"rate_hz": 20.0, "noise_pa": 1.3, "drift_pa": 20.0, "drift_s": 600.0,
             "altitude_m": 220.0}  # fmt: skip
ALL = {"gps": GPS, "magnetometer": COMPASS, "barometer": BAROMETER}
PARALLEL_M = 111_320 * cos(radians(34.7))  # of a degree of longitude there, within 0.3 %


def north_m(place):
    return (place["latitude_deg"] - 34.7) * 110_940


@pytest.fixture
def sampled(tmp_path):
    """What the instruments of a car that names these tables say: by sensor, a list of samples."""

    def sample(tables, ms, seed=5, place=(0.0, 0.0, 0.0), **query):
        path = tmp_path / "own.toml"
        lines = ['base = "f1tenth"']
        for name, table in tables.items():
            lines += [f"[plant.{name}]", *(f"{key} = {value}" for key, value in table.items())]
        path.write_text("\n".join(lines) + "\n")
        config = virtual_car_config(load_vehicle(str(path)), {"seed": str(seed), **query})
        world = config.make_world(InProcessRunner)
        world.plant.truth.assign((*place, 0.0, 0.0, 0.0))
        found = {}

        def put(it):
            found.setdefault(it.sensor, []).append(it)

        world.observers.append(Sampler(instruments_of(world, seed), put, 0).step)
        world.advance(ms * 1000)
        return found

    return sample


def receiver(seed=1, **changes):
    given = {"correlation_s": 0.0, "speed_mps": 0.0, "ahead_m": 0.0, **GPS, **changes}
    return GpsReceiver(GpsParameters(**given), 0.17, seed)


def quickly(instrument, ms):
    """The samples of one instrument in a world whose only part is its plant."""
    plant = Plant(PlantParameters.from_mapping(f1tenth_mapping()), 1)
    world, found = SimpleNamespace(plant=plant, now_us=0), []
    while world.now_us < ms * 1000:
        found.append(instrument.take(world))
        world.now_us += round(1e6 / instrument.rate_hz)
    return [it[0] for it in found], [it[1] for it in found]


def test_a_vehicle_that_names_none_has_none(sampled):
    assert set(sampled({}, 200)) == {"truth", "imu", "wheels", "position"}


def test_each_comes_at_its_rate_and_as_late_as_it_is(sampled):
    found = sampled(ALL, 4000)
    assert [len(found[name]) for name in ("gps", "magnetometer", "barometer")] == [76, 200, 80]
    assert every(it.out_us - it.taken_us == 200_000 for it in found["gps"])


def test_the_error_of_a_receiver_falls_as_its_fix_is_gained():
    errors_m = []
    for seed in range(400):
        seen, true = quickly(receiver(seed=seed, rate_hz=1.0, fix_s=1.0), 6_000)
        errors_m.append([north_m(a) - north_m(b) for a, b in zip(seen, true, strict=True)])
    said_m = [it["horizontal_std_m"] for it in seen]
    assert said_m[0] == 10.0, "when it is switched on"
    assert said_m[-1] == pytest.approx(0.3, abs=0.1)
    assert np.std(errors_m, axis=0) == pytest.approx(said_m, rel=0.12)


def test_a_place_is_told_by_its_coordinates(sampled):
    there = sampled(
        {"gps": {**GPS, "horizontal_m": 0.0, "first_m": 0.0}}, 500, place=(100.0, 50.0, 0.0)
    )
    truth = there["gps"][-1].truth
    assert truth["latitude_deg"] - 34.7 == pytest.approx(50.0 / 110_940, rel=0.003)
    assert truth["longitude_deg"] + 82.8 == pytest.approx((100.0 - 0.159) / PARALLEL_M, rel=0.005)
    assert truth["altitude_m"] == 220.0


@pytest.mark.parametrize(("correlation_s", "low", "high"), [(0.0, 1.3, 1.5), (60.0, 0.0, 0.4)])
def test_errors_that_are_correlated_do_not_average_out(correlation_s, low, high):
    seen, _ = quickly(receiver(fix_s=0.0, correlation_s=correlation_s), 40_000)
    north = [north_m(it) for it in seen]
    assert low <= np.std(np.diff(north)) / np.std(north) <= high


@pytest.mark.parametrize(("yaw_rad", "forward", "left"), [(0.0, -1, 0), (pi / 2, 0, 1), (pi, 1, 0)])
def test_a_compass_looks_north_whichever_way_the_car_stands(sampled, yaw_rad, forward, left):
    table = {**COMPASS, "declination_deg": 0.0, "noise_ut": 0.0}
    last = sampled({"magnetometer": table}, 100, place=(0.0, 0.0, yaw_rad))["magnetometer"][-1]
    north = pi / 2 - yaw_rad
    assert last.measured["field_x_ut"] == pytest.approx(22.0 * cos(north), abs=1e-9)
    assert last.measured["field_z_ut"] == -42.0
    assert forward * last.measured["field_x_ut"] <= 1e-9
    assert (left == 0) == (abs(last.measured["field_x_ut"]) < 1e-9)


def test_a_barometer_has_noise_a_drift_and_the_height_of_a_slope(sampled):
    found = sampled({"barometer": {**BAROMETER, "rate_hz": 200.0}}, 3_000)["barometer"]
    pressures = np.array([it.measured["pressure_pa"] for it in found])
    assert np.std(np.diff(pressures)) == pytest.approx(1.3 * 2**0.5, rel=0.15)
    table = {"barometer": {**BAROMETER, "noise_pa": 0.0, "drift_pa": 0.0}}
    found = sampled(table, 100, place=(100.0, 0.0, 0.0), slope="10,0")["barometer"]
    uphill = found[0].measured["altitude_m"]
    assert uphill == pytest.approx(220.0 + 9.95, abs=0.02)


def test_pressure_and_altitude_are_those_of_the_standard_atmosphere():
    """ISO 2533's own table: 0 m, 1000 m, 5000 m."""
    assert pressure_at(0.0) == 101_325.0
    assert pressure_at(1000.0) == pytest.approx(89_874.6, abs=2.0)
    assert pressure_at(5000.0) == pytest.approx(54_019.9, abs=5.0)
    assert altitude_at(pressure_at(1234.5)) == pytest.approx(1234.5, abs=1e-6)
