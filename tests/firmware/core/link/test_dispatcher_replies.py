"""What a car answers to each message over its link, field by field, and when."""

import pytest

from firmware.core import supervisor
from firmware.core.settings.checked_params import CheckedParams
from firmware.protocol.codec import decode_into, encode_into, fill_values
from firmware.protocol.frame import crc_table, crc_update
from firmware.protocol.messages import (
    Act,
    ActReply,
    Bind,
    Bound,
    Claim,
    Committed,
    ConfigCommit,
    Event,
    EventRequest,
    Identify,
    Identity,
    Leave,
    Parameter,
    ParameterRead,
    ParameterWrite,
    Stop,
    StopSeen,
    Sync,
)
from tests.firmware.core.bare_car import CLOCK_STEP, HOLD, STANDBY, STOP_REQUEST, STOPPED, US, Car
from tests.firmware.core.desk import parameters_of
from tests.firmware.core.link.test_dispatcher import Hand, put

CLAIM_REFUSED, ACTION_TAKEN, ACTION_REFUSED, SESSION_BOUND, CONFIGURED, PROFILE = 3, 4, 5, 8, 10, 14
ARM, CLEAR, COMMAND, OWN = 1, 2, 4, 4
NOBODY = 255
BOUND, OTHER_PROTOCOL, NO_SLOT = 0, 1, 2
CAR = 1
OURS, NAME = 4711, b"somebody".ljust(16, b"\0")


class Line(Hand):
    """A car without a hand, and its host's end of the link."""

    def __init__(self, **values) -> None:
        super().__init__(**{"rc_fitted": 0, **values})
        self.car.board.has_receiver = 0

    def say(self, *messages, steps=1) -> None:
        """On its next step; what it says of it is heard, and nothing of before."""
        self.said.clear()
        put(self.car, *messages)
        self.step(1, has_frames=False)
        self.car.board.received_size = 0
        self.step(steps - 1, has_frames=False)

    def heard(self, kind) -> list:
        found = []
        for payload in self.said:
            message = kind()
            if payload[0] == kind.ID and not decode_into(message, bytearray(payload), len(payload)):
                found.append(message)
        return found

    def answer(self, kind, *messages):
        self.say(*messages)
        (reply,) = self.heard(kind)
        return reply


def made(kind, **fields):
    message = kind()
    for name, value in fields.items():
        if isinstance(getattr(message, name), bytearray):
            getattr(message, name)[:] = value
        else:
            setattr(message, name, value)
    return message


@pytest.fixture
def line():
    line = Line()
    line.step(20, has_frames=False)
    return line


# --- who it is


@pytest.mark.parametrize(("is_virtual", "flags"), [(True, 1), (False, 0)])
def test_it_says_who_it_is(line, is_virtual, flags):
    app = line.car.app
    app.board.is_virtual = is_virtual
    app.configuration.car_name[:] = NAME
    identity = line.answer(Identity, made(Identify, token=77))
    assert (identity.token, identity.layout, identity.device) == (77, 1, CAR)
    assert (identity.flags, identity.state) == (flags, STANDBY)
    assert bytes(identity.protocol_hash) == bytes(app.dispatcher._own_hash) != bytes(4)
    assert bytes(identity.config_hash) == bytes(app.configuration.config_hash)
    assert bytes(identity.board_id) == bytes(app.board.board_id)
    assert bytes(identity.car_name) == NAME


# --- sessions


def binding(line, epoch=OURS, protocol_hash=None):
    own = bytes(line.car.app.dispatcher._own_hash)
    return made(Bind, epoch=epoch, protocol_hash=own if protocol_hash is None else protocol_hash)


def test_a_session_is_bound_and_told_its_slot(line):
    app = line.car.app
    bound = line.answer(Bound, binding(line))
    assert (bound.epoch, bound.slot, bound.result) == (OURS, 2, BOUND)
    assert bytes(bound.protocol_hash) == bytes(app.dispatcher._own_hash)
    assert bytes(bound.config_hash) == bytes(app.configuration.config_hash)
    line.step(20, has_frames=False)
    assert (SESSION_BOUND, 2, OURS) in line.events()


def test_one_that_is_bound_again_keeps_its_slot_be_it_the_first(line):
    bound = line.answer(Bound, binding(line, US))
    assert (bound.epoch, bound.slot, bound.result) == (US, 0, BOUND)
    line.step(20, has_frames=False)
    assert (SESSION_BOUND, 0, US) in line.events()


def test_one_of_another_protocol_is_not(line):
    bound = line.answer(Bound, binding(line, protocol_hash=b"\1\2\3\4"))
    assert (bound.epoch, bound.slot, bound.result) == (OURS, NOBODY, OTHER_PROTOCOL)
    assert line.car.app.sessions.find(OURS) < 0
    line.step(20, has_frames=False)
    assert SESSION_BOUND not in [code for code, _, _ in line.events()]


def test_one_too_many_finds_no_slot(line):
    """All four are heard of all the time: the two of the bare car, and these."""
    line.say(binding(line, 2001))
    line.say(binding(line, 2002))
    bound = line.answer(Bound, binding(line, 2003))
    assert (bound.slot, bound.result) == (NOBODY, NO_SLOT)
    assert line.car.app.sessions.find(2003) < 0


class Noted:
    """In place of a part of the car: which slots it was told to forget."""

    def __init__(self, part) -> None:
        self.part = part
        self.slots = []

    def __getattr__(self, name):
        return getattr(self.part, name)

    def forget(self, slot) -> None:
        self.slots.append(slot)
        self.part.forget(slot)


def test_of_a_new_session_nothing_is_left_that_another_said_in_its_place(line):
    app = line.car.app
    arbiter, stop_sources = Noted(app.arbiter), Noted(app.stop_sources)
    app.dispatcher._arbiter, app.dispatcher._stop_sources = arbiter, stop_sources
    app.dispatcher._bind(binding(line), line.car.now_us)
    assert (arbiter.slots, stop_sources.slots) == ([2], [2])
    app.dispatcher._bind(binding(line), line.car.now_us)
    app.dispatcher._bind(binding(line, US), line.car.now_us)
    assert arbiter.slots == [2], "they are not new"
    app.dispatcher._leave(made(Leave, epoch=OURS), line.car.now_us)
    assert (arbiter.slots, stop_sources.slots) == ([2, 2], [2, 2])
    app.dispatcher._leave(made(Leave, epoch=OURS), line.car.now_us)
    assert arbiter.slots == [2, 2], "it is gone"
    first = made(Leave, epoch=US)
    app.dispatcher._leave(first, line.car.now_us)
    assert arbiter.slots == [2, 2, 0]


def test_what_a_session_asked_for_before_it_was_bound_again_is_not_confirmed(line):
    app = line.car.app
    app.actions.nonce, app.actions._epoch = 77, US
    app.dispatcher._bind(binding(line, US), line.car.now_us)
    assert app.actions.nonce == 0


# --- stops


def test_a_stop_is_acknowledged_once_with_the_state_that_it_brought(line):
    app = line.car.app
    app.actions.nonce = 77
    assert app.dispatcher.stop_sender == NOBODY
    line.say(made(Stop, token=4242, sender=COMMAND, sender_name=NAME), steps=5)
    (seen,) = line.heard(StopSeen)
    assert (seen.token, seen.sender, bytes(seen.sender_name)) == (4242, COMMAND, NAME)
    assert seen.state == line.car.state
    assert (app.dispatcher.stop_sender, app.actions.nonce) == (COMMAND, 0)
    assert app.dispatcher.must_acknowledge is False
    assert line.car.has_cause(STOP_REQUEST)


def test_a_stop_takes_back_what_was_asked_for(line):
    app = line.car.app
    app.actions.nonce = 77
    app.dispatcher._stop(made(Stop, token=1), line.car.now_us)
    assert app.actions.nonce == 0


def test_a_car_that_nobody_stopped_acknowledges_nothing():
    line = Line()
    line.step(20, has_frames=False)
    assert line.heard(StopSeen) == []


def test_a_stop_of_an_armed_car_is_acknowledged_as_stopping_or_stopped():
    car = Car()
    car.drive(speed_mm_s=500)
    line = Line()
    line.car = car
    line.say(made(Stop, token=1, sender=COMMAND))
    (seen,) = line.heard(StopSeen)
    assert seen.state == car.state
    assert car.state not in (STANDBY, HOLD)


@pytest.mark.parametrize("has_come", [True, False])
def test_a_stop_on_the_step_of_a_clear_outlives_it_also_where_a_gesture_clears(line, has_come):
    app = line.car.app
    app.runstop.latch(STOP_REQUEST)
    app.faults.latch(4)
    app.dispatcher.must_acknowledge = has_come
    app.actions.granted = supervisor.CLEARED
    app.dispatcher._follow_up(CLEAR, 0, OWN, line.car.now_us)
    assert app.runstop.bits == (1 << STOP_REQUEST if has_come else 0)
    assert app.faults.bits == 0


# --- clocks


def test_a_sync_is_a_sample_of_its_session_s_clock(line):
    app, samples = line.car.app, []
    app.sessions.slots[0].sample = lambda *times: samples.append(times) or True
    board_us = line.car.now_us - 10_000
    sync = made(Sync, epoch=US, board_us=board_us, received_us=111, sent_us=222)
    fill_values(sync)
    app.dispatcher._sync(sync, 333)
    assert samples == [(333, app.sessions.left_us(board_us), 111, 222)]
    assert app.runstop.bits == 0


@pytest.mark.parametrize(("is_armed", "is_its", "stops"), [(1, 1, 1), (1, 0, 0), (0, 1, 0)])
def test_a_clock_that_steps_stops_who_is_armed_and_driven_by_it(line, is_armed, is_its, stops):
    app = line.car.app
    app.sessions.slots[0].sample = lambda *times: False
    app.supervisor.is_armed = lambda: bool(is_armed)
    app.arbiter.is_commanded_from = lambda slot: bool(is_its) and slot == 0
    sync = made(Sync, epoch=US)
    fill_values(sync)
    app.dispatcher._sync(sync, line.car.now_us)
    assert app.runstop.bits == stops << CLOCK_STEP


# --- claims


def claim(**fields):
    given = {"epoch": US, "source": 1, "sequence": 1, "mask": 3, "lease_ms": 100}
    return made(Claim, **{**given, **fields})


def test_the_running_crc_is_over_the_claims_that_were_accepted(line):
    session = line.car.app.sessions.slots[0]
    crc, table = bytearray(4), crc_table()
    for sequence in (1, 2, 3):
        message = claim(sequence=sequence, stamp_us=line.car.now_us)
        payload = bytearray(64)
        size = encode_into(message, payload)
        line.say(message)
        crc_update(crc, payload, 0, size, table)
        assert (session.claim_crc, session.claim_count) == (crc, sequence)
    line.say(claim(sequence=3, stamp_us=line.car.now_us))
    assert session.claim_crc == crc, "it came before"
    assert any(crc)


def refusals(line) -> list[tuple[int, int, int]]:
    return [event for event in line.events() if event[0] == CLAIM_REFUSED]


def test_a_refusal_is_news_when_it_is_another_one_and_each_hundredth_time(line):
    dispatcher, now_us = line.car.app.dispatcher, line.car.now_us
    stranger = claim(epoch=999)
    fill_values(stranger)
    news = []
    line.car.app.events.add = lambda *event: news.append(event)
    for _ in range(202):
        dispatcher._claim(stranger, now_us)
    (first, second, third) = news
    assert first == second == third
    assert first[:3] == (now_us, CLAIM_REFUSED, 1)
    other = claim(source=9)
    fill_values(other)
    dispatcher._claim(other, now_us)
    assert len(news) == 4
    assert news[3][2] == 9
    assert news[3][3] != news[2][3]
    for _ in range(99):
        dispatcher._claim(other, now_us)
    assert len(news) == 4
    dispatcher._claim(other, now_us)
    assert len(news) == 5


# --- actions, events, parameters


@pytest.mark.parametrize(
    ("granted", "refusals", "clears", "arms", "codes"),
    [
        (supervisor.CLEARED, 0, 1, 0, [ACTION_TAKEN]),
        (supervisor.ARMED, 0, 0, 1, [PROFILE, ACTION_TAKEN]),
        (supervisor.CLEARED | supervisor.ARMED, 4, 0, 0, [ACTION_REFUSED]),
        (0, 0, 0, 0, []),
    ],
)
def test_what_comes_with_an_action_comes_with_this_one_alone(
    line, granted, refusals, clears, arms, codes
):
    app, begun, news = line.car.app, [], []
    app.events.add = lambda *event: news.append(event)
    app.arbiter.begin_from_neutral = begun.append
    app.fault_monitor.begin = lambda *profile: begun.append(profile)
    app.runstop.bits = 1 << STOP_REQUEST
    app.actions.granted, now_us = granted, line.car.now_us
    app.dispatcher._follow_up(ARM, refusals, 2, now_us)
    assert app.runstop.bits == (0 if clears else 1 << STOP_REQUEST)
    assert begun == ([now_us, (app.actions.profile, now_us)] if arms else [])
    assert [event[1] for event in news] == codes
    if refusals:
        assert news == [(now_us, ACTION_REFUSED, ARM, 4)]
    elif codes:
        assert news[-1] == (now_us, ACTION_TAKEN, ARM, 2)


def test_an_action_is_answered(line):
    act = made(Act, epoch=US, action=ARM, sender=COMMAND, value=1)
    act.config_hash[:] = line.car.app.configuration.config_hash
    reply = line.answer(ActReply, act)
    assert (reply.epoch, reply.action) == (US, ARM)
    assert (reply.nonce != 0, reply.refusals) == (True, 0)


def test_events_are_told_again_from_the_one_that_is_asked_for(line):
    line.say(steps=40)
    line.say(made(EventRequest, first=0), steps=20)
    assert 0 in [event.number for event in line.heard(Event)]


def test_a_parameter_is_read_and_written_and_what_became_of_it_is_told(line):
    index = parameters_of(line.car.app).index("stand_ms")
    read = line.answer(Parameter, made(ParameterRead, index=index))
    assert (read.index, read.result) == (index, 0)
    wrote = made(ParameterWrite, epoch=US, index=index, value=read.value - 1)
    written = line.answer(Parameter, wrote)
    assert (written.index, written.value, written.result) == (index, read.value - 1, 0)
    again = line.answer(Parameter, made(ParameterRead, index=index))
    assert again.value == read.value - 1
    line.car.app.supervisor.state = STOPPED
    assert line.answer(Parameter, wrote).result != 0


def test_a_configuration_is_committed_and_taken_anew_with_the_heap_open(line):
    app, heap, configured = line.car.app, [], []
    app.board.open_heap = lambda: heap.append("open")
    app.board.close_heap = lambda: heap.append("closed")
    configure = app.overlay._configure
    app.overlay._configure = lambda params: (configured.append(list(heap)), configure(params))
    line.answer(Parameter, made(ParameterRead, index=0))
    index = parameters_of(app).index("stand_ms")
    value = app.configuration.values[index] - 1
    line.say(made(ParameterWrite, epoch=US, index=index, value=value))
    refused = line.answer(Committed, made(ConfigCommit, epoch=999))
    assert refused.result != 0
    assert (heap, configured) == (["open", "closed"], [])
    heap.clear()
    wanted = hash_of(app, index, value)
    done = line.answer(Committed, made(ConfigCommit, epoch=US, config_hash=wanted, car_name=NAME))
    assert done.result == 0
    assert (heap, configured) == (["open", "closed"], [["open"]])
    assert app.configuration.values[index] == value
    line.step(20, has_frames=False)
    assert (CONFIGURED, len(app.configuration.values), 0) in line.events()


def hash_of(app, index, value) -> bytes:
    """The hash of the configuration with this value and NAME."""
    params = CheckedParams(crc_table())
    params.values[:] = app.configuration.values
    params.values[index] = value
    params.car_name[:] = NAME
    image = bytearray(params.image_size())
    params.write_image(image)
    return bytes(params.config_hash)


def test_the_heap_is_closed_though_the_flash_fails(line):
    app, heap = line.car.app, []
    app.board.open_heap = lambda: heap.append("open")
    app.board.close_heap = lambda: heap.append("closed")

    def fails(*_) -> bool:
        raise OSError("no room")

    app.board.save = fails
    value = app.configuration.values[0]
    wanted = hash_of(app, 0, value)
    assert app.overlay._load() == 0
    heap.clear()
    with pytest.raises(OSError, match="no room"):
        app.overlay._commit(
            made(ConfigCommit, epoch=US, config_hash=wanted, car_name=NAME), line.car.now_us
        )
    assert heap == ["open", "closed"]
