"""Delay line, dead band, acceleration map and parameters by themselves."""

import re
from pathlib import Path

import pytest

from sim_mock.models.planning.acceleration_map import AccelerationMap, read_acceleration_map
from sim_mock.models.planning.delay import DelayLine
from sim_mock.models.planning.lag import beyond_dead_band
from sim_mock.models.planning.model_types import LEARNED, MODEL_TYPES, NOT_HERE, PEDALLED, make_car
from sim_mock.models.planning.parameters import NUMBERS, TEXTS, DelayParameters

SEED = Path(__file__).parents[5] / "shared" / "seeds" / "simple_planning_simulator.txt"
SHARED_MAP = SEED.parents[1] / "data" / "acceleration_map.csv"
TINY = AccelerationMap((0.0, 2.0), (-1.0, 1.0), ((-2.0, -1.0), (3.0, 5.0)))


@pytest.mark.parametrize(("delay_s", "count"), [(0.1, 4), (0.24, 10), (0.0, 0), (0.0625, 3)])
def test_a_delay_line_holds_the_rounded_count_of_zeros(delay_s, count):
    line = DelayLine(delay_s, 0.025)
    out = [line.passed(float(k)) for k in range(1, 20)]
    assert out[:count] == [0.0] * count
    assert out[count:] == [float(k) for k in range(1, 20 - count)]


def test_a_dead_band_takes_its_width_off_either_side():
    errors = (-0.5, -0.1, -0.05, 0.0, 0.1, 0.3)
    out = [beyond_dead_band(error, 0.1) for error in errors]
    assert out == pytest.approx([-0.4, 0, 0, 0, 0, 0.2])


@pytest.mark.parametrize(
    ("commanded", "speed", "actual"),
    [(-1.0, 0.0, -2.0), (1.0, 2.0, 5.0), (0.0, 0.0, 0.5), (0.0, 1.0, 1.25), (0.5, 0.5, 2.1875)],
)
def test_a_map_is_bilinear_between_its_cells(commanded, speed, actual):
    assert TINY.actual_mps2(commanded, speed) == pytest.approx(actual, abs=1e-12)


@pytest.mark.parametrize(
    ("commanded", "speed", "actual"), [(9.0, 9.0, 5.0), (-9.0, -9.0, -2.0), (9.0, -1.0, 3.0)]
)
def test_outside_a_map_its_border_holds(commanded, speed, actual):
    assert TINY.actual_mps2(commanded, speed) == actual


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("default, 0, 1\n0, 0, 0\n", "at least 2 x 2"),
        ("default, 0, 1\n0, 0, 0\n1, 1\n", "line 3: expected 3"),
        ("default, 0, 1\n0, 0, 0\n1, 1, x\n", "line 3: .*x"),
        ("default, 0, 1\n0, 0, 0\n1, 1, nan\n", "line 3: expected 3 finite"),
        ("default, 1, 0\n0, 0, 0\n1, 1, 1\n", "speeds in the first row to rise"),
        ("default, 0, 1\n1, 0, 0\n1, 1, 1\n", "first column to rise"),
    ],
)
def test_a_map_that_is_none_is_refused_by_line(text, words, tmp_path):
    path = tmp_path / "map.csv"
    path.write_text(text)
    with pytest.raises(ValueError, match=words):
        read_acceleration_map(path)


@pytest.mark.skipif(not SHARED_MAP.is_file(), reason="no acceleration_map.csv beside the project")
def test_autowares_example_map_reads_as_it_is_written():
    table = read_acceleration_map(SHARED_MAP)
    assert (len(table.speeds_mps), len(table.commanded_mps2)) == (13, 19)
    assert table.actual_mps2(-4.0, 0.0) == -4.40
    assert table.actual_mps2(2.0, 16.67) == 0.42
    assert table.actual_mps2(0.3, 1.39) == pytest.approx(0.5 * (0.12 + 0.30))


@pytest.mark.skipif(
    not SEED.is_file(), reason="no simple_planning_simulator.txt beside the project"
)
def test_names_users_defaults_and_units_are_those_of_the_documentation():
    types = (*MODEL_TYPES, LEARNED)
    units = {"s": "s", "rad": "rad", "m/s": "mps", "m/ss": "mps2", "rad/s": "radps", "-": ""}
    found = {}
    line = re.compile(r"(\w+) (double|string) .*((?: [xo]){8}) (\S+) \[(\S+)\]")
    for name, kind, marks, default, unit in line.findall(SEED.read_text()):
        users = {t for t, mark in zip(types, marks.split(), strict=True) if mark == "o"}
        if "DELAY_STEER_ACC_GEARED" in users and "DELAY_STEER_ACC" in users:
            # Newer than that page: it has what the geared one has (Autoware's README, 2025)
            users |= {PEDALLED} if name != "acceleration_map_path" else set()
        found[name] = (kind, users, default, units[unit])
    assert found.keys() == NUMBERS.keys() | TEXTS.keys()
    for name, row in NUMBERS.items():
        assert found[name] == ("double", set(row.users), str(row.default), row.unit), name
    for name, (users, _) in TEXTS.items():
        assert found[name][:2] == ("string", set(users)), name


def test_parameters_have_their_defaults_and_their_given_values():
    p = DelayParameters.from_mapping("DELAY_STEER_VEL", {"vel_lim": 3, "steer_bias": -0.1})
    assert (p.vel_lim_mps, p.steer_bias_rad, p.steer_time_constant_s) == (3.0, -0.1, 0.27)


@pytest.mark.parametrize("name", NOT_HERE)
def test_a_type_of_autowares_that_scaled_cars_have_not_is_refused_with_its_reason(name):
    with pytest.raises(ValueError, match=rf"got {name} is not here: it takes the pedals") as told:
        make_car(name, {"accel_time_delay": 0.1}, 0.33, 0.01)
    assert "raw_vehicle_cmd_converter" in str(told.value)
