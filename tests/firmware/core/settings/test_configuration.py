"""Reading, drafting and committing the configuration: what a car takes, and what it refuses."""

import pytest

from firmware.boards.simulated.virtual import VirtualBoard
from firmware.core.link.events import Events
from firmware.core.settings.checked_params import CheckedParams
from firmware.core.settings.configuration import Configuration
from firmware.core.settings.overlay import Overlay, load_stored
from firmware.core.supervisor import Supervisor
from firmware.protocol.frame import crc_table
from firmware.protocol.messages import (
    Committed,
    ConfigCommit,
    Parameter,
    ParameterRead,
    ParameterWrite,
)
from tests.firmware.core.desk import params_with, sure_sessions
from tests.support.evidence import every

CRC_TABLE = crc_table()
STARTING, STANDBY, ACTIVE, HOLD, STOPPING, STOPPED, FAULT = range(7)
OK, UNKNOWN, OUT_OF_RANGE, NOT_NOW, NOT_BOUND, NOT_STORED, INVALID, MOVING, BUSY = range(9)
US, STRANGER = 1001, 1002
BOARD_ID = bytes(range(8))
OURS = [0x0100, 0x0302, 0x0504, 0x0706]
NAME, OTHER_NAME = b"this car".ljust(16, b"\0"), b"that car".ljust(16, b"\0")
MAY = (STANDBY, FAULT)
MAY_NOT = (STARTING, ACTIVE, HOLD, STOPPING, STOPPED)


def params_of(**values):
    params = params_with(**{"board_id": OURS, "stand_ms": 5_000, **values})
    params.car_name[:] = NAME
    return params


def image_of(params) -> bytes:
    image = bytearray(params.image_size())
    params.write_image(image)
    return bytes(image)


class FullBoard(VirtualBoard):
    """Its flash takes no more."""

    def save(self, pieces: "list[bytearray]") -> bool:
        return False


class NumberedZero(VirtualBoard):
    """Its id is the one that the defaults have."""

    def __init__(self, board_id: bytes, image: bytes, failed_starts: int) -> None:
        super().__init__(bytes(8), image, failed_starts)


class Slow(VirtualBoard):
    """It keeps a beat of 20 ms."""

    def __init__(self, board_id: bytes, image: bytes, failed_starts: int) -> None:
        super().__init__(board_id, image, failed_starts)
        self.own_beat_us = 20_000


class Idle:
    """Actions of a car that stands, of which nobody asked anything."""

    is_standing = True
    free = True
    granted = 0

    def take(self) -> bool:
        return self.free


class NeverAsked(Idle):
    def take(self) -> bool:
        raise AssertionError("the step's one request was taken by somebody who is not bound")


class Deaf:
    """A receiver that nothing comes to."""

    def route(self, routes) -> None:
        pass


class Desk:
    """A configuration on a board, and a host that is bound to it."""

    def __init__(self, image: "bytes | None" = None, board=VirtualBoard) -> None:
        self.board = board(BOARD_ID, image_of(params_of()) if image is None else image, 1)
        self.actions = Idle()
        self.supervisor = Supervisor()
        self.sent = []
        self.configured = []
        self.configuration = Configuration()
        load_stored(self.board, self.configuration, CRC_TABLE)
        self.params = CheckedParams(CRC_TABLE, self.configuration)
        self.size = self.params.size
        self.overlay = Overlay(
            self.board, self.configuration, sure_sessions(US), Events(), self.supervisor, Deaf(),
            self, self.actions, self.configured.append, CRC_TABLE,
        )  # fmt: skip

    def send(self, reply) -> None:
        """In place of an outbox."""
        self.sent.append(reply)

    @property
    def verdict(self) -> "tuple[bool, bool]":
        return self.configuration.is_valid, self.configuration.is_ours

    def at(self, name: str) -> int:
        return self.params.index(name)

    def read(self, index: int) -> "tuple[int, int, int]":
        request, reply = ParameterRead(), Parameter()
        request.index = index
        reply.value = reply.result = 999  # of the one before
        self.configuration.read(request, reply)
        return reply.index, reply.value, reply.result

    def drafted(self, name: str) -> int:
        return self.read(self.at(name))[1]

    def write(self, index: int, value: int, state=STANDBY, epoch=US) -> int:
        request = ParameterWrite()
        request.epoch, request.index, request.value = epoch, index, value
        self.supervisor.state = state
        self.overlay._write(request, 0)
        reply = self.sent.pop()
        assert (reply.index, reply.value) == (index, value)
        return reply.result

    def commit(self, wanted, state=STANDBY, epoch=US) -> Committed:
        """Of what the host believes that the draft is."""
        request = ConfigCommit()
        wanted.hash_into(wanted.config_hash)
        request.epoch, request.config_hash = epoch, wanted.config_hash
        request.car_name[:] = wanted.car_name
        self.overlay._committed.where = 999  # of the one before
        self.supervisor.state = state
        self.configured.clear()
        self.overlay._commit(request, 0)
        reply = self.sent.pop()
        assert bool(self.configured) is (reply.result == OK)
        assert reply.config_hash == self.params.config_hash
        return reply


@pytest.fixture
def desk():
    return Desk()


# --- what was stored


def test_what_is_stored_for_this_board_is_taken(desk):
    assert desk.verdict == (True, True)
    assert (desk.params.get("stand_ms"), desk.params.car_name) == (5_000, NAME)
    assert desk.drafted("stand_ms") == 5_000


@pytest.mark.parametrize("change", [
    lambda image: b"", lambda image: image[:-1], lambda image: image + b"\0",
    lambda image: image[:-1] + bytes([image[-1] ^ 1]),
    lambda image: image[:40] + bytes([image[40] ^ 1]) + image[41:],
])  # fmt: skip
def test_of_what_is_missing_or_damaged_the_defaults_stay_and_are_not_valid(change):
    desk = Desk(change(image_of(params_of())))
    assert desk.verdict == (False, False)
    assert desk.params.values == params_with().values
    assert [desk.read(at)[1] for at in range(desk.size)] == desk.params.values


def test_a_cut_that_took_nothing_but_zeros_is_damage():
    params = params_of()
    for number in range(10_000):
        params.car_name[:] = b"%16d" % number
        image = image_of(params)
        if image[-1] == 0:
            break
    assert Desk(image).verdict == (True, True)
    assert Desk(image[:-1]).verdict == (False, False)


@pytest.mark.parametrize(
    ("value", "verdict"),
    [({"stand_ms": 999}, (False, True)), ({"board_id": [65_536]}, (False, False))],
)
def test_a_value_that_may_not_be_is_not_valid_though_the_image_is_whole(value, verdict):
    assert Desk(image_of(params_of(**value))).verdict == verdict


@pytest.mark.parametrize("word", range(4))
def test_what_was_made_for_another_board_is_not_ours(word):
    for bit in (1, 0x8000):
        ids = list(OURS)
        ids[word] ^= bit
        assert Desk(image_of(params_of(board_id=ids))).verdict == (True, False)


# --- the draft


def test_each_parameter_is_read_by_its_index_and_no_other_is_known(desk):
    last = desk.size - 1
    assert desk.read(desk.at("stand_ms")) == (desk.at("stand_ms"), 5_000, OK)
    assert desk.read(last) == (last, desk.params.values[last], OK)
    assert desk.read(last + 1) == (last + 1, 0, UNKNOWN)


@pytest.mark.parametrize("state", MAY)
def test_what_is_written_is_a_draft_and_changes_nothing_yet(desk, state):
    assert desk.write(desk.at("stand_ms"), 6_000, state) == OK
    assert (desk.drafted("stand_ms"), desk.params.get("stand_ms")) == (6_000, 5_000)


@pytest.mark.parametrize("state", MAY_NOT)
def test_in_another_state_nothing_is_written_or_committed(desk, state):
    assert desk.write(desk.at("stand_ms"), 6_000, state) == NOT_NOW
    assert desk.drafted("stand_ms") == 5_000
    assert desk.commit(params_of(), state).result == NOT_NOW


@pytest.mark.parametrize("state", range(7))
def test_of_a_stranger_nothing_is_written_or_committed(desk, state):
    assert desk.write(desk.at("stand_ms"), 6_000, state, STRANGER) == NOT_BOUND
    assert desk.drafted("stand_ms") == 5_000
    assert desk.commit(params_of(), state, STRANGER).result == NOT_BOUND


def test_what_there_is_not_or_what_may_not_be_is_not_drafted(desk):
    last = desk.size - 1
    assert desk.write(last, 1) == OK
    assert desk.write(last + 1, 1) == UNKNOWN
    assert desk.write(desk.at("stand_ms"), 999) == OUT_OF_RANGE
    assert (desk.drafted("stand_ms"), desk.read(last)[1]) == (5_000, 1)


# --- the commit


@pytest.mark.parametrize(("change", "result"), [("is_standing", MOVING), ("free", BUSY)])
@pytest.mark.parametrize("state", MAY)
def test_nothing_is_committed_while_it_rolls_or_something_else_is_under_way(change, result, state):
    desk = Desk()
    desk.write(desk.at("stand_ms"), 6_000)
    setattr(desk.actions, change, False)
    assert desk.commit(params_of(stand_ms=6_000), state).result == result
    assert desk.params.get("stand_ms") == 5_000
    setattr(desk.actions, change, True)
    assert desk.commit(params_of(stand_ms=6_000), state).result == OK


@pytest.mark.parametrize("state", MAY_NOT)
def test_in_another_state_a_commit_counts_as_a_request_and_is_told_the_state_first(desk, state):
    desk.actions.is_standing = False
    assert desk.commit(params_of(), state).result == NOT_NOW
    desk.actions.free = False
    assert desk.commit(params_of(), state).result == BUSY


@pytest.mark.parametrize("state", MAY)
def test_a_stranger_s_commit_takes_nobody_s_turn_and_learns_nothing(desk, state):
    desk.actions = desk.overlay._actions = NeverAsked()
    desk.actions.is_standing = False
    assert desk.commit(params_of(), state, epoch=STRANGER).result == NOT_BOUND


@pytest.mark.parametrize("state", MAY)
def test_a_commit_makes_the_draft_the_configuration_and_stores_it(desk, state):
    desk.write(desk.at("stand_ms"), 6_000)
    wanted = params_of(stand_ms=6_000)
    wanted.car_name[:] = OTHER_NAME
    reply = desk.commit(wanted, state)
    assert (reply.result, reply.where, reply.config_hash) == (OK, 0, wanted.config_hash)
    assert desk.board.image == image_of(wanted)
    again = Desk(desk.board.image)
    for each in (desk, again):
        assert each.verdict == (True, True)
        assert (each.params.get("stand_ms"), each.params.car_name) == (6_000, OTHER_NAME)


def test_a_blank_board_is_configured_over_the_link():
    desk = Desk(b"")
    wanted = params_of()
    for index, value in enumerate(wanted.values):
        assert desk.write(index, value) == OK
    assert desk.commit(wanted).result == OK
    assert desk.verdict == (True, True)


def unchanged(desk: Desk) -> bool:
    """But for the draft, which is there to be corrected."""
    was = params_of()
    is_stored = desk.board.image == image_of(was)
    names = ("values", "car_name", "config_hash")
    is_kept = every(getattr(desk.params, name) == getattr(was, name) for name in names)
    return is_stored and is_kept and desk.verdict == (True, True)


def test_what_the_host_does_not_think_it_is_is_not_taken(desk):
    desk.write(desk.at("stand_ms"), 6_000)
    other = params_of(stand_ms=7_000)
    other.car_name[:] = OTHER_NAME
    reply = desk.commit(other)
    assert (reply.result, reply.where) == (INVALID, 0)
    assert unchanged(desk)
    assert desk.drafted("stand_ms") == 6_000


def test_what_does_not_go_together_is_not_taken_and_named(desk):
    wrong = {"channel_low": 1, "channel_neutral": 0}
    desk.write(desk.at("channel_low"), 1)
    reply = desk.commit(params_of(**wrong))
    assert (reply.result, reply.where) == (INVALID, desk.at("channel_low"))
    assert unchanged(desk)
    assert desk.drafted("channel_low") == params_of().get("channel_low")  # nobody believes it held


def test_what_is_for_another_board_is_not_taken(desk):
    desk.write(desk.at("board_id") + 3, 0x0707)
    reply = desk.commit(params_of(board_id=[*OURS[:3], 0x0707]))
    assert (reply.result, reply.where) == (INVALID, 0)
    assert unchanged(desk)


def test_a_commit_of_what_is_stored_already_is_answered_without_storing_it_again(desk):
    """A host that has missed the answer asks again: flash would keep it silent for as long."""
    desk.write(desk.at("stand_ms"), 6_000)
    wanted = params_of(stand_ms=6_000)
    assert desk.commit(wanted).result == OK
    saved = []
    desk.board.save = lambda pieces: saved.append(len(pieces)) or True
    reply = desk.commit(wanted)
    assert (reply.result, reply.config_hash) == (OK, wanted.config_hash)
    assert not saved
    desk.write(desk.at("stand_ms"), 7_000)
    assert desk.commit(params_of(stand_ms=7_000)).result == OK
    assert saved


def test_defaults_that_were_never_stored_are_stored_by_a_commit_that_changes_nothing():
    desk = Desk(b"", board=NumberedZero)
    assert desk.verdict == (False, True)
    wanted = params_with(board_id=[0, 0, 0, 0])
    for index, value in enumerate(wanted.values):
        assert desk.write(index, value) == OK
    wanted.car_name[:] = desk.params.car_name
    assert desk.commit(params_of()).result == INVALID  # from here on their hash is known
    assert desk.commit(wanted).result == OK
    assert desk.board.image == image_of(wanted)


def test_what_the_board_cannot_store_is_not_taken():
    desk = Desk(board=FullBoard)
    desk.write(desk.at("stand_ms"), 6_000)
    assert desk.commit(params_of(stand_ms=6_000)).result == NOT_STORED
    assert unchanged(desk)


def test_a_refused_commit_makes_no_valid_one_of_a_blank_board():
    desk = Desk(b"")
    assert desk.commit(params_of()).result == INVALID
    assert desk.verdict == (False, False)
    assert desk.params.values == params_with().values


@pytest.mark.parametrize(
    ("image", "board", "beat_us"),
    [
        (b"", Slow, 20_000),
        (image_of(params_of())[:-1] + b"?", Slow, 20_000),  # damaged
        (image_of(params_of()), Slow, 10_000),  # somebody's choice
        (b"", VirtualBoard, 10_000),
    ],
)
def test_without_a_configuration_the_beat_is_the_boards_own(image, board, beat_us):
    desk = Desk(image, board)
    at = desk.params.index("step_us")
    assert desk.params.get("step_us") == beat_us
    reply = Parameter()
    request = ParameterRead()
    request.index = at
    desk.configuration.read(request, reply)
    assert reply.value == beat_us, "whoever writes its type to it reads which beat it is to keep"
