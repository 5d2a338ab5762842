"""A car that is not served is not called one that did not answer."""

from __future__ import annotations

import asyncio
import datetime
from types import SimpleNamespace

import pytest

from host_bridge.cli.car_actions.request import refused_fault
from host_bridge.core.errors import DeviceFault
from host_bridge.sharing.services import make_host
from host_bridge.station.backend.live_backend import LiveBackend, not_served_fault
from host_bridge.station.backend.programs import Recording
from tests.host_bridge.sharing.desk import runtime_folder


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ((), "no car is served on this machine, so none was asked to stop"),
        (("red", "blue"), "blue and red: not served on this machine, so not asked to stop"),
    ],
)
def test_a_stop_of_cars_that_nobody_serves_says_so_and_what_to_do(
    names, said, monkeypatch, tmp_path
):
    async def stop():
        recording = Recording(tmp_path, {}, datetime.datetime.now)
        backend = LiveBackend(make_host(), 1.0, recording, None, datetime.datetime.now, {})
        try:
            await backend.stop(names, told.append)
        finally:
            await backend.close()

    told = []
    with runtime_folder(monkeypatch), pytest.raises(DeviceFault) as raised:
        asyncio.run(stop())
    assert told == []
    assert raised.value.what == said
    assert "its runstop, or cut its power" in raised.value.remedy
    assert str(raised.value) == str(not_served_fault(set(names)))


def test_a_car_that_did_not_answer_an_action_is_told_with_what_is_known_of_its_line():
    opened = SimpleNamespace(name="red", uri="sim://nigel", why_offline="")
    text = str(refused_fault(None, opened))
    assert "red did not answer" in text
    assert "expected: an answer within 2 s" in text
    assert "got: its reports, and no answer" in text
    opened.why_offline = "its owner has ended"
    assert "got: its owner has ended" in str(refused_fault(None, opened))
