"""Every event of a car is a sentence, with names where they are known."""

from __future__ import annotations

import pytest

from host_bridge.core import NOBODY, CarEvent, EventCode, event_text
from tests.host_bridge.drive.drives import Drive, Rig, vehicle

SAID = [
    (EventCode.STATE_CHANGED, 3, 2, "ARMED to DRIVING"),
    (EventCode.ACTION_TAKEN, 1, 4, "arm done by the transmitter's gesture"),
    (EventCode.ACTION_REFUSED, 1, 0b10_0000_0100, "arm refused: a stop is locked"),
    (EventCode.WINNER_CHANGED, 1, NOBODY, "nobody drives now"),
    (
        EventCode.SOURCE_LOST,
        1,
        2 << 8,
        "the driver's seat is not followed (drive): another one has priority",
    ),
    (
        EventCode.SOURCE_LOST,
        1,
        3 << 8 | 1,
        "the driver's seat is not followed (steering, drive): its command",
    ),
    (EventCode.SOURCE_LOST, 1, 6 << 8 | 2, "(drive, brake): nobody holds it"),
    (EventCode.SOURCE_LOST, 1, 2 << 8 | 3, "it did not begin at neutral"),
    (EventCode.SOURCE_LOST, 1, 2 << 8 | 4, "it has to be let go first"),
    (EventCode.SOURCE_LOST, 1, 2 << 8 | 5, "nobody lets it drive alone"),
    (EventCode.SOURCE_LOST, 1, 2 << 8 | 6, "it keeps repeating one value"),
    (
        EventCode.SOURCE_LOST,
        1,
        2,
        "the driver's seat is not followed (what it wants): nobody holds it",
    ),
    (EventCode.STARTED, 1, 2, "and the watchdog restarted it, after 2 starts that did not last"),
    (EventCode.PROFILE, 2, 2500, "armed for Race, 2.5 m/s at most"),
    (EventCode.SPEED_CAP, 300, 1, "the cap is 0.3 m/s now (session 1)"),
    (EventCode.STOP_SOURCE, 3, 2, "the driver's seat says stop"),
    (EventCode.STOP_SOURCE, 2, 0, "this car's host program is silent"),
    (EventCode.BATTERY, 1, 10_400, "battery low, 10.4 V"),
    (
        EventCode.CLAMPED,
        1,
        0b11,
        "the driver's seat asks for more than the car may: steering, drive",
    ),
    (EventCode.IMU, 0, 0, "the IMU is silent: the car reckons by its steering"),
    (EventCode.IMU, 1, 0, "the IMU is there again"),
    (
        EventCode.BEAT,
        0,
        11_400,
        "it misses too many control periods to be armed: a step takes 11.4 ms",
    ),
    (EventCode.BEAT, 1, 8_640, "it keeps its control period again: a step takes 8.6 ms"),
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
    assert "armed for Track, 2 m/s at most" in text
    assert "the program took over (session 0)" in text
    assert "the driver's seat is there" in text
