"""Every timer across every wrap: the same drive, begun at any time, takes the same course.

A drive is told without times of the board or of a session: state, causes, wires and reports beat
by beat. It must not depend on where the clocks began. Wraps fall two seconds into each part of it.
"""

import pytest

from firmware.protocol import codes
from sim_mock.board.transmitter import Transmitter
from sim_mock.sensors.encoder import EncoderPair
from sim_mock.world import World
from tests.safety.ways.ways import Autonomous, Race, Rc, Stand, Way
from tests.support.evidence import every

PERIOD = 1 << 30
STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
SILENCE_BIT, STOP_SOURCE_SILENT_BIT, STAND_OVER_BIT = 1 << 3, 1 << 11, 1 << 12
TIMELESS = (
    "state",
    "causes",
    "faults",
    "target_mm_s",
    "speed_mm_s",
    "drive_source",
    "steer_50urad",
)
# seconds after power-up at which the wrap comes
MOMENTS_S = (1.5, 3.0, 5.0)
WRAPS = ("board", "board, half", "session")


class ShortStand(Stand):
    parameters = {"stand_ms": 2_500}  # noqa: RUF012 - the wrap falls into it


class Course:
    """What a car did, beat by beat."""

    def __init__(self, way: type, start_us: int = 0, ahead_us: int = 0, **changes) -> None:
        self.car = way("f1tenth", start_us=start_us)
        for host in (self.car.host, *self.car.others):
            host.clock_ahead_us = ahead_us
            for name, value in changes.items():
                setattr(host, name, value)
        self.trace: list[tuple] = []
        self._beat, self.car.host.beat = self.car.host.beat, self._watched

    def _watched(self) -> None:
        self._beat()
        world, status = self.car.world, self.car.host.status
        told = tuple(str(getattr(status, name)) for name in TIMELESS)
        self.trace.append((*told, tuple(world.values), world.enable))

    def causes(self) -> int:
        return self.car.host.status.causes


def drives_and_falls_silent(course: Course) -> None:
    car = course.car
    car.begin()
    car.drive(1500, 2000)
    car.let_go(800)
    car.hold()
    car.drive(50, 0)
    car.drive(1000, 2000)
    car.vanish()
    car.rest(250)
    assert car.state == STOPPED
    assert course.causes() == SILENCE_BIT


def loses_its_box(course: Course) -> None:
    car = course.car
    car.begin()
    car.drive(2000, 2000)
    car.press_box = lambda runs: None
    car.drive(1500, 2000)
    assert car.state == STOPPED
    assert course.causes() == STOP_SOURCE_SILENT_BIT


def stands_too_long(course: Course) -> None:
    car = course.car
    car.begin()
    while car.state == ACTIVE:
        car.drive(100, 800)
    assert course.causes() == STAND_OVER_BIT
    car.drive(1000, 0)


def is_armed_and_left(course: Course) -> None:
    """Nobody comes for three seconds, and the gates of all sources wait for a person."""
    car = course.car
    car.take_up()
    car.let_go(50)
    assert car.arm() == 0
    car.vanish()
    car.rest(400)
    assert car.state == STOPPED


def gestures_and_is_lost(course: Course) -> None:
    car = course.car
    car.begin()
    car.drive(1000, 1500)
    car.let_go(300)
    car.hold()
    car.drive(100, 0)
    car.drive(500, 1500)
    car.vanish()
    car.rest(200)
    assert car.state == STOPPED


DRIVES = {
    drives_and_falls_silent: Way, loses_its_box: Race, stands_too_long: ShortStand,
    is_armed_and_left: Autonomous, gestures_and_is_lost: Rc,
}  # fmt: skip


def clocks(wrap: str, moment_s: float) -> dict[str, int]:
    """Where they begin, for this wrap to come at this moment."""
    period = PERIOD // 2 if wrap.endswith("half") else PERIOD
    begin_us = period - round(moment_s * 1e6)
    return {"start_us": begin_us} if wrap.startswith("board") else {"ahead_us": begin_us}


@pytest.fixture(scope="module")
def references():
    found = {}
    for drive, way in DRIVES.items():
        found[drive] = Course(way)
        drive(found[drive])
    return found


def assert_same_course(references, drive, course: Course) -> None:
    drive(course)
    first = [a == b for a, b in zip(course.trace, references[drive].trace, strict=True)]
    assert every(first), f"another course from beat {first.index(False)} on"


@pytest.mark.parametrize("wrap", WRAPS)
@pytest.mark.parametrize("drive", DRIVES, ids=lambda drive: drive.__name__)
def test_a_drive_takes_the_same_course_across_every_wrap(references, drive, wrap):
    for moment_s in MOMENTS_S:
        assert_same_course(references, drive, Course(DRIVES[drive], **clocks(wrap, moment_s)))


def test_a_timer_that_does_not_wrap_takes_another_course(references, monkeypatch):
    """The comparison can fail: a deadline that compares plain numbers."""
    monkeypatch.setattr(
        "firmware.core.deadlines.elapsed_us", lambda now_us, then_us: now_us - then_us
    )
    with pytest.raises(AssertionError):
        assert_same_course(references, drives_and_falls_silent, Course(Way, **clocks("board", 3.0)))


@pytest.mark.parametrize("before", [10, 150, 400])
def test_a_drive_takes_the_same_course_across_the_wrap_of_all_sequences(references, before):
    """Of claims, heartbeats and the input device's reports: 16 bits each."""
    for drive in (drives_and_falls_silent, loses_its_box):
        course = Course(DRIVES[drive], sequence=0xFFFF - before, input_count=0xFFFF - before)
        drive(course)
        assert course.trace == references[drive].trace


@pytest.mark.parametrize("counts_before", [1, 200, 1000])
def test_a_drive_takes_the_same_course_across_the_wrap_of_the_wheel_counts(
    references, monkeypatch, counts_before
):
    seen, counts = [], EncoderPair.counts

    def ahead(encoder: EncoderPair) -> tuple[int, ...]:
        seen.append(tuple((count - counts_before) % PERIOD for count in counts(encoder)))
        return seen[-1]

    monkeypatch.setattr(EncoderPair, "counts", ahead)
    for drive in (drives_and_falls_silent, loses_its_box):
        assert_same_course(references, drive, Course(DRIVES[drive]))
        assert seen[0] > (PERIOD // 2,) * 2
        assert seen.pop() < (PERIOD // 2,) * 2
        seen.clear()


@pytest.mark.parametrize("frames_before", [1, 60, 130])
def test_a_drive_takes_the_same_course_across_the_wrap_of_a_receivers_frames(
    references, monkeypatch, frames_before
):
    taken_up = World.attach_rc

    def long_on(world: World) -> Transmitter:
        transmitter = taken_up(world)
        transmitter._frames = PERIOD - frames_before
        return transmitter

    monkeypatch.setattr(World, "attach_rc", long_on)
    course = Course(Rc)
    assert_same_course(references, gestures_and_is_lost, course)
    assert course.car.transmitter.readings()[4] < PERIOD // 2


def test_counts_of_claims_and_numbers_of_events_wrap_and_nothing_else_happens(references):
    course = Course(Way)
    app = course.car.world.runner.app
    app.events.next_number = app.events.next_sent = 0xFFFF - 8
    course.car.take_up()
    course.car.let_go(50)
    app.sessions.slots[0].claim_count = 0xFFFF - 20
    assert course.car.arm() == 0
    course.car.let_go(50)
    course.car.hold()
    course.car.drive(300, 0)
    assert course.car.state == ACTIVE
    assert course.car.host.status.claim_count < 60
    course.car.host.stop()
    course.car.drive(500, 0)
    told = {event[1] for event in course.car.host.events}
    assert {codes.EVENT_STOP_LATCHED, codes.EVENT_PROFILE, codes.EVENT_SOURCE_ENGAGED} <= told
    assert app.events.next_number < 30
