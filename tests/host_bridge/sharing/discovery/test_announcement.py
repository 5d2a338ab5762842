"""What a car announces of itself, and what is made of announcements that anybody may send."""

import pytest

from host_bridge.core.errors import DeviceFault
from host_bridge.sharing.discovery import multicast_dns
from host_bridge.sharing.discovery.announcement import announcement_of, parse_records
from tests.support.evidence import every

CAR = announcement_of("red", "0102030405060708", b"\x01\x02\x03\x04", "/home/ada/fast.toml", 7)


def test_an_announcement_comes_back_as_it_was_and_holds_no_path():
    assert parse_records(CAR.records()) == CAR
    assert CAR.vehicle == "fast"
    assert CAR.fleet == "00000007"
    assert every(b"/home" not in it for it in CAR.records().values())


@pytest.mark.parametrize(
    ("key", "value"),
    [
        (b"v", b"2"),
        (b"v", None),
        (b"name", b"red\x1b[2J"),
        (b"name", b"red/../blue"),
        (b"name", b""),
        (b"name", b"r" * 33),
        (b"name", "röt".encode()),
        (b"name", b"\xff\xfe"),
        (b"id", b"0102"),
        (b"id", b"ZZ02030405060708"),
        (b"hash", None),
        (b"fleet", b"-1"),
        (b"vehicle", b"x y"),
    ],
)
def test_records_that_no_host_of_a_car_writes_are_no_car(key, value):
    assert parse_records({**CAR.records(), key: value}) is None


@pytest.mark.parametrize("wrong", ["python", "library"])
def test_without_the_library_it_is_said_what_to_do(monkeypatch, wrong):
    if wrong == "python":
        monkeypatch.setattr(multicast_dns.sys, "version_info", (3, 10, 4))
    else:
        monkeypatch.setattr(multicast_dns, "find_spec", lambda name: None)
    with pytest.raises(DeviceFault, match=r"Python 3\.11|zeroconf") as told:
        multicast_dns._refuse_without()
    assert "tandem://ADDRESS/NAME" in told.value.remedy
