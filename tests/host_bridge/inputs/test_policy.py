"""Policy files: read strictly, decided in plain floats, and the same file drives every car."""

from __future__ import annotations

import json
from dataclasses import replace
from math import tanh

import numpy as np
import pytest

from host_bridge.cli.main import main
from host_bridge.core import Observed, SeenCar
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.inputs.policies.policy import Policy, load_policy, save_policy
from host_bridge.inputs.policies.policy_input import make
from host_bridge.sharing.services import make_host

# It keeps the car on the x axis: steering against y and yaw, at a constant speed
STRAIGHT = Policy(
    vehicle="f1tenth",
    period_ms=50,
    reads=("y_m", "yaw_rad", "speed_mps"),
    offsets=(0.0, 0.0, 1.0),
    scales=(1.0, 1.0, 0.5),
    steer_rad=(-0.4, 0.4),
    speed_mps=(0.0, 1.0),
    layers=(
        (((-0.5, -1.0, 0.0), (0.0, 0.0, 0.25)), (0.0, 0.0)),
        (((1.0, 0.0), (0.0, 0.0)), (0.0, 0.5)),
    ),
)

WIDE = ((((0.0,) * 12_499,) * 2), (0.0, 0.0))  # two outputs of many
LARGE = 3e38  # as the file's four bytes hold it


class Report:
    x_m = 0.0
    y_m = 0.2
    yaw_rad = -0.1
    speed_mps = 0.5
    captured_us = 1


def test_it_decides_as_written():
    steer_rad, speed_mps = STRAIGHT.decide(Report, Report)
    assert steer_rad == pytest.approx(0.4 * tanh(-0.5 * 0.2 + 0.1))
    assert speed_mps == pytest.approx(0.75)


def test_a_file_is_read_as_it_was_written(tmp_path):
    path = tmp_path / "straight.npz"
    save_policy(STRAIGHT, path)
    assert load_policy(path) == STRAIGHT


@pytest.mark.parametrize(
    ("change", "what"),
    [
        ({"reads": ("y_m", "yaw_rad", "scan")}, "it reads scan"),
        ({"reads": ("y_m", "yaw_rad")}, "offsets and scales"),
        ({"activation": "gelu"}, "known are tanh, relu"),
        ({"period_ms": 55}, "a multiple of 10"),
        ({"layers": STRAIGHT.layers[:1] * 2}, "do not fit"),
        ({"layers": ()}, "two outputs"),
        ({"layers": (((*[(0.0,) * 3] * 12_499,), (0.0,) * 12_499), WIDE)}, "50000 at most"),
    ],
)
def test_a_policy_whose_parts_do_not_fit_is_refused(change, what):
    with pytest.raises(ValueError, match=what):
        replace(STRAIGHT, **change)


def test_what_is_no_policy_is_refused(tmp_path):
    path = tmp_path / "other.npz"
    path.write_bytes(b"PK nonsense")
    with pytest.raises(DataFileFault, match="no policy file"):
        load_policy(path)
    np.savez(path, w0=np.zeros(3))
    with pytest.raises(DataFileFault, match="meta"):
        load_policy(path)
    np.savez(path, meta=np.array(json.dumps({"format": 9})))
    with pytest.raises(DataFileFault, match="format 9"):
        load_policy(path)
    np.savez(path, meta=np.array([{"format": 1}], dtype=object))  # pickled: never loaded
    with pytest.raises(DataFileFault, match="no policy file"):
        load_policy(path)
    with pytest.raises(UsageFault, match="which policy"):
        make("", {}, lambda: 0)


def drive(path, *words, car="sim://f1tenth"):
    return main(["drive", car, "--input", f"policy:{path}", "--lockstep", "--json", *words])


def test_the_same_file_drives_and_another_vehicle_is_refused(tmp_path, capsys):
    path = tmp_path / "straight.npz"
    save_policy(STRAIGHT, path)
    assert drive(path, "--seconds", "2") == 0
    summary = json.loads(capsys.readouterr().out.splitlines()[-1])["summary"]
    assert summary["cars"][0]["distance_m"] > 0.8
    assert drive(path, "--seconds", "1", car="sim://nigel") == 2
    assert "trained on another vehicle" in capsys.readouterr().err
    assert drive(f"{path}?as_it_is=1", "--seconds", "0.5", car="sim://nigel") == 0


@pytest.mark.parametrize("last", [(1.0, 1.0), (1.0, -1.0)])
def test_what_is_no_number_stops_the_cars(tmp_path, capsys, last):
    """Finite weights may lead there: to what is too large, and to one of these less another."""
    path = tmp_path / "overflows.npz"
    first = ((0.0, 0.0, 0.0),) * 2, (LARGE, LARGE)
    more = ((LARGE, 0.0), (0.0, LARGE)), (0.0, 0.0)
    layers = first, *(more,) * 8, ((last, last), (0.0, 0.0))
    save_policy(replace(STRAIGHT, activation="relu", layers=layers), path)
    assert drive(path, "--seconds", "2") == 1
    said = capsys.readouterr()
    assert "decided something that is no number" in said.out + said.err
    summary = json.loads(said.out.splitlines()[-1])["summary"]
    assert summary["cars"][0]["distance_m"] < 0.1


class Context:
    seconds = speed_mps = None
    is_virtual = False
    car_names = ("car",)

    def __init__(self):
        self.vehicles = (make_host().vehicles.load("f1tenth"),)

    def limits(self, source):
        from host_bridge.core import InputLimits

        return InputLimits(2.0, 1.0, 0.4)


async def opened(path):
    chosen = make(str(path), {}, lambda: 0)
    await chosen.open(Context())
    return chosen


def test_a_real_car_is_slow_at_first_and_silence_of_the_car_is_passed_on(tmp_path):
    import asyncio

    path = tmp_path / "fast.npz"
    save_policy(replace(STRAIGHT, speed_mps=(2.0, 4.0)), path)
    chosen = asyncio.run(opened(path))
    assert "at most" in chosen.limit_notes()[0]
    car = SeenCar("car", True, None, Report, Report, None, None)
    seen = Observed((car,), is_driving=True, is_permitted=True)
    first = chosen.step(10_000, seen)
    assert first.speed_mps == 1.0
    assert first.heard_us == 10_000
    assert chosen.step(500_000, seen).heard_us == 10_000  # nothing new: the claim grows old
    assert not chosen.step(510_000, replace(seen, is_permitted=False)).is_held


def test_a_car_that_is_too_fast_is_braked_as_well():
    from host_bridge.core import brake_for

    assert brake_for(1.0, 1.0) == 0.0
    assert brake_for(1.0, 0.5) == pytest.approx(0.2)
    assert brake_for(9.0, 0.0) == 1.0
