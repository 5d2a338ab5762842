"""What the simulator writes, read: two LIDAR encodings, other languages, nothing relied on."""

import base64
import gzip
import random
from math import inf, isnan

import pytest

from sim_mock.autodrive.values import decimal_mark, numbers, ranges_m


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.5", (1.5,)),
        ("-0,2500", (-0.25,)),
        ("−0٫5", (-0.5,)),
        (0.25, (0.25,)),
        (3, (3.0,)),
    ],
)
def test_a_number_is_read_in_every_language(text, expected):
    assert numbers(text, 1) == expected


@pytest.mark.parametrize(
    "text", [None, "", "abc", "1 2", "inf", "NaN", "1.2.3", "1,2,3", [], {}, True, "1e999"]
)
def test_what_is_no_finite_number_is_none(text):
    assert numbers(text, 1) is None


def test_a_vector_with_a_number_missing_is_none():
    assert numbers("1.0 2.0 3.0", 3) == (1.0, 2.0, 3.0)
    assert numbers("1.0 2.0", 3) is None
    assert numbers("1.0 inf 2.0", 3) is None


def test_the_decimal_mark_is_learnt_from_the_first_fraction():
    assert decimal_mark([None, "", "3", "0.0000"]) == "."
    assert decimal_mark(["1 2", "0,0000 1,0000"]) == ","
    assert decimal_mark(["1 2", None, 5]) is None


def packed(text):
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode()


@pytest.mark.parametrize("mark", [".", ","])
def test_both_encodings_of_a_scan_give_the_same_ranges(mark):
    words = [w.replace(".", mark) for w in ("0.1500", "inf", "12.0000", "Infinity", "∞")]
    expected = (0.15, inf, 12.0, inf, inf)
    assert ranges_m(" ".join(words)) == expected
    assert ranges_m(packed("\n".join(words))) == expected


@pytest.mark.parametrize("text", [None, "", 5, "H4sI", "H4sI!!", packed("1 2")[:-20] + "AAAA" * 5])
def test_a_scan_that_cannot_be_read_is_empty(text):
    assert ranges_m(text) in ((), (1.0, 2.0))


def test_a_word_that_is_no_range_is_nan_and_its_neighbours_stay():
    ranges = ranges_m("1.0 oops 2.0")
    assert ranges[0] == 1.0
    assert isnan(ranges[1])
    assert ranges[2] == 2.0


def test_a_scan_that_unpacks_without_end_is_cut():
    assert len(ranges_m(packed("1 " * 3_000_000))) <= 1 << 19


def test_random_damage_never_raises():
    rng = random.Random(5)
    good = packed("\n".join(["1.25"] * 100))
    for _ in range(500):
        damaged = list(good)
        damaged[rng.randrange(len(good))] = chr(rng.randrange(32, 300))
        ranges_m("".join(damaged))
