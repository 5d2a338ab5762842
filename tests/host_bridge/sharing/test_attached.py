"""Who is at a car by way of gateways: told, read, withdrawn."""

from __future__ import annotations

import os

import pytest

from host_bridge.sharing.endpoints.attached import (
    Attached,
    attached,
    tell_attached,
    withdraw_attached,
)
from host_bridge.sharing.endpoints.served import served
from tests.host_bridge.sharing.desk import runtime_folder

STATION = Attached("MAVLink", "255/190", "127.0.0.1:14550", is_signed=False, drives=True)
NO_PROCESS = 4_194_305  # more than Linux has


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def test_what_is_told_of_a_car_is_read_and_taken_back():
    tell_attached("red", [STATION])
    assert attached("red") == [STATION]
    assert attached("re") == attached("red-2") == []
    assert str(STATION) == "MAVLink 255/190 at 127.0.0.1:14550, DRIVES"
    withdraw_attached("red")
    withdraw_attached("red")
    assert attached("red") == []


def test_a_gateway_that_is_gone_and_a_file_that_is_none_are_left_out(folder):
    tell_attached("red", [STATION])
    (folder / f"red.{os.getpid()}.attached").rename(folder / f"red.{NO_PROCESS}.attached")
    for number, text in enumerate(("", "[", "[1]", '[{"by": "x"}]', "{}")):
        (folder / "red.x.attached").write_text(text)
        (folder / f"red.{os.getppid()}.attached").write_text(text)
        assert attached("red") == [], number


def test_it_is_no_served_car():
    tell_attached("red", [STATION])
    assert served() == []
