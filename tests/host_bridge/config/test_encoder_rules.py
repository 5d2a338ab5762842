"""Encoders of a car of one's own: contradictions are refused, and coarse counts are told of.

How slow is too slow is compared with what virtual cars with such encoders do.
"""

import json

import pytest
import tandem

from host_bridge.cli.main import main
from host_bridge.config import boards, load_vehicle, vehicle_names
from host_bridge.core.errors import VehicleFileFault
from tests.support.evidence import some

SLASH = """base = "f1tenth"
title = "Slash"

[limits]
reverse_max_mps = {reverse}

[encoder]
counts_per_rev = {counts}
is_signed = {signed}

[plant.encoder]
counts_per_rev = {virtual}
magnets = {magnets}
"""


@pytest.fixture
def file_of(tmp_path):
    def write(counts, virtual=None, magnets=0, signed=False, reverse=0.0):
        path = tmp_path / "slash.toml"
        path.write_text(
            SLASH.format(
                counts=counts,
                virtual=counts if virtual is None else virtual,
                magnets=magnets,
                signed=str(signed).lower(),
                reverse=reverse,
            )
        )
        return str(path)

    return write


@pytest.mark.parametrize(
    ("given", "line", "words"),
    [
        ({"counts": 4, "virtual": 168}, 12, "write the same counts"),
        ({"counts": 256, "magnets": 4, "signed": True}, 9, "tells no direction"),
    ],
)
def test_an_encoder_that_contradicts_its_virtual_one_is_refused(file_of, given, line, words):
    with pytest.raises(VehicleFileFault) as caught:
        load_vehicle(file_of(**given))
    assert f"slash.toml:{line}, " in caught.value.where
    assert words in str(caught.value)


def test_counts_of_ones_own_file_alone_contradict_the_virtual_car_of_its_base(tmp_path):
    path = tmp_path / "own.toml"
    path.write_text('base = "f1tenth"\ntitle = "own"\n\n[encoder]\ncounts_per_rev = 96\n')
    with pytest.raises(VehicleFileFault) as caught:
        load_vehicle(str(path))
    assert "own.toml:5, encoder.counts_per_rev" in str(caught.value)
    assert "f1tenth.toml:" in caught.value.where


def test_no_shipped_car_counts_too_coarsely_for_its_sources():
    for name in some(vehicle_names()):
        vehicle = load_vehicle(name)
        assert vehicle.reminders == ()
        assert 0.0 < vehicle.slowest_mps <= 0.3


def test_coarse_counts_are_told_by_the_commands_that_show_a_file(file_of, capsys):
    path = file_of(24, signed=True)
    assert main(["vehicles", path]) == 0
    shown = capsys.readouterr().out
    assert "slowest speed" in shown
    assert "mind: its counts are coarse (24 a turn of a wheel): below 0.51 m/s" in shown
    assert main(["vehicles", path, "--check", "--board", "pico", "--json"]) == 0
    (report,) = json.loads(capsys.readouterr().out)
    assert any("its counts are coarse" in text for text in report["lacks"])
    assert not any(
        "coarse" in text for it in boards.check_all("pico", "f1tenth") for text in it.lacks
    )


def _ends(path: str, speed_mps: float) -> str:
    """Return the state in which a virtual car ends that is driven so for six seconds."""
    with tandem.open(f"sim://{path}", lockstep=True) as car:
        car.arm()
        try:
            for _ in car.ticks(6.0):
                car.drive(speed_mps, 0.0)
        except tandem.StoppedFault as fault:
            return str(fault)
        return str(car.state.name)


@pytest.mark.parametrize("counts", [16, 24])
def test_the_slowest_speed_is_what_a_virtual_car_holds(file_of, counts):
    path = file_of(counts)
    slowest_mps = load_vehicle(path).slowest_mps
    assert _ends(path, slowest_mps) == "ACTIVE"
    assert "its wheels did not turn" in _ends(path, 0.75 * slowest_mps)


def test_the_counts_of_a_calibrated_car_with_magnets_are_no_multiple_of_them(file_of):
    """The board makes whole ones of each magnet, and the calibration has the tyre in them."""
    assert load_vehicle(file_of(253.5, magnets=4)).plant["encoder"]["magnets"] == 4


def test_magnets_that_the_board_times_hold_a_walk(file_of):
    path = file_of(256, magnets=4)
    vehicle = load_vehicle(path)
    assert vehicle.reminders == ()
    assert 0.2 < vehicle.slowest_mps < 0.25
    assert _ends(path, 0.5) == "ACTIVE"
