"""A board that takes long over its configuration is waited for; one that is gone is not."""

import asyncio
from types import SimpleNamespace

import pytest

from firmware.protocol import messages
from host_bridge.config import config_hash
from host_bridge.core import Committed, ParameterReply
from host_bridge.core.codes import WriteResult
from host_bridge.core.errors import DeviceFault, RefusedFault
from host_bridge.core.system.observers import Observers
from host_bridge.link.protocol import wire
from host_bridge.link.protocol.events import LinkLost
from host_bridge.sharing.services import parameter_dialogue
from host_bridge.sharing.services.parameter_dialogue import ParameterDialogue
from tests.host_bridge.drive.drives import Drive, Rig, vehicle


class Board:
    """Answers the request that is its ``answers_at``-th, in virtual time; heard or not."""

    def __init__(self, answers_at: int, *, is_heard: bool) -> None:
        self.asked = 0
        self.waited_s = 0.0
        self.events = Observers()
        self.uri = "serial:///dev/ttyACM0"
        self._answers_at = answers_at
        connection = SimpleNamespace(send=self._send, epoch=1)
        self.car = SimpleNamespace(connection=connection, is_online=lambda: is_heard, is_afar=False)

    def _send(self, message) -> None:
        self.asked += 1
        if self.asked == self._answers_at:
            self.events.publish([ParameterReply(index=0, value=20_000, result=0)])

    async def until(self, condition, within_s: float) -> bool:
        if not condition():
            self.waited_s += within_s
        return condition()


def _read(board: Board) -> list[int]:
    return asyncio.run(ParameterDialogue(board).read(1, lambda done, total: None))


def test_a_board_that_is_heard_has_six_times_as_long():
    board = Board(6 * parameter_dialogue._TRIES, is_heard=True)
    assert _read(board) == [20_000]
    assert board.waited_s == pytest.approx(18.0, abs=0.1)


@pytest.mark.parametrize(("is_heard", "s"), [(False, 3.0), (True, 18.0)])
def test_one_that_never_answers_is_given_up(is_heard, s):
    board = Board(10_000, is_heard=is_heard)
    with pytest.raises(DeviceFault, match="no answer about"):
        _read(board)
    assert board.waited_s == pytest.approx(s, abs=0.1)


def test_a_configuration_that_is_stored_and_not_gone_by_is_not_called_refused():
    board = Board(0, is_heard=True)
    answer = Committed(WriteResult.NOT_TAKEN, 0, bytes(4))
    board.car.connection.send = lambda message: board.events.publish([answer])
    board.car.status = None
    identity = SimpleNamespace(board_id=bytes(8))
    with pytest.raises(RefusedFault) as told:
        asyncio.run(ParameterDialogue(board).commit(vehicle(), identity, "b"))
    assert "the car does not go by the configuration: it stored it" in str(told.value)
    assert "restart it" in str(told.value)


STORES_US = 330_000  # a paired VESC's on a UART took that, from the commit to its answer


class StoringCar:
    """A virtual car on a link, bound and parked, that says nothing for a while after a commit.

    An RP2040 writes to its flash then; ``until`` is that of an open car, in virtual time.
    """

    def __init__(self) -> None:
        self.rig = Rig("a")
        self.drive = Drive(self.rig)
        self.drive.bind()
        self.car = self.rig.car
        self.uri = "serial:///dev/ttyACM0"
        self.events = Observers()
        self.commits = 0
        self._silent_until_us = 0
        self._said = b""
        self.rig.up, self.rig.down = self._up, self._down

    def _down(self, data: bytes) -> bytes:
        for message in wire.MessageDecoder().feed(data):
            if isinstance(message, messages.ConfigCommit):
                self.commits += 1
                self._silent_until_us = self.drive.now_us + STORES_US
        return data

    def _up(self, data: bytes) -> bytes:
        self._said += data
        if self.drive.now_us < self._silent_until_us:
            return b""
        data, self._said = self._said, b""
        return data

    async def until(self, condition, within_s: float) -> bool:
        give_up_us = self.drive.now_us + within_s * 1e6
        while not condition():
            if self.drive.now_us >= give_up_us:
                return False
            self.rig.heard.clear()
            self.drive.advance(0.005)
            self.events.publish([event for _, event in self.rig.heard])
        return True


def test_the_answer_of_a_car_that_was_silent_while_it_stored_is_heard():
    board = StoringCar()
    identity = board.car.identity
    dialogue = ParameterDialogue(board)
    done = asyncio.run(dialogue.commit(vehicle(), identity, identity.car_name))
    assert done == config_hash(vehicle(), identity.board_id, identity.car_name)
    assert board.commits == 1
    assert board.car.connection.is_bound()


def test_its_refusal_is_heard_as_well():
    board = StoringCar()
    identity = board.car.identity
    with pytest.raises(RefusedFault, match="refused the configuration"):
        asyncio.run(ParameterDialogue(board).commit(vehicle("nigel"), identity, "b"))
    assert board.commits == 1


def test_afterwards_a_car_that_is_gone_is_noticed_as_soon_as_ever():
    board = StoringCar()
    identity = board.car.identity
    asyncio.run(ParameterDialogue(board).commit(vehicle(), identity, identity.car_name))
    board.rig.is_plugged = False
    assert board.drive.until(lambda: board.rig.all_of(LinkLost) != []) <= 0.25
