"""One reader for all tables of TOML files: a virtual car is told the same words as a host."""

import pytest

from sim_mock.files.keys import choice, flag, integer, number, stem_of, unit_of
from sim_mock.files.plain_reading import read_by
from sim_mock.files.reading import read_table
from tests.support.evidence import every

KEYS = (
    number("mass_kg", 0.01, 100.0),
    number("gain_per_mps", 0.0, 1.0, default=0.5),
    integer("count", 1, 16),
    choice("law", ("linear", "fiala")),
    flag("rearms", default=False),
)
RIGHT = {"mass_kg": 3, "count": 4, "law": "fiala"}

WRONG = {
    "mass_g": ({**RIGHT, "mass_g": 3}, "wrong unit", "mass_kg, in kilograms", "mass_kg?"),
    "mass": ({**RIGHT, "mass": 3}, "no unit", "mass_kg, in kilograms", "mass_kg?"),
    "rearm": ({**RIGHT, "rearm": True}, "not a key of this table", "one of mass_kg", "rearms?"),
    "mass_kg": ({**RIGHT, "mass_kg": "3"}, "cannot be that", "100 kilograms", "mind the unit"),
    "count": ({**RIGHT, "count": 1.5}, "cannot be that", "a whole number from 1 to 16", ""),
    "law": ({"mass_kg": 3, "count": 4}, "law is missing", "one of linear, fiala", "add law"),
    "rearms": ({**RIGHT, "rearms": 1}, "cannot be that", "true or false", ""),
}


class Told(Exception):
    def __init__(self, key, what, expected, got, remedy):
        self.key, self.words = key, (what, expected, remedy)


class Host:
    def fault(self, key, what, expected="", got="", remedy=""):
        return Told(key, what, expected, got, remedy)


def test_what_is_right_is_read_with_its_defaults():
    read = read_table(Host(), "plant.body", RIGHT, KEYS)
    assert read == {**RIGHT, "gain_per_mps": 0.5, "rearms": False}
    assert isinstance(read["mass_kg"], float)
    assert read_by("plant.body", KEYS, RIGHT) == read


@pytest.mark.parametrize("key", WRONG)
def test_both_ends_are_told_what_is_wrong_in_the_same_words(key):
    given, *words = WRONG[key]
    with pytest.raises(Told) as told:
        read_table(Host(), "plant.body", given, KEYS)
    assert told.value.key == f"plant.body.{key}"
    for word, said in zip(words, told.value.words, strict=True):
        assert word in said
    with pytest.raises(ValueError, match=rf"^plant\.body\.{key}: ") as refusal:
        read_by("plant.body", KEYS, given)
    assert every(said in str(refusal.value) for said in told.value.words)


@pytest.mark.parametrize(
    ("key", "value", "remedy"),
    [
        (number("wheelbase_m", 0.01, 5.0), 325, "are these millimetres?"),
        (number("max_rad", 0.0, 1.2), 25.0, "are these degrees?"),
        (number("share", 0.0, 1.0), 30, "are these percent?"),
        (number("speed_mps", 0.0, 10.0), 20.0, "are these km/h?"),
        (number("speed_mps", 0.0, 10.0), 1e9, "mind the unit"),
        (number("speed_mps", 0.0, 10.0), float("nan"), "mind the unit"),
        (number("mass_kg", 0.01, 100.0), "3,2", "numbers have a decimal point"),
        (number("mass_kg", 0.01, 100.0), True, "mind the unit"),
    ],
)
def test_a_slip_of_unit_or_of_the_decimal_sign_is_asked_about(key, value, remedy):
    with pytest.raises(Told) as told:
        read_table(Host(), "t", {key.name: value}, [key])
    assert told.value.words[2] == remedy


def test_the_longest_ending_is_the_unit():
    assert unit_of("gain_per_mps") == "full effort per metre per second"
    assert unit_of("speed_max_mps") == "metres per second"
    assert unit_of("stiffness_front_per_rad") == "per radian"
    assert unit_of("ms") == "milliseconds"
    assert unit_of("title") == unit_of("speed_kmh") == ""
    assert stem_of("speed_kmh") == stem_of("speed_mps") == "speed"
