"""Each harness is whole and electrically sound; and each rule notices when it is not."""

import csv
from dataclasses import replace

import pytest

from hardware.drawing.harness import (
    COLUMNS,
    FOLDER,
    REASONS,
    VOLTS_AMPERES,
    PartPin,
    harness_names,
    load_harness,
)
from host_bridge.config.boards.schema import FULL_OVER_LOW
from host_bridge.config.vehicle.vehicle import vehicle_tables
from host_bridge.core.errors import VehicleFileFault
from tests.hardware import electrical
from tests.support.evidence import every

NAMES = harness_names()
CARS = [name for name in NAMES if load_harness(name).vehicle]


def faults(harness):
    """What a part bears cannot be asked of one that is in no list."""
    unlisted = list(electrical.parts(harness))
    return unlisted or [sentence for rule in electrical.RULES for sentence in rule(harness)]


def changed(harness, wire, /, **values):
    """With the wire that ends there changed."""
    assert [lead for lead in harness.leads if str(lead.end) == wire]
    leads = [replace(x, **values) if str(x.end) == wire else x for x in harness.leads]
    return replace(harness, leads=tuple(leads))


def limited(harness, ref, **limits):
    """With other volts or amperes of a part."""
    item = harness.items[ref]
    items = {**harness.items, ref: replace(item, limits={**item.limits, **limits})}
    return replace(harness, items=items)


def without(harness, end):
    return replace(harness, leads=[lead for lead in harness.leads if str(lead.end) != end])


@pytest.mark.parametrize("name", NAMES)
def test_nothing_is_wrong_with_a_harness(name):
    assert faults(load_harness(name)) == []


@pytest.mark.parametrize("name", CARS)
def test_every_stop_source_of_the_vehicle_comes_by_a_part(name):
    harness = load_harness(name)
    _, tables = vehicle_tables(harness.vehicle)
    assert list(electrical.stops(harness, set(tables["stop"]["sources"]))) == []


@pytest.mark.parametrize("name", CARS)
def test_every_channel_of_the_vehicle_ends_at_a_part(name):
    harness = load_harness(name)
    _, tables = vehicle_tables(harness.vehicle)
    ends = {lead.end.ref for lead in harness.leads}
    wired = {role.part.title for role in harness.roles} | set(harness.channels)
    assert {channel["name"] for channel in tables["channels"]} <= wired
    assert set(harness.channels.values()) <= ends


@pytest.mark.parametrize("name", CARS)
def test_a_battery_is_that_of_the_vehicle(name):
    harness = load_harness(name)
    _, tables = vehicle_tables(harness.vehicle)
    battery = harness.feeds["B1.+"]
    assert battery.least_v == tables["battery"]["empty_v"]
    assert battery.most_v > tables["battery"]["low_v"] * FULL_OVER_LOW - 0.01


RUNSTOP_PARTS = ("runstop_board", "runstop_off_delay")


@pytest.mark.parametrize("name", [*RUNSTOP_PARTS, *NAMES])
def test_every_part_says_why_it_was_chosen_and_where_its_numbers_come_from(name):
    with (FOLDER / "bom" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert every(row["why"] and row["source"] and int(row["qty"]) > 0 for row in rows)
    assert len({row["ref"] for row in rows}) == len(rows)
    if name not in RUNSTOP_PARTS:
        assert set(rows[0]) == {*COLUMNS, *VOLTS_AMPERES, *REASONS}


MISTAKES = {
    "a receiver of 5 V on the board's pin": (
        lambda car: limited(car, "LS1", out_v=5.0),
        ["LS1.out1 puts out more than the 3.3 V of", "a level shifter"],
    ),
    "a servo that wants 5 V": (
        lambda car: limited(car, "M1", in_v=3.5),
        ["M1.pulse does not take 3.3 V for high", "a level shifter"],
    ),
    "a thin wire behind the large fuse": (
        lambda car: changed(car, "K2.30", mm2=0.25),
        ["K2: 0.25 mm2 bears 3.5 A of 30.0 A"],
    ),
    "a thin wire before the fuse": (
        lambda car: changed(car, "F2.in", mm2=0.5),
        ["F2: 0.5 mm2 before the fuse is thinner than behind it"],
    ),
    "a larger fuse": (
        lambda car: limited(car, "F1", current_a=60.0),
        ["F1 is a fuse of another size"],
    ),
    "a sensor on 12 V": (
        lambda car: changed(car, "IM1.VCC", feed=car.feeds["F2.out"], source=PartPin("F2", "out")),
        ["IM1.VCC does not bear 12.6 V of F2.out"],
    ),
    "a servo that takes more than its supply gives": (
        lambda car: limited(car, "M1", current_a=6.0),
        ["PS2.6V gives 5.0 A, and 6.00 A hang on it"],
    ),
    "the loop is not wired": (
        lambda car: without(car, "RS1.LOOP"),
        ["wiring.f1tenth.runstop.loop is wired in the board file, and not drawn"],
    ),
    "a part that nobody bought": (
        lambda car: changed(car, "M1.pulse", end=PartPin("M9", "pulse")),
        ["M9 is wired, and in no parts list"],
    ),
    "a part that nobody wired": (
        lambda car: without(without(car, "H1.+"), "H1.GND"),
        ["H1 is in the parts list, and not wired"],
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_noticed(mistake):
    make, words = MISTAKES[mistake]
    found = faults(make(load_harness("f1tenth_esc")))
    assert found
    assert every(any(word in sentence for sentence in found) for word in words)


def test_a_stop_source_that_comes_by_nothing_is_noticed():
    car = load_harness("nigel")
    assert list(electrical.stops(car, {*car.stops, "rc"})) == ["rc comes by no part"]


def test_a_role_that_the_board_file_does_not_wire_is_refused_with_its_line(tmp_path, monkeypatch):
    text = (FOLDER / "wiring" / "nigel.toml").read_text(encoding="utf-8")
    for folder in ("wiring", "bom"):
        (tmp_path / folder).mkdir()
    (tmp_path / "wiring" / "odd.toml").write_text(text.replace("@enable.life", "@enable.live"))
    (tmp_path / "bom" / "odd.csv").write_text((FOLDER / "bom" / "nigel.csv").read_text())
    monkeypatch.setattr("hardware.drawing.harness.FOLDER", tmp_path)
    with pytest.raises(VehicleFileFault, match=r"odd.toml.*LIFE") as fault:
        load_harness("odd")
    assert "enable.life" in str(fault.value)
