"""Which car is meant by what a person wrote, and what they are told where none is."""

from __future__ import annotations

import pytest

from host_bridge.core.errors import DeviceFault, UsageFault
from host_bridge.sharing.endpoints.choosing import find_served
from host_bridge.sharing.endpoints.served import ServedCar


def served(name: str, uri: str) -> ServedCar:
    return ServedCar(name, uri, 1, "nigel", "2026-01-01T00:00:00Z")


ONE = served("nigel", "sim://nigel")
OTHER = served("racer", "serial:///dev/null")
BOTH = (ONE, OTHER)


def refused(text: str | None, *cars: ServedCar) -> DeviceFault | UsageFault:
    with pytest.raises((DeviceFault, UsageFault)) as raised:
        find_served(text, cars)
    assert isinstance(raised.value, DeviceFault | UsageFault)
    return raised.value


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("nigel", ONE), ("racer", OTHER), ("tandem:///nigel", ONE), ("tandem:///racer", OTHER),
        ("sim://nigel", ONE), ("serial:///dev/null", OTHER), ("sim://racer", None),
        ("sim://nigel?seed=2", None), ("serial:///dev/zero", None), ("sim:///dev/null", None),
        ("tandem://nigel", None), ("tandem://elsewhere/nigel", None),
    ],
)  # fmt: skip
def test_a_car_is_found_by_its_name_or_by_its_own_uri(text, found):
    assert find_served(text, BOTH) is found


def test_a_serial_port_has_several_names(tmp_path):
    port, link = tmp_path / "port", tmp_path / "by-id"
    port.touch()
    link.symlink_to(port)
    car = served("racer", f"serial://{port}")
    assert find_served(f"serial://{link}", [ONE, car]) is car
    assert find_served(f"hitl://{link}", [ONE, car]) is None
    assert find_served(f"serial://{link}", [served("racer", f"hitl://{port}")]) is None
    assert find_served(f"serial://{tmp_path}", [ONE, car]) is None


def test_without_a_name_the_only_one_is_meant_and_of_several_none():
    assert find_served(None, [OTHER]) is OTHER
    several = refused(None, *BOTH)
    assert str(several).startswith("which car?")
    assert (several.expected, several.remedy) == ("one of nigel, racer", "name it")
    none = refused(None)
    assert str(none).startswith("no car is served, and none was named")
    assert none.expected == "a name or a URI: serial:///dev/ttyACM0"
    assert none.remedy == "or serve one: tandem serve --car sim://nigel"


SERVE = "serve it: tandem serve --car serial:///dev/ttyACM0 --name"


@pytest.mark.parametrize(
    ("text", "name", "remedy"),
    [
        ("car", "car", f"{SERVE} car"),
        ("my car", "my car", f"{SERVE} 'my car'"),
        ("tandem:///car", "car", f"{SERVE} car"),
        ("COMA", "COMA", f"{SERVE} COMA"),
        (
            "f1tenth", "f1tenth",
            f"a virtual one is meant? say sim://f1tenth; a real one: {SERVE} f1tenth",
        ),
    ],
)  # fmt: skip
def test_a_name_that_nobody_serves_is_told_with_what_may_be_meant(text, name, remedy):
    fault = refused(text, ONE)
    assert isinstance(fault, DeviceFault)
    assert str(fault).startswith(f"nobody serves a car by the name of {name}")
    assert (fault.got, fault.remedy) == ("served here: nigel", remedy)


def test_it_says_who_is_served_instead():
    assert refused("car", *BOTH).got == "served here: nigel, racer"
    assert refused("car").got == "served here: no car"
    assert refused("car").expected == "a name that tandem cars lists, or a URI"
