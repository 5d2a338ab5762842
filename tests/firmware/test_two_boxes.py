"""Boxes belong to their cars: two cars and two boxes on one radio net, and who lies there."""

import copy
from itertools import permutations

import pytest

from firmware.c_library import WHITENED
from firmware.protocol import codes, messages
from host_bridge.deploy.hil.host.small_host import framed
from sim_mock.board.firmware_runner import SubprocessRunner
from sim_mock.board.pairing_keys import stored_key
from tests.firmware.copies import saved
from tests.firmware.test_box import (
    ANSWERED_MS,
    GREEN,
    KEY,
    OTHER_KEY,
    RED,
    SILENCE_MS,
    STEP_MS,
    STOPPED,
    YELLOW,
    Driven,
    begun,
    box_of,
)
from tests.firmware.worlds import HEAP_LOCKED, micropython_command
from tests.safety.support.paired_box import PairedBox, flash_of
from tests.safety.ways.ways import ACTIVE, BOX, Facts
from tests.support.evidence import some

STRANGE_BOX = BOX + codes.STOP_SOURCE_STRANGE


def other_box(seed=99):
    """Of a car that is not here."""
    return box_of(OTHER_KEY, "blue", seed=seed)


def stopped_by(car) -> list[int]:
    """The stop source that each of its stops was blamed on."""
    car.drive(100, 0)
    latched = (codes.EVENT_STOP_LATCHED, codes.CAUSE_STOP_SOURCE)
    return [b for _, code, a, b in car.host.events if (code, a) == latched]


def nobody_speaks() -> None:
    """In place of the others of a car whose box is heard over the air."""


class Net:
    """Two cars and their boxes on one radio net: whatever one says, all hear."""

    def __init__(self) -> None:
        facts = Facts("f1tenth")
        self.cars = [
            Driven(name=name, box=box_of(key, name, seed=seed), image=flash_of(facts, key, name))
            for seed, (key, name) in enumerate(((A, "red"), (B, "blue")))
        ]
        self.boxes = [car.box for car in self.cars]
        self.dead: set[str] = set()
        for car in self.cars:
            car.let_others_say = nobody_speaks

    def beat(self, speeds=(0, 0)) -> None:
        now_us = self.cars[0].world.now_us + 3_000
        air = b"".join(
            box.beat(now_us)
            for name, box in zip("ab", self.boxes, strict=True)
            if f"box {name}" not in self.dead
        )
        for name, car, speed in zip("ab", self.cars, speeds, strict=True):
            if f"car {name}" in self.dead:
                car.world.now_us += 10_000  # it is switched off, and time goes on
                continue
            car.world.feed(air)
            car.speed_mm_s = speed
            car.beat()
            for box in self.boxes:
                box.feed(of_radio(car.host.received[-1]))

    def run(self, ms: int, speeds=(0, 0)) -> None:
        for _ in range(ms // STEP_MS):
            self.beat(speeds)


A, B = b"the key of car a", b"the key of car b"


def of_radio(said: bytes) -> bytes:
    """What a radio carries of a car's words."""
    from host_bridge.sharing.owner.radio_filter import RadioFilter

    return RadioFilter().outgoing(said)


@pytest.fixture(scope="module")
def both_drive():
    net = Net()
    for car in net.cars:
        car.take_up()
    net.run(500)
    for i in (0, 1):
        arm(net, i)
    net.run(50)
    for car in net.cars:
        car.hold()
    net.run(50)
    net.run(1500, (1500, 1500))
    assert [car.state for car in net.cars] == [ACTIVE, ACTIVE]
    return saved(net)


def arm(net, which: int) -> None:
    """In two steps, while all the others go on."""
    car = net.cars[which]
    config_hash = bytes(car.host.latest["Identity"].config_hash)
    fields = {"action": codes.ACTION_ARM, "value": car.profile, "config_hash": config_hash}
    for other in net.cars:
        other.deadman = 0
    net.run(100)
    car.host.say(messages.Act, nonce=0, **fields)
    net.run(20)
    car.host.say(messages.Act, nonce=car.host.latest["ActReply"].nonce, **fields)
    net.run(20)
    assert car.host.latest["ActReply"].refusals == 0


def test_each_box_lights_for_its_own_car(both_drive):
    net = both_drive()
    assert [box.leds for box in net.boxes] == [GREEN, GREEN]
    net.dead = {"car a"}
    net.run(ANSWERED_MS + 2 * STEP_MS, (1500, 1500))
    assert [box.leds for box in net.boxes] == [YELLOW, GREEN]
    assert net.cars[1].state == ACTIVE


@pytest.mark.parametrize(
    "order", list(permutations(("box a", "box b", "car a", "car b"))), ids=" ".join
)
def test_in_every_order_of_dying_each_car_loses_its_own_box_only(both_drive, order):
    net = both_drive()
    for who in some(order):
        net.dead.add(who)
        net.run(SILENCE_MS + 2 * STEP_MS, (1500, 1500))
        for name, car, box in some(zip("ab", net.cars, net.boxes, strict=True)):
            if f"car {name}" not in net.dead:
                assert (car.state == ACTIVE) == (f"box {name}" not in net.dead), name
            if f"box {name}" not in net.dead:
                assert (box.leds == GREEN) == (f"car {name}" not in net.dead), name


@pytest.mark.parametrize("when", ["before", "after"])
def test_the_death_of_its_own_box_is_noticed_while_another_one_speaks(when):
    """Whoever spoke for the box's id first kept it: then its car drove on without its own."""
    car = Driven(others=[other_box()])
    if when == "before":
        car.box_lives = False
        car.take_up()
        car.let_go(1000)
        car.box_lives = True
    car.begin()
    car.come_to_speed()
    car.box_lives = False
    assert car.ms_until(lambda: car.state != ACTIVE) <= SILENCE_MS + STEP_MS
    assert car.host.status.causes == 1 << codes.CAUSE_STOP_SOURCE_SILENT


def test_another_cars_box_arms_nothing_and_lights_for_nobody():
    car = Driven(box=other_box())
    car.take_up()
    car.let_go(1000)
    assert car.arm() & 1 << codes.REFUSED_STOP_SOURCE
    assert car.pairing == codes.PAIRING_STRANGE
    assert car.box.leds == YELLOW


def test_the_stop_of_another_cars_box_is_obeyed_and_named():
    car = begun(others=[other_box()])
    car.other_boxes[0].is_pressed = True
    assert car.ms_until(lambda: car.state != ACTIVE) <= 2 * STEP_MS
    assert stopped_by(car) == [STRANGE_BOX]
    assert bytes(car.host.latest["StopSeen"].sender_name).rstrip(b"\0") == b"box of blue"
    assert car.box.leds == GREEN
    assert car.other_boxes[0].leds == RED | YELLOW


def test_that_another_car_saw_its_stop_does_not_end_it():
    """Until its own has: the other's acknowledgement is on the air, too."""
    box = box_of()
    seen = messages.StopSeen()
    said = b""
    for beat in range(100):
        box.is_pressed = beat == 50
        said += box.beat(beat * 10_000)
        seen.sender = codes.SENDER_RUNSTOP_BOX
        seen.token = box.runner.app._stop.token
        box.feed(framed(seen))
    assert said.count(framed(box.runner.app._stop)) == 25, "it is said again and again"


def test_recorded_words_keep_nothing_moving():
    """Of this very session, said again at once, in a while, and when all times are as they were."""
    car = begun()
    heard = list(car.said)
    period_us = 1 << 30
    car.box_lives = False
    at = car.world.now_us
    for word in heard[-30:]:
        car.world.feed(word)
        car.beat()
    assert car.state != ACTIVE
    assert car.host.status.causes == 1 << codes.CAUSE_STOP_SOURCE_SILENT
    sources = car.world.runner.app.stop_sources
    pairing = car.world.runner.app.pairing
    pairing._spoken.set(at & period_us - 1, 1)
    for word in heard[-30:]:
        car.world.feed(word)
        car.beat()
        assert not sources.fresh >> BOX & 1


def test_words_to_a_car_that_began_anew_since_count_for_nothing(of_words):
    car, heard = of_words
    car.world.restart(codes.RESET_WATCHDOG)
    car.box_lives = False
    for word in some(heard * 3):
        car.world.feed(word)
        car.host.beat()
        assert not car.world.runner.app.stop_sources.fresh >> BOX & 1


def test_words_of_the_boxs_older_start_count_for_nothing(of_words):
    car, heard = of_words
    car.box = box_of(seed=31)
    car.drive(1500, 0)
    sources = car.world.runner.app.stop_sources
    assert sources.fresh >> BOX & 1
    car.box_lives = False
    for word in heard * 2:
        car.world.feed(word)
        car.beat()
    assert not sources.fresh >> BOX & 1


@pytest.fixture
def of_words():
    car = begun()
    car.said.clear()
    car.drive(300, car.cruise_mm_s)
    return car, list(car.said)


# --- word by word, by a box that shares no code with the car


class Written(Driven):
    """Its box's words are a test's: ``box`` is tests/safety/support/paired_box.py's."""

    def __init__(self) -> None:
        super().__init__()
        self.box = PairedBox(self.host)
        self.word = lambda: self.box.say(1)

    def let_others_say(self) -> None:
        self.beats += 1
        if self.beats % 2 == 0:
            self.word()

    @property
    def is_there(self) -> int:
        return self.world.runner.app.stop_sources.fresh >> BOX & 1


@pytest.fixture(scope="module")
def written():
    car = Written()
    car.begin()
    return car


@pytest.fixture
def spoken(written):
    car = copy.deepcopy(written)
    car.word = lambda: car.box.say(1)
    car.rest(20)
    assert car.is_there
    return car


@pytest.mark.exhaustive
def test_every_byte_of_a_word_is_under_its_tag(spoken):
    """A flip anywhere in the message or the tag, under a good CRC: another word, or none."""
    car = spoken
    for at in range(25):
        for bit in range(8):
            twin = copy.deepcopy(car)
            twin.rest(25 + 1)  # nobody speaks: it is missed
            assert not twin.is_there
            twin.host.world.feed(flipped(twin.box, at, bit))
            twin.host.beat()
            assert not twin.is_there, (at, bit)
            if at < 24 and bit in (0, 5):
                twin.box.say(1)
                twin.host.beat()
                assert twin.is_there


def flipped(box, at: int, bit: int) -> bytes:
    from firmware.protocol.frame import FrameReader, FrameWriter, crc_table

    frame = box.word(1)
    reader = FrameReader(crc_table())
    at_delimiter = reader.read(bytearray(frame), 1, len(frame))
    assert at_delimiter == len(frame) - 1
    size = reader.payload_size()
    writer = FrameWriter(crc_table())
    writer.payload[:size] = reader.frame[:size]
    if at:  # another message's number is another message
        writer.payload[min(at, size - 1)] ^= 1 << bit
    else:
        writer.payload[size - 1] ^= 1 << bit
    out = writer.wrap(size)
    return bytes(writer.out[:out])


LIES = {
    "heard later than it was said": {"ahead_us": -400_000},
    "heard before it was said": {"ahead_us": 30_000},
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES)
def test_an_age_that_cannot_be_is_not_believed(spoken, lie):
    car = spoken
    for name, value in lie.items():
        setattr(car.box, name, -value if name == "ahead_us" else value)
    car.box.ahead_us = abs(lie["ahead_us"]) if lie["ahead_us"] > 0 else lie["ahead_us"]
    car.rest(60)
    if lie["ahead_us"] > 0:
        assert not car.is_there
    else:
        assert car.is_there  # since is never below 0: it seems as old as its challenge at most


@pytest.mark.parametrize(
    "changes", [{"challenge": 0}, {"sequence": 0}, {"sequence": 1}], ids=["none", "zero", "old"]
)
def test_an_old_number_and_no_challenge_refresh_nothing(spoken, changes):
    car = spoken
    car.word = lambda: car.box.say(1, **changes)
    car.rest(40)
    assert not car.is_there


def test_a_word_counts_from_its_challenge_and_since(spoken):
    """Held back for so long that its limit is over, it counts for nothing."""
    car = spoken
    held = [car.box.word(1) for _ in range(30)]
    car.word = lambda: None
    for after_beats, word in ((5, held[0]), (10, held[1]), (20, held[2])):
        car.rest(after_beats)
        car.world.feed(word)
        car.host.beat()
        assert car.is_there == (after_beats != 20)


def test_a_second_writer_of_the_key_waits_for_the_first_ones_silence(spoken):
    car = spoken
    second = PairedBox(car.host, epoch=777)
    app = car.world.runner.app
    for _ in range(10):
        second.say(1)
        car.rest(2)
        assert app.pairing._boxes._epoch == car.box.epoch
    car.word = lambda: None
    for _ in range(20):
        second.say(1)
        car.rest(2)
    assert app.pairing._boxes._epoch == 777
    assert car.is_there


def test_a_stop_needs_no_key_and_no_challenge(spoken):
    car = spoken
    stranger = PairedBox(car.host, key=OTHER_KEY, epoch=3)
    stranger.listen = lambda: None
    stranger.say(0)
    car.host.beat()
    assert car.host.status.causes >> codes.CAUSE_STOP_SOURCE & 1


# --- the key


def paired(car, key: bytes) -> None:
    """As ``tandem pair`` does it: the file is written at the REPL, and the board begins anew."""
    board_id = car.world.board_id
    car.world.runner._key = stored_key(key, board_id)
    car.world.restart(codes.RESET_SOFT)
    car.let_go(1500)


def test_a_car_without_a_key_says_so_until_it_is_paired():
    car = Driven(image=None)
    car.take_up()
    car.let_go(500)
    assert car.pairing == codes.PAIRING_NO_KEY
    assert car.arm() & 1 << codes.REFUSED_STOP_SOURCE
    assert car.box.leds == YELLOW
    paired(car, car.key)
    assert car.pairing == codes.PAIRING_ANSWERS
    assert car.box.leds == GREEN
    car.world.restart(codes.RESET_WATCHDOG)
    car.let_go(1500)
    assert car.pairing == codes.PAIRING_ANSWERS, "it keeps its key over a reset"


def test_a_car_without_a_key_obeys_the_stop_of_any_box():
    car = Driven(image=None)
    car.take_up()
    car.let_go(300)
    for key in (KEY, OTHER_KEY, None):
        car.box = box_of(key, seed=3)
        car.let_go(100)
        car.clear()
        assert not car.host.status.causes
        car.box.is_pressed = True
        car.let_go(30)
        assert car.host.status.causes >> codes.CAUSE_STOP_REQUEST & 1
        car.box.is_pressed = False


def test_a_changed_key_ends_what_the_old_one_said_and_none_forgets_it():
    car = Driven()
    car.take_up()
    assert car.world.runner.app.stop_sources.fresh >> BOX & 1
    paired(car, OTHER_KEY)
    assert car.pairing == codes.PAIRING_STRANGE
    assert not car.world.runner.app.stop_sources.fresh >> BOX & 1
    assert car.box.leds == YELLOW
    paired(car, bytes(16))
    assert car.pairing == codes.PAIRING_NO_KEY


def test_a_key_that_came_with_another_boards_flash_counts_as_none():
    facts = Facts("f1tenth")
    image = flash_of(facts)
    moved = bytearray(image.key)
    moved[16] ^= 1
    car = Driven(image=type(image)(bytes(image), bytes(moved)))
    car.take_up()
    car.let_go(500)
    assert car.pairing == codes.PAIRING_MOVED
    assert car.arm() & 1 << codes.REFUSED_STOP_SOURCE


@pytest.mark.parametrize("damage", [lambda key: key[:-1], lambda key: bytes(16) + key[16:]])
def test_a_damaged_key_counts_as_none(damage):
    image = flash_of(Facts("f1tenth"))
    car = Driven(image=type(image)(bytes(image), damage(image.key)))
    car.take_up()
    car.let_go(500)
    assert car.pairing == codes.PAIRING_NO_KEY


def test_a_box_without_a_key_is_said_and_blinks_and_still_stops():
    car = Driven(box=box_of(None))
    car.take_up()
    shown = set()
    for _ in range(50):
        car.let_go(10)
        shown.add(car.box.leds)
    assert shown == {0, YELLOW}
    assert car.pairing == codes.PAIRING_BARE_BOX
    car.box.is_pressed = True
    car.let_go(50)
    assert car.host.status.causes >> codes.CAUSE_STOP_REQUEST & 1


def test_a_board_without_a_cipher_says_so(monkeypatch):
    import firmware.core.stops.tag

    def missing(key):
        raise ValueError("this MicroPython has no AES")

    monkeypatch.setattr(firmware.core.stops.tag, "block_cipher", missing)
    car = Driven()
    car.take_up()
    car.let_go(500)
    assert car.pairing == codes.PAIRING_NO_CIPHER
    assert car.arm() & 1 << codes.REFUSED_STOP_SOURCE


def test_no_message_says_a_key():
    """Nothing that a paired car says in a drive holds it, nor what its box says."""
    car = begun()
    for said in (*car.host.received, *car.said):
        assert car.key not in said.translate(WHITENED)


@pytest.mark.micropython
@pytest.mark.parametrize("bits", [64, 32])
def test_a_paired_car_says_the_same_bytes_under_micropython_and_allocates_nothing(bits):
    def runner(board_id, image, seed):
        return SubprocessRunner(micropython_command(bits), board_id, image, seed, HEAP_LOCKED)

    ours = begun(others=[other_box()])
    theirs = begun(others=[other_box()], runner=runner)
    try:
        for car in (ours, theirs):
            car.box_lives = False
            car.drive(400, 0)
            assert car.state in (codes.STOPPING, STOPPED)
        assert theirs.host.received == ours.host.received
    finally:
        theirs.world.close()
