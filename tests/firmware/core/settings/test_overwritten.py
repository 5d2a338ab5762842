"""The tests go without the defaults of ``tests/mutants/mistakes/overwritten.py``, and notice."""

import inspect
from unittest.mock import MagicMock

import pytest

from firmware.core.clock import Session
from firmware.core.deadlines import Deadline
from firmware.core.stops.boxes import Boxes
from firmware.core.stops.pairing import PairedBox
from tests.firmware.core.bare_car import PAD, Car
from tests.mutants.mistakes.overwritten import OVERWRITTEN, rows, taken_away
from tests.support.evidence import some

_ELSEWHERE = (Session, Deadline, PairedBox, Boxes)  # a car has many, or is paired to have one


def made(cls: type) -> object:
    """With what it is to be given, whatever that is; if it is a board, it has a key."""
    return cls(*[MagicMock(key=bytes(16)) for _ in list(inspect.signature(cls).parameters)])


@pytest.mark.parametrize("at", range(len(OVERWRITTEN)), ids=lambda at: OVERWRITTEN[at].name)
def test_what_reads_a_default_of_the_table_is_noticed(at):
    cls, attributes = rows()[at]
    it = made(cls)
    for name in some(attributes):
        with pytest.raises(AttributeError, match=name):
            getattr(it, name)


def test_one_that_is_never_set_has_no_place_in_the_table(monkeypatch):
    class Part:
        def __init__(self) -> None:
            self.speed = 0

    taken_away(monkeypatch, [(Part, ("speed", "never"))])
    with pytest.raises(AttributeError, match="never"):
        Part()


def test_a_car_that_has_driven_and_stopped_has_written_all_of_them():
    """They are there to be read then: it is not that nobody ever would."""
    car = Car(loop_brake_ms=600, rc_fitted=1)
    car.board.has_receiver = 1
    car.drive(PAD, speed_mm_s=1000)
    car.speed_mm_s = 1000
    car.board.runstop_closed = 0
    car.step(20)
    app = car.app
    parts = {type(it): it for it in [*vars(app).values(), *vars(app.fault_monitor).values()]}
    for cls, attributes in some(rows()):
        if cls not in _ELSEWHERE:
            lacking = [name for name in attributes if not hasattr(parts[cls], name)]
            assert (cls.__name__, lacking) == (cls.__name__, [])
