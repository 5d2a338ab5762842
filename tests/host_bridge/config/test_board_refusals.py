"""Each mistake in a good board file is refused, with its remedy, and nothing else is."""

from dataclasses import replace

import pytest

from host_bridge.config.boards import check, load_board
from host_bridge.config.boards.facts import Pio
from host_bridge.config.boards.pins.case import WiringCase
from host_bridge.config.boards.pins.checking import examine
from host_bridge.config.boards.pins.needs import needs_of
from host_bridge.config.boards.reading import read_wiring
from host_bridge.core.errors import VehicleFileFault
from tests.host_bridge.config.broken_boards import board_text, broken, changed, reasons

PICO, B48, NUCLEO, ESP = "pico", "weact_rp2350b", "nucleo_f767zi", "esp32s3_devkitc"

# board, vehicle, what is changed in its wiring, words of the one refusal
MISTAKES = {
    "unknown pin": (PICO, "f1tenth", [("pulse = 2,", "pulse = 31,")], ("no pin 31", "0-22, 26-28")),
    "name for a number": (PICO, "f1tenth", [("life = 4", 'life = "GP4"')], ("no pin GP4",)),
    "reserved pin": (PICO, "f1tenth", [("pulse = 2,", "pulse = 23,")], ("for smps", "free one is")),
    "LED's pin for another": (
        PICO,
        "autorally",
        [("tone = 22", "tone = 25"), ("^led.*", "")],
        ("for led",),
    ),
    "doubled pin": (PICO, "f1tenth", [("pulse = 2,", "pulse = 16,")], ("two wires", "steering")),
    "a bus's pin doubled": (PICO, "f1tenth", [("mode = 15", "mode = 20")], ("pin 20 has two",)),
    "two frequencies on a slice": (
        PICO,
        "autorally",
        [("tone = 22", "tone = 18"), ("^pps.*", "")],
        ("slice1 has one frequency", "steering pulse on 2", "50 Hz", "2700 Hz", "is free"),
    ),
    "same channel of a slice": (
        PICO,
        "autorally",
        [("pulse = 3,", "pulse = 18,"), ("^pps.*", "")],
        ("slice1 puts out the same", "steering pulse on 2"),
    ),
    "a bridge on the buzzer's slice": (
        B48,
        "nigel",
        [("pwm = 9,", "pwm = 11,")],
        ("slice5 has one frequency", "rear right motor pwm on 11", "2700 Hz", "20000 Hz"),
    ),
    "no ADC": (PICO, "f1tenth", [("adc = 26", "adc = 22")], ("pin 22 has no ADC", "26-28")),
    "no ADC on an RP2350B": (B48, "nigel", [("adc = 40", "adc = 15")], ("no ADC", "40-47")),
    "5 V": (PICO, "f1tenth", [("mode = 15 ", "mode = 15, volts = 5.0 ")], None),
    "5 V on a contact": (
        PICO,
        "f1tenth",
        [("contact = 7,", "contact = 7, volts = 5.0,")],
        ("enable contact", "3.6 V or less", "5 V", "divider"),
    ),
    "12 V where 5 is tolerated": (
        NUCLEO,
        "f1tenth",
        [('b = "PD13", volts = 5.0', 'b = "PD13", volts = 12.0')],
        None,
    ),
    "I2C on pins without": (PICO, "f1tenth", [("sda = 20, scl = 21", "sda = 21, scl = 22")], None),
    "I2C lines turned round": (
        PICO,
        "f1tenth",
        [("sda = 20, scl = 21", "sda = 21, scl = 20")],
        ("no I2C is on the pins of imu", "I2C 0: sda 0, 4, 8, 12"),
    ),
    "UART on pins without": (
        PICO,
        "f1tenth",
        [(r'kind = "pulses".* mode = 15', 'kind = "sbus", rx = 12, order = [0, 1, 2, 3]')],
        ("no UART is on the pins of rc", "UART 0: tx 0, 12, 16, 28"),
    ),
    "UART taken": (
        PICO,
        "f1tenth",
        [
            (r'kind = "pulses".* mode = 15', 'kind = "sbus", rx = 13, order = [0, 1, 2, 3]'),
            ("^led = .*", "led = { pin = 25 }\nlink = { tx = 0, rx = 1 }"),
        ],
        ("UART 0 cannot serve link besides rc",),
    ),
    "I2C of its own": (
        PICO,
        "autorally",
        [('"ina226", sda = 20, scl = 21', '"ina226", sda = 18, scl = 19'), ("^pps.*", "")],
        ("battery is on an I2C of its own", "sda 20, scl 21"),
    ),
    "one address for two parts": (
        PICO,
        "autorally",
        [("address = 0x40", "address = 0x68")],
        ("imu and battery answer to the same address", "0x68"),
    ),
    "no resistor at an output": (
        PICO,
        "f1tenth",
        [(r"(pulse = 16), pull_down_ohm = 4_700", r"\1")],
        ("nothing holds drive low", "10000 or less", "pin 16"),
    ),
    "no resistor at the loop": (
        PICO,
        "f1tenth",
        [(r"(loop = 6), pull_down_ohm = 4_700", r"\1")],
        ("nothing holds runstop low",),
    ),
    "a resistor that erratum E9 beats": (
        B48,
        "nigel",
        [(r"(loop = 12, pull_down_ohm) = 4_700", r"\1 = 10_000")],
        ("nothing holds runstop low", "8200 or less", "10000 ohms"),
    ),
    "channel not wired": (
        PICO,
        "f1tenth",
        [("^steering = .*\n", "")],
        ("steering of f1tenth is not wired", "servo_steering"),
    ),
    "runstop not wired": (PICO, "f1tenth", [("^runstop = .*\n", "")], ("runstop of f1tenth",)),
    "required receiver not wired": (
        PICO,
        "autorally",
        [("^rc = .*\n", "")],
        ("rc of autorally is not wired", "its stop source rc is required"),
    ),
    "enable not wired": (PICO, "f1tenth", [("^enable = .*\n", "")], ("enable of f1tenth",)),
    "gyro not wired": (PICO, "f1tenth", [("^imu = .*\n", "")], ("imu of f1tenth", "gyro_fitted")),
    "battery not wired": (PICO, "f1tenth", [("^battery = .*\n", "")], ("battery of f1tenth",)),
    "one side not counted": (
        PICO,
        "autorally",
        [("^front_left = .*\n", ""), ("^rear_left = .*\n", "")],
        ("wheels of one side", "got: right"),
    ),
    "direction that the vehicle lacks": (
        PICO,
        "autorally",
        [('kind = "hall", hall = 8, magnets = 6', 'kind = "quadrature", a = 8, b = 0')],
        None,
    ),
    "no direction where one is needed": (
        PICO,
        "f1tenth",
        [('kind = "quadrature", a = 10, b = 11', 'kind = "hall", hall = 10, magnets = 6')],
        ("does not count as f1tenth says", "quadrature"),
    ),
    "magnets that do not divide": (
        PICO,
        "autorally",
        [("hall = 8, magnets = 6", "hall = 8, magnets = 7")],
        ("not the same between all magnets", "384"),
    ),
    "encoder's lines apart": (
        PICO,
        "f1tenth",
        [("b = 11", "b = 17")],
        ("two pins in a row", "b = 11"),
    ),
    "runstop out of the life signal's reach": (
        B48,
        "nigel",
        [("loop = 12", "loop = 47")],
        ("no block reaches all pins of enable life", "13, 47"),
    ),
    "VESC without its line": (
        PICO,
        "f1tenth_vesc",
        [("^vesc = .*", "")],
        ("vesc of f1tenth_vesc is not wired", "for steering, drive, shaft, battery"),
    ),
    "battery beyond the ADC": (
        PICO,
        "autorally",
        [('"ina226".* shunt_mohm = 1', '"adc", adc = 26, full_v = 15.675, least_v = 3.0')],
        ("full battery of autorally is beyond", "33.6 V or more", "INA226"),
    ),
    "sensor that cannot sit so": (
        PICO,
        "f1tenth",
        [(r"\[1, 2, 3\]", "[1, 2, -3]")],
        ("no sensor sits like that", "[1, 2, 3]"),
    ),
    "receiver's channels doubled": (
        ESP,
        "f1tenth",
        [(r"\[0, 1, 2, 3\]", "[0, 1, 1, 3]")],
        ("not the receiver's channels",),
    ),
    "no hard timers": (
        ESP,
        "f1tenth",
        [("cuts_power = true", "cuts_power = false")],
        ("no hard timers", "relay"),
    ),
    "an output that glitches": (
        ESP,
        "f1tenth",
        [("pulse = 40", "pulse = 18")],
        ("pin 18 goes high while the board starts", "drive pulse"),
    ),
    "an output on a debugger's pull-up": (
        NUCLEO,
        "f1tenth",
        [('life = "PF12"', 'life = "PB4"')],
        ("pin PB4 goes high",),
    ),
    "one interrupt for two pins": (
        NUCLEO,
        "f1tenth",
        [('steering = "PG0"', 'steering = "PG14"')],
        ("interrupt of rc steering", "PG14", "PF14"),
    ),
    "no PWM": (NUCLEO, "f1tenth", [('"PE11"', '"PF15"')], ("pin PF15 has no PWM", "PE9")),
    "no timer of two channels": (
        NUCLEO,
        "f1tenth",
        [('"PD12"', '"PD14"')],
        ("not channels 1 and 2 of one timer", "PD14, PD13"),
    ),
    "a timer that counts an encoder": (
        NUCLEO,
        "nigel",
        [('pulse = "PF6"', 'pulse = "PE13"')],
        ("TIM1 counts an encoder", "front left"),
    ),
}
SEVERAL = {
    "5 V": ("rc steering", "rc throttle", "rc live_man", "rc mode"),
    "12 V where 5 is tolerated": ("shaft a", "shaft b"),
    "I2C on pins without": ("no I2C",),
    "direction that the vehicle lacks": ("does not count as", "two pins in a row"),
}


@pytest.mark.parametrize("name", [name for name, row in MISTAKES.items() if row[3]])
def test_a_mistake_is_refused_and_nothing_else_is(tmp_path, name):
    board, vehicle, changes, words = MISTAKES[name]
    found = reasons(tmp_path, broken(board, vehicle, *changes), vehicle)
    assert len(found) == 1, found
    assert "remedy: " in found[0]
    assert "board.toml:" in found[0], "no line"
    for word in words:
        assert word in found[0]


@pytest.mark.parametrize("name", SEVERAL)
def test_a_mistake_of_several_wires_is_told_for_each(tmp_path, name):
    board, vehicle, changes, _ = MISTAKES[name]
    found = reasons(tmp_path, broken(board, vehicle, *changes), vehicle)
    assert len(found) == len(SEVERAL[name]), found
    for reason, word in zip(found, SEVERAL[name], strict=True):
        assert word in reason


def on_a_lesser_chip(board_name, vehicle, **facts):
    board, needs = load_board(board_name), needs_of(vehicle)
    wiring = read_wiring(board, needs.vehicle, needs.channels)
    lesser = replace(board, chip=replace(board.chip, **facts))
    return [str(fault) for fault in examine(WiringCase(lesser, wiring, needs))[0]]


def test_what_is_used_up_is_refused_with_what_there_is():
    found = on_a_lesser_chip(PICO, "f1tenth", pio=Pio(1, 2, 64, ((0, 31),)))
    assert len(found) == 1
    assert "state machines are used up: none is left for enable life" in found[0]
    found = on_a_lesser_chip(PICO, "f1tenth", pio=Pio(1, 4, 32, ((0, 31),)))
    assert len(found) == 1
    assert "no room for the program quadrature of shaft a" in found[0]
    assert "32 instructions in each of 1 blocks" in found[0]


def test_counters_that_are_used_up_are_refused(tmp_path):
    text = broken(ESP, "f1tenth", ("^shaft = .*", TWO_WHEELS))
    assert reasons(tmp_path, text, "f1tenth") == ()
    path = tmp_path / "board.toml"
    found = on_a_lesser_chip(str(path), "f1tenth", counters=1)
    assert len(found) == 1
    assert "used up: none is left for right" in found[0]


TWO_WHEELS = """left = { kind = "quadrature", a = 10, b = 11 }
right = { kind = "quadrature", a = 12, b = 13 }"""


def test_a_receiver_that_no_profile_requires_may_be_left_out(tmp_path):
    assert reasons(tmp_path, broken(PICO, "f1tenth", ("^rc = .*\n", "")), "f1tenth") == ()


# --- files that cannot be read

ONE_WIRING = board_text(PICO).partition("[wiring.autorally]")[0]
UNREADABLE = {
    "unknown chip": ("^chip = .*", 'chip = "rp2041"', ("chip is not known", "rp2040")),
    "too fast": ("^clock_mhz = .*", "clock_mhz = 250", ("no clock for an rp2040", "125 to 200")),
    "not pins": ('^pins = "0-22', 'pins = "0..22', ("not pins", "0..22")),
    "unknown key": ("^machine", "machin", ("did you mean machine?",)),
    "unknown part": ("^imu = ", "imv = ", ("did you mean imu?",)),
    "unknown channel": ("^drive = ", "drives = ", ("did you mean drive?",)),
    "unknown encoder": ("^shaft = ", "shift = ", ("did you mean shaft?",)),
    "unknown kind": ('kind = "mpu"', 'kind = "mpx"', ("one of mpu, bno055, rvc",)),
    "unknown wire": ("life = 4", "live = 4", ("did you mean life?",)),
    "wire missing": (", scl = 21", "", ("scl is missing", "number or the name of a pin")),
    "not a pin": ("scl = 21", "scl = 21.5", ("scl cannot be that", "21.5")),
    "not a table": (r"^led = \{.*", "led = 25", ("this part is not a table",)),
    "not a table, of kinds": ("^imu = .*", "imu = 25", ("this part is not a table",)),
    "wirings that are none": (r"^\[wiring(?:.|\n)*", "[[wiring]]\n", ("wiring is not a table",)),
    "channels that are none": (
        r"^\[wiring\.f1tenth\.channels\]\n.*\n.*",
        "channels = 3",
        ("channels is not a table",),
    ),
    "unit wrong": ("full_v = ", "full_mv = ", ("wrong unit", "full_v")),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_a_file_that_cannot_be_read_names_line_and_remedy(tmp_path, name):
    old, new, words = UNREADABLE[name]
    with pytest.raises(VehicleFileFault) as caught:
        reasons(tmp_path, changed(ONE_WIRING, (old, new)), "f1tenth")
    for word in ("board.toml", *words):
        assert word in str(caught.value)


def test_a_board_that_is_not_there_is_told_with_what_may_be_meant():
    with pytest.raises(VehicleFileFault, match="pcio") as caught:
        load_board("pcio")
    assert "did you mean pico?" in str(caught.value)


def test_the_table_of_chips_is_no_board():
    with pytest.raises(VehicleFileFault):
        load_board("chips")


def test_a_vehicle_without_a_wiring_is_told_where_there_is_one(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text(board_text(NUCLEO).partition("[wiring.autorally]")[0])
    report = check(str(path), "autorally")
    assert not report.is_wired
    assert report.fits
    assert len(report.refusals) == 1
    assert "it is wired on nucleo_f767zi" in report.refusals[0]
    assert report.wired_on == "nucleo_f767zi"
