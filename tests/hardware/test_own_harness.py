"""A car of one's own gets its harness: the shipped one's, without what its board does not wire."""

import csv
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from hardware.drawing import own
from hardware.drawing.harness import harness_names, load_harness
from host_bridge.cli.main import main
from host_bridge.config import load_vehicle
from host_bridge.core.errors import DataFileFault, DeviceFault, UsageFault, VehicleFileFault
from tests.hardware import electrical
from tests.support.evidence import some

OWN = 'base = "f1tenth"\ntitle = "Our Slash"\nwired_as = "slash"\n'
HALL = (
    "\n[limits]\nreverse_max_mps = 0.0\n\n[encoder]\ncounts_per_rev = 256\nis_signed = false\n"
    "\n[imu]\ngyro_fitted = false\n\n[plant.encoder]\ncounts_per_rev = 256\nmagnets = 4\n"
)
BOARD = """title = "Pico of ours"
chip = "rp2040"
machine = "Raspberry Pi Pico with RP2040"
micropython = "RPI_PICO"
pins = "0-22 26-28"
adc = "26-28"

[reserved]
led = "25"

[wiring.slash]
enable = { life = 4, contact = 7, pull_down_ohm = 4700 }
runstop = { loop = 6, pull_down_ohm = 4700, cuts_power = true }
battery = { kind = "adc", adc = 26, full_v = 15.675, least_v = 3.0 }
led = { pin = 25 }

[wiring.slash.channels]
steering = { pulse = 3, pull_down_ohm = 4700 }
drive = { pulse = 16, pull_down_ohm = 4700 }

[wiring.slash.encoders]
shaft = { kind = "hall", hall = 12, magnets = 4 }
"""


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("slash.toml").write_text(OWN + HALL)
    Path("my_pico.toml").write_text(BOARD)


def harness():
    return own.own_harness(load_vehicle("./slash.toml"), "./my_pico.toml")


def test_a_car_with_a_hall_sensor_has_no_part_that_its_board_does_not_wire():
    """And it is electrically sound by all rules that the shipped harnesses keep."""
    made = harness()
    assert {"RX1", "LS1", "IM1"} <= set(load_harness("f1tenth_esc").items)
    assert not {"RX1", "LS1", "IM1"} & set(made.items)
    assert made.items["E1"].texts["part"].startswith("hall sensor")
    ends = [(str(it.source), str(it.end)) for it in made.leads]
    assert ("U1.12", "E1.OUT") in ends
    assert ("U1.3", "M1.pulse") in ends  # the pin of its own board file
    assert not any(end.startswith("E1.A") or end.startswith("E1.B") for _, end in ends)
    assert own.OwnDrawing(made).undrawn() == []
    assert list(electrical.parts(made)) == []
    assert [sentence for rule in electrical.RULES for sentence in rule(made)] == []


@pytest.mark.parametrize("name", [it for it in harness_names() if it != "runstop_box"])
def test_a_shipped_car_has_its_own_harness(name):
    shipped = load_harness(name)
    made = own.own_harness(load_vehicle(shipped.vehicle), None)
    assert made.leads == shipped.leads
    assert made.items.keys() == shipped.items.keys()


@pytest.mark.process
def test_the_lists_are_written_and_pictures_where_they_can_be_drawn(capsys):
    code = main(["vehicles", "./slash.toml", "--board", "./my_pico.toml", "--draw", "out"])
    told = capsys.readouterr()
    assert code == (0 if shutil.which("dot") else DeviceFault.exit_code)
    if code:
        assert "apt-get install graphviz" in told.err
    with Path("out/slash/wires.csv").open(newline="") as file:
        wires = some(list(csv.DictReader(file)))
    assert {"cable": "E1 lines", "from": "U1", "from_pin": "12", "to": "E1", "to_pin": "OUT",
            "sheet": "signals", "function": "shaft hall", "mm2": "0.25"} in wires  # fmt: skip
    with Path("out/slash/parts.csv").open(newline="") as file:
        parts = {row["ref"]: row for row in csv.DictReader(file)}
    assert parts["U1"]["example"] == "Pico of ours"
    assert parts["E1"]["supply_max_v"] == "38.0"
    # drawn again once graphviz is there: what is written already is no obstacle, other text is
    again = main(["vehicles", "./slash.toml", "--board", "./my_pico.toml", "--draw", "out"])
    assert again == (DataFileFault.exit_code if shutil.which("dot") else DeviceFault.exit_code)
    Path("out/slash/parts.csv").write_text("mine")
    words = "vehicles ./slash.toml --board ./my_pico.toml --draw out --json"
    assert main(words.split()) == DataFileFault.exit_code
    assert Path("out/slash/parts.csv").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ("vehicles --draw out", UsageFault.exit_code, "--draw draws one vehicle"),
        ("vehicles ./slash.toml --draw out --check", UsageFault.exit_code, "without --check"),
        ("vehicles ./slash.toml --draw out", VehicleFileFault.exit_code, "--board ./my_board.toml"),
        ("vehicles hunter_se --draw out", VehicleFileFault.exit_code, "no harness is drawn"),
    ],
)
def test_what_cannot_be_drawn_is_refused_and_nothing_is_written(words, code, told, capsys):
    assert main(words.split()) == code
    assert told in capsys.readouterr().err
    assert not Path("out").exists()


@pytest.mark.process
def test_it_needs_no_tool_that_only_the_circuits_of_the_pages_are_drawn_with():
    code = "import sys; sys.modules['schemdraw'] = None; from hardware.drawing import own"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
