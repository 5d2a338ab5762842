"""Beside a real car, the twin is the calibrated one by default, and says so."""

from types import SimpleNamespace

import pytest

from host_bridge.drive.twins import twin_uri
from host_bridge.sharing.services import make_host
from tests.support.evidence import some

VEHICLES = make_host().vehicles
REAL, VIRTUAL = SimpleNamespace(is_virtual=False), SimpleNamespace(is_virtual=True)


CALIBRATED = [
    ("sim://nigel", "sim://nigel?calibration=own"),
    ("sim+process://nigel", "sim+process://nigel?calibration=own"),
    ("sim://nigel?name=twin", "sim://nigel?name=twin&calibration=own"),
    ("lossy+sim://nigel", "lossy+sim://nigel?calibration=own"),
]


@pytest.mark.parametrize(("named", "meant"), some(CALIBRATED))
def test_the_twin_of_a_real_nigel_is_the_calibrated_one_and_says_so(named, meant, capsys):
    assert twin_uri(named, [REAL], VEHICLES) == meant
    text = capsys.readouterr().err
    assert "calibrated nigel" in text
    assert "calibration=none" in text


AS_NAMED = [
    ("sim://nigel?calibration=none", [REAL]),  # said otherwise
    ("sim://nigel?calibration=./mine.toml", [REAL]),
    ("sim://f1tenth", [REAL]),  # nobody has measured one
    ("sim://nigel", [VIRTUAL]),  # the twin of a virtual car is like that
    ("sim://nigel", []),  # no twin
    ("serial:///dev/ttyACM0", [REAL]),
    ("red", [REAL]),  # served: it is what it is
    (None, []),
]


@pytest.mark.parametrize(("named", "cars"), some(AS_NAMED))
def test_any_other_car_is_as_it_was_named(named, cars, capsys):
    assert twin_uri(named, cars, VEHICLES) == named
    assert capsys.readouterr().err == ""
