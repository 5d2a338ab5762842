"""What a station answers to a page's requests while no car is served."""

from __future__ import annotations

import asyncio
import datetime

import pytest

from host_bridge import drive as driving
from host_bridge.core.errors import UsageFault
from host_bridge.sharing.services import make_host
from host_bridge.station.backend.live_backend import LiveBackend
from host_bridge.station.backend.programs import Recording
from host_bridge.station.server.page_seat import PageSeat
from tests.host_bridge.sharing.desk import runtime_folder

NOW = datetime.datetime.now


@pytest.fixture
def asking(monkeypatch, tmp_path):
    """Ask the backend something in a loop of its own, and close it."""

    def ask(question):
        async def asked():
            backend = LiveBackend(
                make_host(),
                1.0,
                Recording(tmp_path, {}, NOW),
                None,
                NOW,
                {"slalom": "script:slalom"},
            )
            try:
                return await question(backend)
            finally:
                await backend.close()

        return asyncio.run(asked())

    with runtime_folder(monkeypatch):
        yield ask


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({"do": "mark"}, {"of": "mark", "is_done": False, "text": "nothing is recorded"}),
        (
            {"do": "twin", "car": "red"},
            {"of": "twin", "is_done": False, "text": "the vehicle of red is not known"},
        ),
        ({"do": "lift flag"}, {"of": "lift flag", "is_done": True, "text": ""}),
        ({"do": "end recording"}, {"of": "end recording", "is_done": True, "text": ""}),
        ({"do": "distances"}, {"of": "distances", "is_done": True, "text": ""}),
        (
            {"do": "no such"},
            {"of": "no such", "is_done": False, "text": "nothing is known of 'no such'"},
        ),
        (
            {"do": "config", "car": "red"},
            {"of": "config", "is_done": False, "text": "red is not served"},
        ),
    ],
)
def test_each_request_is_answered_with_what_came_of_it(asking, asked, said):
    assert asking(lambda backend: backend.handle_request(asked)) == said


def test_a_program_that_the_station_does_not_offer_is_refused(asking):
    async def start(backend):
        seat = PageSeat(backend.now_us, lambda lines: None, is_guard=True)
        backend.start_drive(["red"], seat, lambda why: None, {}, "csv:/etc/passwd")

    with pytest.raises(UsageFault, match="no such program"):
        asking(start)


def test_the_programs_and_the_flag_are_in_every_picture(asking):
    async def seen(backend):
        before = backend.extras()
        await backend.raise_flag("Phone")
        return before, backend.extras()

    before, after = asking(seen)
    assert (before["programs"], before["flag"]) == (["slalom"], None)
    assert (after["flag"]["by"], after["flag"]["held"]) == ("Phone", [])


def test_a_drive_that_fails_within_tells_the_page_and_the_terminal(asking, monkeypatch, caplog):
    async def fail(options, view, host):
        raise LookupError("of a program's own")

    monkeypatch.setattr(driving, "drive", fail)

    async def start(backend):
        ended = asyncio.Queue()
        seat = PageSeat(backend.now_us, lambda lines: None)
        backend.start_drive(["red"], seat, ended.put_nowait, {}, "")
        return await asyncio.wait_for(ended.get(), 10.0)

    assert "The drive failed" in asking(start)
    assert "of a program's own" in caplog.text
