"""A simulator that does not do what it is told is told as that, before it looks like a fault."""

import pytest

from firmware.protocol import codes
from sim_mock.autodrive.transport import COMES_S, NoticeFilter
from tests.sim_mock.autodrive.test_driving import in_motion

STOPPED = (codes.STOPPING, codes.STOPPED)


def what_it_says(drive, ms=1500, speed_mm_s=200):
    """The fault text as it comes, and the car's state at last."""
    said = []
    for _ in range(ms // 10):
        drive.host.drive(10, speed_mm_s)
        if drive.plant.fault_text and drive.plant.fault_text not in said:
            said.append(drive.plant.fault_text)
    return said, drive.host.state


@pytest.mark.parametrize("rate_hz", [30, 130])
def test_in_manual_it_is_told_to_press_driving_mode_and_the_car_is_stopped_not_faulty(rate_hz):
    drive = in_motion(rate_hz=rate_hz)
    drive.unity.is_manual = True
    said, state = what_it_says(drive)
    assert len(said) == 1
    assert "is in Manual: press its Driving Mode" in said[0]
    assert state in STOPPED
    assert drive.host.status.faults == 0


def test_a_paused_one_that_still_answers_is_told_as_that():
    drive = in_motion()
    drive.unity.is_paused = True
    said, state = what_it_says(drive)
    assert len(said) == 1
    assert "nothing moves in the simulator: it is paused" in said[0]
    assert state in STOPPED
    assert drive.host.status.faults == 0


def test_one_that_is_gone_is_told_as_that():
    drive = in_motion()
    drive.is_there = False
    said, state = what_it_says(drive)
    assert said == ["the simulator has fallen silent"]
    assert state in STOPPED
    drive.plant.lose()
    assert "press Connect in it" in drive.plant.fault_text


def test_one_that_drives_is_no_trouble_at_any_speed_nor_at_rest():
    drive = in_motion()
    for speed_mm_s in (0, 100, 200, 0, 50, 200):
        said, _ = what_it_says(drive, 800, speed_mm_s)
        assert said == []
    assert drive.host.state in (codes.ACTIVE, codes.HOLD)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", ["opencav", "rzr"])
def test_a_gearbox_that_shifts_is_no_trouble(name):
    drive = in_motion(name, speed_mps=1.0, for_ms=10)
    said, _ = what_it_says(drive, 3000, 1000)
    assert said == []
    assert drive.unity.speed > 0.5


def test_one_that_comes_soon_is_not_told_to_come_and_one_that_goes_is_missed_at_once():
    opened_us, late_us = 7_000_000, 7_000_000 + round(COMES_S * 1e6)
    prompt = NoticeFilter(opened_us)
    steps = [("absent", opened_us), ("absent", late_us - 1), ("", late_us - 1), ("absent", late_us)]
    assert [prompt.of(*step) for step in steps] == ["", "", "", "absent"]
    tardy = NoticeFilter(opened_us)
    steps = [
        ("absent", late_us),
        ("absent", late_us + 1),
        ("", late_us + 2),
        ("paused", late_us + 3),
    ]
    assert [tardy.of(*step) for step in steps] == ["absent", "", "", "paused"]


def test_a_simulator_that_never_came_is_missed_at_the_end_if_it_was_not_told_before():
    early, late, there = NoticeFilter(0), NoticeFilter(0), NoticeFilter(0)
    assert (early.of("absent", 1), early.last("absent")) == ("", "absent")
    assert (late.of("absent", round(COMES_S * 1e6)), late.last("absent")) == ("absent", "")
    assert (there.of("", 1), there.of("absent", 2), there.last("absent")) == ("", "absent", "")
