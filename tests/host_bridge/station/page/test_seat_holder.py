"""By which rule a seat is asked for, kept and taken over. In virtual time."""

from __future__ import annotations

from host_bridge.core import OperatorRequest
from host_bridge.station.server.page_seat import FRAME, PageSeat
from host_bridge.station.server.seat_holder import UNANSWERED_US, SeatHolder


class Table:
    """One page has the seat; the time is set by hand."""

    def __init__(self) -> None:
        self.now_us = 1_000_000
        self.seat = PageSeat(lambda: self.now_us, lambda lines: None)
        asked = {"car": "red", "by": "Laptop"}
        self.holder = SeatHolder.from_request(asked, self.seat, self.now_us)

    def hold(self) -> None:
        for flags in (0, 1):
            self.seat.hear(FRAME.pack(1, flags, 0, 0, 0))


def test_one_page_asks_at_a_time_and_the_next_one_when_it_is_answered():
    holder = Table().holder
    assert holder.ask("Phone", 2_000_000)
    assert not holder.ask("Tablet", 2_000_000)
    assert holder.row(2_000_000)["asked_by"] == "Phone"
    holder.keep()
    assert holder.ask("Tablet", 3_000_000)


def test_nobody_takes_over_what_nobody_asked_for():
    table = Table()
    assert not table.holder.take_over(1_000_000 + 10 * UNANSWERED_US)
    assert list(table.seat.requests()) == []


def test_it_is_taken_over_after_30_s_without_an_answer_and_not_a_moment_before():
    assert UNANSWERED_US == 30_000_000
    table = Table()
    table.holder.ask("Phone", 2_000_000)
    assert not table.holder.take_over(31_999_999)
    assert list(table.seat.requests()) == []
    assert table.holder.take_over(32_000_000)
    assert list(table.seat.requests()) == [OperatorRequest.QUIT]


def test_whoever_holds_is_not_taken_over_from():
    table = Table()
    table.holder.ask("Phone", 2_000_000)
    table.now_us = 20_000_000
    table.hold()
    assert not table.holder.take_over(49_999_999)
    assert table.holder.take_over(50_000_000)


def test_an_answer_ends_it():
    table = Table()
    table.holder.ask("Phone", 2_000_000)
    table.holder.keep()
    assert not table.holder.take_over(90_000_000)
