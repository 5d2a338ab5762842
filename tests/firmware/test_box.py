"""The runstop box: its program on a radio to a car, both in virtual time."""

import pytest

from firmware.protocol import codes
from sim_mock.board.firmware_runner import SubprocessRunner
from sim_mock.board.pairing_keys import stored_key
from sim_mock.board.runstop_box import BOARD_ID, VirtualRunstopBox
from tests.firmware.copies import saved
from tests.firmware.worlds import HEAP_LOCKED, micropython_command
from tests.safety.ways.ways import ACTIVE, BOX, Race

GREEN, RED, YELLOW = 1, 2, 4
STEP_MS, SILENCE_MS = 10, 250
ANSWERED_MS = 200  # what the green lamp promises
STOPPED, STANDBY = codes.STOPPED, codes.STANDBY
KEY, OTHER_KEY = b"a key of 16 byte", b"another 16 bytes"


def box_of(key=KEY, car_name="red", **options) -> VirtualRunstopBox:
    return VirtualRunstopBox(key=stored_key(key, BOARD_ID, car_name) if key else b"", **options)


class Driven(Race):
    """A race, in which the box is the real program at the end of a radio, not a test's words.

    ``others`` are other boxes on the same net: they hear the car, and it hears them first.
    """

    key = KEY

    def __init__(self, vehicle="f1tenth", box=None, late_beats=0, others=(), **options) -> None:
        super().__init__(vehicle, **options)
        self.others = []
        self.box = box or box_of()
        self.other_boxes = list(others)
        self.radio_is_up = True
        self.box_lives = True
        self.said: list[bytes] = []
        self._on_the_way = [b""] * late_beats

    def let_others_say(self) -> None:
        """What the box says arrives so many beats later; the car's words at the box at once."""
        for other in self.other_boxes:
            self.world.feed(other.beat(self.world.now_us + 3_000))
        said = self.box.beat(self.world.now_us + 3_000) if self.box_lives else b""
        self._on_the_way.append(said)
        arrived = self._on_the_way.pop(0)
        if self.radio_is_up:
            self.world.feed(arrived)
            self.said.append(arrived)
        if not self.host.received:
            return
        for other in self.other_boxes:
            other.feed(self.host.received[-1])
        if self.box_lives and self.radio_is_up:
            self.box.feed(self.host.received[-1])

    def ms_until(self, is_so) -> int:
        for ms in range(0, 1000, STEP_MS):
            if is_so():
                return ms
            self.beat()
        raise AssertionError("not within a second")

    @property
    def pairing(self) -> int:
        return self.host.latest["Inputs"].charger_pairing >> 1


def begun(**options) -> Driven:
    car = Driven(**options)
    car.begin()
    car.come_to_speed()
    return car


@pytest.fixture(scope="module")
def of():
    return saved(begun())


def test_a_car_that_requires_it_is_armed_only_with_it():
    car = Driven()
    car.box_lives = False
    car.take_up()
    car.let_go(500)
    assert car.arm() & 1 << codes.REFUSED_STOP_SOURCE
    car.box_lives = True
    car.let_go(500)
    assert car.box.leds == GREEN
    assert car.arm() == 0


def test_the_button_stops_it_on_the_next_steps_and_is_reported_by_name(of):
    car = of()
    car.box.is_pressed = True
    assert car.ms_until(lambda: car.state != ACTIVE) <= 2 * STEP_MS
    both = 1 << codes.CAUSE_STOP_SOURCE | 1 << codes.CAUSE_STOP_REQUEST
    assert car.host.status.causes == both
    assert car.box.leds & RED
    assert car.host.latest["StopSeen"].sender == codes.SENDER_RUNSTOP_BOX
    assert bytes(car.host.latest["StopSeen"].sender_name).rstrip(b"\0") == b"box of red"
    car.drive(100, 0)  # events come in turn
    assert car.host.has_event(codes.EVENT_STOP_LATCHED, codes.CAUSE_STOP_SOURCE, BOX)


def test_while_it_is_pressed_nothing_is_cleared_and_released_it_starts_nothing(of):
    car = of()
    car.box.is_pressed = True
    car.drive(4000, 0)
    assert car.state == STOPPED
    car.let_go(100)
    assert car.clear() & 1 << codes.REFUSED_CAUSE_PRESENT
    car.box.is_pressed = False
    car.drive(300, car.cruise_mm_s)
    assert car.state == STOPPED
    car.clear_and_arm()
    assert car.state == ACTIVE


@pytest.mark.parametrize("what", ["radio_is_up", "box_lives"])
def test_a_lost_radio_and_a_dead_box_stop_it_in_time(of, what):
    car = of()
    setattr(car, what, False)
    assert car.ms_until(lambda: car.state != ACTIVE) <= SILENCE_MS + STEP_MS
    assert car.host.status.causes == 1 << codes.CAUSE_STOP_SOURCE_SILENT


def test_a_pressed_button_is_heard_when_the_radio_comes_back(of):
    """A Stop is said until its car has answered a word that was said since."""
    car = of()
    car.radio_is_up = False
    car.drive(50, car.speed_mm_s)
    car.box.is_pressed = True
    car.drive(100, car.speed_mm_s)
    assert car.state == ACTIVE
    car.radio_is_up = True
    assert car.ms_until(lambda: car.state != ACTIVE) <= 3 * STEP_MS
    car.drive(100, 0)
    sent = len(b"".join(car.said[-5:]))
    car.said.clear()
    car.drive(100, 0)
    assert len(b"".join(car.said[-5:])) <= sent  # no Stop any more: it was seen
    assert car.box.leds == RED | GREEN


def test_a_car_that_began_anew_is_found_again(of):
    car = of()
    car.world.restart(codes.RESET_WATCHDOG)
    car.let_go(4000)
    assert car.box.leds == GREEN
    assert car.host.latest["Inputs"].stop_fresh >> BOX & 1
    assert car.pairing == codes.PAIRING_ANSWERS


def test_a_box_that_began_anew_is_taken_again(of):
    """It numbers its words anew; the old one's have ended, so it may speak."""
    car = of()
    car.box = box_of(seed=7)
    car.drive(600, 0)
    assert car.state in (codes.STOPPING, STOPPED)
    car.drive(3000, 0)
    assert car.box.leds == GREEN
    car.clear_and_arm()
    assert car.state == ACTIVE


def test_a_radio_that_is_15_ms_late_each_way_is_soon_enough():
    car = begun(late_beats=1)
    car.drive(3000, car.cruise_mm_s)
    assert car.state == ACTIVE
    assert car.box.leds == GREEN


def test_a_car_too_far_away_lights_yellow():
    car = Driven()
    car.radio_is_up = False
    car.take_up()
    car.let_go(500)
    assert car.box.leds == YELLOW


def test_green_is_the_answer_of_its_own_car_within_200_ms(of):
    car = of()
    assert car.box.leds == GREEN
    car.radio_is_up = False
    assert 0 < car.ms_until(lambda: car.box.leds == YELLOW) <= ANSWERED_MS + STEP_MS


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_the_same_bytes_under_micropython_and_nothing_allocated(bits):
    def runner(board_id, image, seed):
        return SubprocessRunner(
            micropython_command(bits), board_id, image, seed, HEAP_LOCKED, kind="unix-box"
        )

    ours = begun()
    boxed = box_of(runner=runner)
    try:
        theirs = begun(box=boxed)
        for car in (ours, theirs):
            car.box.is_pressed = True
            car.drive(300, 0)
            car.box.is_pressed = False
            car.drive(200, 0)
        assert b"".join(theirs.said) == b"".join(ours.said)
        assert ours.said
    finally:
        boxed.close()
