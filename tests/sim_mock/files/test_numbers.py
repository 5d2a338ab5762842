"""Numbers as people write them: what Python alone would take for some is none."""

import argparse

import pytest

from host_bridge.cli.arguments import arg_types
from host_bridge.cli.arguments.parameter_changes import parse_changes
from host_bridge.core.errors import UsageFault
from host_bridge.inputs.paths.path import parse_pose
from host_bridge.link.transports.uri import Uri
from sim_mock.files.numbers import has_decimal_comma, parse_number, parse_whole
from sim_mock.virtual_car.config import parse_start
from tests.support.evidence import every

GOOD = {"2.5": 2.5, " -2.5 ": -2.5, "+.5": 0.5, "5.": 5.0, "1e-3": 0.001, "007": 7.0, "1E+2": 100.0}
NONE = ("2_5", "inf", "nan", "1e999", "0x10", "", "1,5", "٢", "1 2", "1e", ".", "--1", "9" * 65)


def test_good_numbers():
    assert every(parse_number(text) == value for text, value in GOOD.items())
    assert every(
        parse_whole(text) == value for text, value in {"-3": -3, "+4": 4, "007": 7}.items()
    )


@pytest.mark.parametrize("text", NONE)
def test_none_is_a_number_anywhere(text):
    for parse in (parse_number, parse_whole, lambda it: parse_pose(f"0,0,{it}"),
                  lambda it: parse_start(f"0,0,{it}")):  # fmt: skip
        with pytest.raises(ValueError):  # noqa: PT011 - each has words of its own
            parse(text)
    for parse in (arg_types.number, arg_types.positive, arg_types.whole, arg_types.speed_cap):
        with pytest.raises(argparse.ArgumentTypeError, match="expected a"):
            parse(text)
    with pytest.raises(UsageFault):
        parse_changes([f"trim={text}"])


@pytest.mark.parametrize("text", ["2_5", "nan", "0x10"])
def test_none_is_a_number_of_a_uri(text):
    uri = Uri.parse(f"sim://nigel?port={text}")
    for read in (uri.integer, uri.number):
        with pytest.raises(UsageFault, match="port does not fit"):
            read("port", 1, 0, 100)


def test_a_decimal_comma_is_one_number():
    assert every(map(has_decimal_comma, ("1,5", "-,5", "1,", "1,5e3")))
    assert not any(map(has_decimal_comma, ("1,2,3", "1.5", "1,000.5", ",", "a,b")))
