"""A car that holds a runstop box's key needs that box, on a stand alone it does not: whatever its
vehicle file says, until the key is forgotten by its cable."""

import pytest

from firmware.protocol import codes
from sim_mock.board.firmware_runner import FlashContents, SubprocessRunner
from sim_mock.board.pairing_keys import stored_key
from sim_mock.board.stored_image import board_id_of, stored_image
from tests.firmware.copies import saved
from tests.firmware.core.desk import parameters_of
from tests.firmware.test_box import OTHER_KEY, SILENCE_MS, STEP_MS, Driven, box_of
from tests.firmware.worlds import HEAP_LOCKED, micropython_command
from tests.safety.support.desk import Facts
from tests.safety.support.paired_box import flash_of
from tests.safety.ways.ways import ACTIVE, BOX, RACE, STAND, TRACK

STANDBY = codes.STANDBY
MISSING = 1 << codes.REFUSED_STOP_SOURCE
VEHICLES = ("nigel", "f1tenth", "f1tenth_vesc", "autorally")
NEED, KIND = "stop_source_need", "stop_source_kind"
# What is stored of a key that is none of this board's box: whole, and yet not to be believed
LOST = {
    "too short": lambda key: key[:-1],
    "too long": lambda key: key + b"\0",
    "of another board": lambda key: key[:16] + b"\1" + key[17:],
    "rubbish": lambda key: b"\xff",
}


class Day(Driven):
    """A drive in the profile that each vehicle file gives it, in which a box is optional."""

    profile = TRACK

    def __init__(self, vehicle="f1tenth", image=None, changes=None, **options) -> None:
        if image is None:
            image = flash_of(Facts(vehicle, **(changes or {})))
        super().__init__(vehicle, image=image, **options)

    def missed(self, profile: int) -> bool:
        """Whether an arm in this profile is refused for the box alone."""
        self.profile = profile
        refusals = self.arm()
        if not refusals:
            self.let_go(20)
            self.host.act(codes.ACTION_DISARM)
            self.let_go(100)  # until its contact is seen open
            assert self.state == STANDBY
            return False
        assert refusals == MISSING, hex(refusals)
        assert self.host.latest["ActReply"].stop_sources == 1 << BOX
        return True


def stands_by(**options) -> Day:
    car = Day(**options)
    car.take_up()
    car.let_go(500)
    return car


def key_of(vehicle: str, change) -> FlashContents:
    """A flash whose key was changed so."""
    image = flash_of(Facts(vehicle))
    return FlashContents(bytes(image), change(image.key))


def never_paired(vehicle: str = "f1tenth") -> bytes:
    return stored_image(Facts(vehicle), board_id_of(vehicle), vehicle)


def driven(**options) -> Day:
    car = Day(**options)
    car.begin()
    car.come_to_speed()
    return car


@pytest.fixture(scope="module")
def of():
    return saved(driven())


# --- while it drives


@pytest.mark.parametrize("what", ["box_lives", "radio_is_up"])
def test_a_box_switched_off_and_an_aerial_taken_off_stop_it_in_track(of, what):
    car = of()
    setattr(car, what, False)
    assert car.ms_until(lambda: car.state != ACTIVE) <= SILENCE_MS + STEP_MS
    assert car.host.status.causes == 1 << codes.CAUSE_STOP_SOURCE_SILENT
    car.drive(100, 0)  # events come in turn
    assert car.host.has_event(codes.EVENT_STOP_LATCHED, codes.CAUSE_STOP_SOURCE_SILENT, BOX)


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_each_vehicle_stops_without_its_box(vehicle):
    car = driven(vehicle=vehicle)
    car.box_lives = False
    assert car.ms_until(lambda: car.state != ACTIVE) <= SILENCE_MS + STEP_MS
    assert car.host.status.causes == 1 << codes.CAUSE_STOP_SOURCE_SILENT


def test_it_drives_on_only_with_its_box_a_clear_and_an_arm(of):
    car = of()
    car.box_lives = False
    car.drive(3000, car.cruise_mm_s)
    car.let_go(50)
    assert car.clear() == 0
    assert car.arm() == MISSING
    car.box_lives = True
    car.let_go(300)
    assert car.state == STANDBY, "a box that comes back arms nothing"
    assert car.arm() == 0


def test_another_cars_box_lets_nothing_run(of):
    car = of()
    car.box = box_of(OTHER_KEY, "blue", seed=9)
    assert car.ms_until(lambda: car.state != ACTIVE) <= SILENCE_MS + STEP_MS
    assert car.host.status.causes == 1 << codes.CAUSE_STOP_SOURCE_SILENT
    car.drive(3000, 0)
    assert car.pairing == codes.PAIRING_STRANGE
    car.let_go(50)
    assert car.clear() == 0
    assert car.arm() == MISSING


# --- before it is armed


@pytest.mark.parametrize("vehicle", VEHICLES)
def test_without_its_box_it_is_armed_on_a_stand_only(vehicle):
    car = stands_by(vehicle=vehicle)
    car.box_lives = False
    car.let_go(500)
    assert car.missed(TRACK)
    assert not car.missed(STAND)


def test_a_car_on_a_stand_is_not_stopped_by_its_boxs_silence():
    car = stands_by()
    car.profile = STAND
    car.box_lives = False
    car.let_go(500)
    assert car.arm() == 0
    car.let_go(50)
    car.hold()
    car.drive(600, 0)
    assert car.state == ACTIVE


# What a vehicle file may say of its box: nothing of it counts for a car that has a key
FILES = {
    "not needed": {NEED: {p * 16 + BOX: codes.NOT_NEEDED for p in range(3)}},
    "optional": {NEED: {p * 16 + BOX: codes.OPTIONAL for p in range(3)}},
    "not there": {KIND: {BOX: codes.STOP_SOURCE_NONE}},
    "by any host": {KIND: {BOX: codes.STOP_SOURCE_LINK}},
}


@pytest.mark.parametrize("changes", FILES.values(), ids=FILES)
def test_no_vehicle_file_takes_it_away(changes):
    car = stands_by(changes=changes)
    assert car.pairing == codes.PAIRING_ANSWERS
    assert [car.missed(profile) for profile in (TRACK, RACE)] == [False, False]
    car.box_lives = False
    car.let_go(500)
    assert [car.missed(profile) for profile in (TRACK, RACE, STAND)] == [True, True, False]


# --- the key


@pytest.mark.parametrize("damage", LOST.values(), ids=LOST)
def test_a_key_that_was_lost_is_no_reason_to_go_without_the_box(damage):
    car = stands_by(image=key_of("f1tenth", damage))
    assert not car.world.runner.app.board.key
    assert [car.missed(profile) for profile in (TRACK, RACE, STAND)] == [True, True, False]


def test_a_key_is_lost_between_two_starts():
    car = stands_by()
    assert not car.missed(TRACK)
    car.world.runner._key = car.world.runner._key[:-1]
    car.world.restart(codes.RESET_POWER_ON)
    car.take_up()
    car.let_go(1500)
    assert car.missed(TRACK)


def test_a_board_without_a_cipher_needs_the_box_that_it_cannot_know(monkeypatch):
    import firmware.core.stops.tag

    def missing(key):
        raise ValueError("this MicroPython has no AES")

    monkeypatch.setattr(firmware.core.stops.tag, "block_cipher", missing)
    car = stands_by()
    assert car.pairing == codes.PAIRING_NO_CIPHER
    assert car.missed(TRACK)


def test_it_is_optional_again_once_the_key_is_forgotten_by_cable():
    """As ``tandem pair --forget`` writes it; and as it was before the car was ever paired."""
    forgotten = stored_key(bytes(16), board_id_of("f1tenth"))
    for image in (FlashContents(never_paired(), forgotten), FlashContents(never_paired())):
        car = stands_by(image=image)
        car.box_lives = False
        car.let_go(300)
        assert car.pairing == codes.PAIRING_NO_KEY
        assert [car.missed(profile) for profile in (TRACK, RACE, STAND)] == [False, True, False]


def test_a_new_configuration_does_not_make_it_optional():
    car = stands_by()
    app = car.world.runner.app
    app.configure(parameters_of(app))  # as after each commit
    car.box_lives = False
    car.let_go(500)
    assert car.missed(TRACK)


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_under_micropython_it_stops_and_is_refused_with_the_same_bytes(bits):
    def runner(board_id, image, seed):
        return SubprocessRunner(micropython_command(bits), board_id, image, seed, HEAP_LOCKED)

    ours, theirs = driven(), driven(runner=runner)
    rubbish = key_of("f1tenth", LOST["rubbish"])
    lost = [stands_by(image=rubbish, **options) for options in ({}, {"runner": runner})]
    try:
        for car in (ours, theirs):
            car.box_lives = False
            car.drive(3000, 0)
            assert car.state == codes.STOPPED
            car.let_go(50)
            assert car.clear() == 0
            assert car.arm() == MISSING
        assert [car.missed(TRACK) for car in lost] == [True, True]
        assert theirs.host.received == ours.host.received
        assert lost[1].host.received == lost[0].host.received
    finally:
        for car in (theirs, lost[1]):
            car.world.close()
