"""A board that takes long over its configuration is waited for; one that is gone is not."""

import asyncio
from types import SimpleNamespace

import pytest

from host_bridge.core import ParameterReply
from host_bridge.core.errors import DeviceFault
from host_bridge.core.system.observers import Observers
from host_bridge.sharing.services import parameter_dialogue
from host_bridge.sharing.services.parameter_dialogue import ParameterDialogue


class Board:
    """Answers the request that is its ``answers_at``-th, in virtual time; heard or not."""

    def __init__(self, answers_at: int, *, is_heard: bool) -> None:
        self.asked = 0
        self.waited_s = 0.0
        self.events = Observers()
        self.uri = "serial:///dev/ttyACM0"
        self._answers_at = answers_at
        connection = SimpleNamespace(send=self._send, epoch=1)
        self.car = SimpleNamespace(connection=connection, is_online=lambda: is_heard)

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
