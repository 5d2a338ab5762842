"""``tandem calibrate``: cars whose numbers are hidden, driven and found by the real commands."""

import json

import pytest

from calibration.logs.file import is_of_logs, read
from host_bridge import cli
from tests.calibration.logs.hidden import Hidden, drive
from tests.evidence import some

CARS = [
    Hidden("f1tenth", 1.06, -0.05, 1.05, 0.92, 0.06, 0.04, 1.1, 1.2),
    Hidden("f1tenth_vesc", 0.95, 0.08, 0.9, 0.95, 0.03, 0.08, 0.85, 1.3),
    Hidden("nigel", 1.03, 0.2, 0.8, 0.7, 0.09, 0.05, 0.8, 2.0),
]
# The widest half of an interval that is of use: a share of the value, or in its own unit
USEFUL = {
    "counts_per_m": 5.0,
    "steer_trim_rad": 0.004,
    "steer_gain_left": 0.03,
    "steer_gain_right": 0.03,
    "steer_delay_s": 0.02,
    "steer_lag_s": 0.03,
}


@pytest.mark.parametrize("hidden", some(CARS), ids=lambda car: car.vehicle)
def test_what_is_hidden_is_found_within_its_intervals(hidden, tmp_path, capsys):
    log, seen = drive(hidden, tmp_path)
    capsys.readouterr()
    out = tmp_path / "found.toml"
    words = [str(log), "--places", str(seen), "--out", str(out), "--date", "2026-05-01", "--json"]
    assert cli.main(["calibrate", *words]) == 0
    rows = json.loads(capsys.readouterr().out)["parameters"]
    missed = [
        f"{name}: {value:.5g} is not in {rows[name]['low']:.5g} to {rows[name]['high']:.5g}"
        for name, value in hidden.truth().items()
        if not rows[name]["low"] <= value <= rows[name]["high"]
    ]
    assert not missed
    wide = [
        name
        for name, most in USEFUL.items()
        if rows[name]["high"] - rows[name]["low"]
        > 2 * most * (100 if name == "counts_per_m" else 1)
    ]
    assert not wide
    assert is_of_logs(out)
    assert read(out).vehicle == hidden.vehicle
