"""The board at the REPL is the one that was looked at, or nothing is written to it."""

from __future__ import annotations

import pytest

from host_bridge.core.errors import AnotherCarFault
from host_bridge.deploy.flash.precheck import FoundCar

ONE, OTHER = b"\1" * 8, b"\2" * 8


def test_another_board_at_the_repl_is_refused_before_anything_is_written():
    before = FoundCar("red", "f1tenth", ONE)
    with pytest.raises(AnotherCarFault) as wrong:
        before.at_repl(OTHER, "/dev/ttyACM0")
    assert ONE.hex() in wrong.value.what
    assert OTHER.hex() in wrong.value.what
    assert "nothing was written" in wrong.value.remedy
    assert before.board_id == ONE


def test_the_same_board_and_one_that_ran_no_car_are_known_from_there_on():
    for before in (FoundCar("red", "f1tenth", ONE), FoundCar()):
        before.at_repl(ONE, "/dev/ttyACM0")
        assert before.board_id == ONE
