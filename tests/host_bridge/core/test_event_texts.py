"""Every event of a car is a sentence, with names where they are known."""

from __future__ import annotations

import pytest

from host_bridge.core import NOBODY, CarEvent, EventCode, event_text
from tests.host_bridge.drive.drives import Drive, Rig, vehicle

SAID = [
    (EventCode.STATE_CHANGED, 3, 2, "HOLD to ACTIVE"),
    (EventCode.ACTION_TAKEN, 1, 4, "arm done by the RC's gesture"),
    (EventCode.ACTION_REFUSED, 1, 0b10_0000_0100, "arm refused: a stop is latched"),
    (EventCode.WINNER_CHANGED, 1, NOBODY, "drive goes to nobody"),
    (
        EventCode.SOURCE_LOST,
        1,
        2 << 8,
        "source seat does not win drive: another source outranks it",
    ),
    (EventCode.SOURCE_LOST, 1, 3 << 8 | 1, "source seat does not win steering, drive: its claim"),
    (EventCode.SOURCE_LOST, 1, 6 << 8 | 2, "drive, brake: its deadman is not held"),
    (EventCode.SOURCE_LOST, 1, 2 << 8 | 3, "it has to begin from neutral"),
    (EventCode.SOURCE_LOST, 1, 2 << 8 | 4, "it has to be let go and held anew"),
    (EventCode.SOURCE_LOST, 1, 2 << 8 | 5, "nobody lets it drive by itself"),
    (EventCode.SOURCE_LOST, 1, 2 << 8 | 6, "its input device is frozen"),
    (EventCode.SOURCE_LOST, 1, 2, "source seat does not win what it wants: its deadman"),
    (EventCode.STARTED, 1, 2, "and the watchdog restarted it, after 2 starts that did not last"),
    (EventCode.PROFILE, 2, 2500, "armed in profile race, 2.5 m/s at most"),
    (EventCode.SPEED_CAP, 300, 1, "the operator's cap: 0.3 m/s, by session 1"),
    (EventCode.STOP_SOURCE, 3, 2, "stop source seat says stop"),
    (EventCode.STOP_SOURCE, 2, 0, "stop source owner is silent"),
    (EventCode.BATTERY, 1, 10_400, "battery low, 10.4 V"),
    (EventCode.CLAMPED, 1, 0b11, "source seat asks for more than the car may: steering, drive"),
    (EventCode.IMU, 0, 0, "the IMU is silent: the car reckons by its steering"),
    (EventCode.IMU, 1, 0, "the IMU is there again"),
    (EventCode.BEAT, 0, 11_400, "it misses too many beats to be armed: a step takes 11.4 ms"),
    (EventCode.BEAT, 1, 8_640, "it keeps its beat again: a step takes 8.6 ms"),
]


@pytest.mark.parametrize(("code", "a", "b", "text"), SAID)
def test_an_event_reads_so(code, a, b, text):
    assert text in event_text(CarEvent(1, 2, code, a, b), vehicle())


@pytest.mark.parametrize("code", EventCode)
@pytest.mark.parametrize("number", [0, 1, 77])
def test_every_event_has_words_whatever_its_numbers_and_without_a_vehicle(code, number):
    b = 0 if code in (EventCode.ACTION_REFUSED, EventCode.CLAMPED) else number
    assert event_text(CarEvent(1, 2, code, number, b))


def test_a_drive_s_own_events_read_well():
    drive = Drive(Rig("a"))
    drive.arm()
    drive.go()
    drive.advance(0.2)
    text = [event_text(event, vehicle()) for event in drive.rigs[0].car.events]
    assert "started: it was switched on" in text
    assert "armed in profile track, 2 m/s at most" in text
    assert "source script engaged, of session 0" in text
    assert "stop source seat is there" in text
