"""The board files that Tandem brings along: what is wired is right, and so are the chips."""

import re
from pathlib import Path

import pytest

from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.config.boards import (
    board_names,
    check,
    load_board,
    other_wirings,
    pin_module,
    step_time,
)
from host_bridge.config.boards.schema import PROGRAMS
from tests.support.evidence import every, some

ROOT = Path(__file__).resolve().parents[2]
BOARDS = {name: load_board(name) for name in board_names()}
WIRED = [(name, vehicle) for name, board in BOARDS.items() for vehicle in board.wirings]
RP2 = [board for board in BOARDS.values() if board.chip.port == "rp2"]


def test_every_board_of_the_list_is_there_and_every_vehicle_is_wired_somewhere():
    assert {"pico", "pico2", "weact_rp2350b", "nucleo_f767zi", "esp32s3_devkitc"} <= set(BOARDS)
    unwired = {name for name in vehicle_names() if load_vehicle(name).unwired}
    assert {vehicle for _, vehicle in WIRED} == {*vehicle_names(), *other_wirings()} - unwired
    for pair in (("pico", "f1tenth"), ("pico", "autorally"), ("weact_rp2350b", "nigel")):
        assert pair in WIRED


@pytest.mark.parametrize(("board", "vehicle"), WIRED)
def test_what_is_wired_is_in_order(board, vehicle, monkeypatch):
    """Its beat is another thing: test_step_times.py."""
    monkeypatch.setattr(step_time, "read_measured", list)
    report = check(board, vehicle)
    assert report.refusals == ()
    assert report.fits
    assert report.is_wired


def test_a_car_that_no_board_can_be_wired_for_says_why():
    report = check("pico2", "hunter_se")
    assert not report.is_wired
    assert "over CAN" in report.refusals[0]


def test_every_wiring_belongs_to_a_vehicle_or_a_box():
    for name, board in BOARDS.items():
        assert set(board.wirings) <= {*vehicle_names(), *other_wirings()}, name


def test_a_box_is_told_what_it_lacks(tmp_path):
    path = tmp_path / "mine.toml"
    text = (ROOT / "hardware" / "boards" / "pico.toml").read_text()
    path.write_text(text.replace("lamps = {", "# lamps = {").replace("link = {", "# link = {"))
    first, second = check(str(path), "runstop_box").refusals
    assert "link of runstop_box is not wired" in first
    assert "its radio" in first
    assert "lamps of runstop_box is not wired" in second


def test_nigel_does_not_fit_on_a_pico_and_is_told_what_does():
    report = check("pico", "nigel")
    rows = {row.what: row for row in report.budget}
    assert not report.fits
    assert rows["pins"].used >= 38
    assert rows["pins"].available == 26
    assert "take that one" in report.refusals[0]
    assert "weact_rp2350b" in report.refusals[0]


def test_nigel_leaves_room_on_an_rp2350b():
    rows = {row.what: row for row in check("weact_rp2350b", "nigel").budget}
    assert rows["state machines"].used == 5  # four encoders and the life signal
    assert rows["state machines"].available == 12
    assert rows["PWM slices"].used == 6
    assert every(row.used <= row.available for row in rows.values())


@pytest.mark.parametrize("clock", ["", "clock_mhz = 200"])
def test_the_pin_module_has_the_boards_clock(tmp_path, clock):
    path = tmp_path / "mine.toml"
    text = (ROOT / "hardware" / "boards" / "pico.toml").read_text()
    path.write_text(re.sub("^clock_mhz = 200.*", clock, text, flags=re.MULTILINE))
    assert f"CLOCK_HZ = {'200_000_000' if clock else None}" in pin_module(str(path), "f1tenth")


# --- chips, against the rules that their data sheets give


@pytest.mark.parametrize("board", RP2, ids=lambda board: board.name)
def test_slices_are_those_of_the_rule(board):
    for channel in board.chip.pwm:
        for pin in channel.pins:
            number = (pin >> 1) & 7 if pin < 32 else 8 + ((pin >> 1) & 3)
            assert (channel.group, channel.name) == (f"slice{number}", "AB"[pin & 1])
    routed = {pin for channel in board.chip.pwm for pin in channel.pins}
    assert {*board.pins, *board.reserved} <= routed


@pytest.mark.parametrize("board", RP2, ids=lambda board: board.name)
def test_buses_are_those_of_the_rule(board):
    pins = range(48 if board.chip.name == "rp2350" else 30)
    for number, wires in some(board.chip.uarts.items()):
        for low_bits, name in enumerate(("tx", "rx")):
            rule = {p for p in pins if p & 3 == low_bits and ((p + 4) & 8) >> 3 == number}
            assert wires[name] == rule
    for number, wires in some(board.chip.i2cs.items()):
        for low_bit, name in enumerate(("sda", "scl")):
            assert wires[name] == {p for p in pins if p & 1 == low_bit and (p >> 1) & 1 == number}


def test_stm32_timers_agree_with_each_other():
    """A pin is at most on one channel of a timer, and a group's channels are 1 to 4."""
    for channel in some(BOARDS["nucleo_f767zi"].chip.pwm):
        assert channel.name in "1234"
        others = [
            c
            for c in BOARDS["nucleo_f767zi"].chip.pwm
            if c.group == channel.group and c.name != channel.name
        ]
        assert not any(channel.pins & other.pins for other in others)


@pytest.mark.parametrize("board", BOARDS.values(), ids=BOARDS)
def test_no_pin_is_both_free_and_reserved(board):
    assert not set(board.pins) & set(board.reserved)
    assert len(set(board.pins)) == len(board.pins)
    assert board.adc <= {*board.pins, *board.reserved}


# --- programs


def test_the_programs_are_as_long_as_the_budget_says(virtual_rp2):
    from firmware.drivers.outputs import rp2_life_signal, rp2_pulses
    from firmware.drivers.wheels import rp2_quadrature

    lengths = {
        "pulses": len(rp2_pulses.pulses.opcodes),
        "life_signal": len(rp2_life_signal.life_signal.opcodes),
        "quadrature": len(rp2_quadrature.quadrature.opcodes),
    }
    assert lengths == PROGRAMS


@pytest.fixture
def virtual_rp2(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "firmware" / "drivers" / "virtual"))
    return pytest.importorskip("rp2")


def test_the_readme_of_the_drivers_says_the_same_lengths():
    text = (ROOT / "firmware" / "drivers" / "README.md").read_text()
    said = re.search(
        r"Pulses \((\d+) instructions\) and life signal \((\d+)\).*quadrature \((\d+)\)", text
    )
    assert said
    assert tuple(map(int, said.groups())) == tuple(PROGRAMS.values())
