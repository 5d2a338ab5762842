"""By which rule a seat is asked for, kept and taken over. In virtual time."""

from __future__ import annotations

from host_bridge.core import OperatorRequest
from host_bridge.station.server.page_seat import FRAME, PageSeat
from host_bridge.station.server.seat_holder import UNANSWERED_US, SeatHolder


class Table:
    """One page has the seat; the time is set by hand."""

    def __init__(self, **words: str) -> None:
        self.now_us = 1_000_000
        self.seat = PageSeat(lambda: self.now_us, lambda lines: None)
        asked = {"car": "red", "by": "Laptop", **words}
        self.holder = SeatHolder.from_request(asked, self.seat, self.now_us)

    def hold(self) -> None:
        for flags in (0, 1):
            self.seat.hear(FRAME.pack(1, flags, 0, 0, 0))


def test_one_page_asks_at_a_time_and_the_next_one_when_it_is_answered():
    holder = Table().holder
    assert holder.ask("Phone", 2_000_000)
    assert holder.ask("Tablet", 2_000_000) is None
    assert holder.row(2_000_000)["asked_by"] == "Phone"
    holder.keep()
    assert holder.ask("Tablet", 3_000_000)


def test_an_asking_that_was_answered_takes_nothing_over():
    table = Table()
    asking = table.holder.ask("Phone", 2_000_000)
    table.holder.keep()
    assert not table.holder.take_over(asking, 1_000_000 + 10 * UNANSWERED_US)
    assert list(table.seat.requests()) == []


def test_it_is_taken_over_after_30_s_without_an_answer_and_not_a_moment_before():
    assert UNANSWERED_US == 30_000_000
    table = Table()
    asking = table.holder.ask("Phone", 2_000_000)
    assert table.holder.take_over(asking, 31_999_999) is False
    assert list(table.seat.requests()) == []
    assert table.holder.take_over(asking, 32_000_000) is True
    assert list(table.seat.requests()) == [OperatorRequest.QUIT]


def test_whoever_holds_is_not_taken_over_from():
    table = Table()
    asking = table.holder.ask("Phone", 2_000_000)
    table.now_us = 20_000_000
    table.hold()
    assert not table.holder.take_over(asking, 49_999_999)
    assert table.holder.take_over(asking, 50_000_000)


def test_a_hold_from_before_it_was_asked_for_counts_for_nothing():
    table = Table()
    table.hold()
    asking = table.holder.ask("Phone", 2_000_000)
    assert not table.holder.take_over(asking, 31_999_999)
    assert table.holder.take_over(asking, 32_000_000)


def test_a_page_of_the_same_name_neither_takes_over_nor_withdraws_for_another():
    table = Table()
    first = table.holder.ask("Phone", 2_000_000)
    table.holder.keep()
    second = table.holder.ask("Phone", 3_000_000)
    table.holder.withdraw(first)
    assert table.holder.asked_by == "Phone"
    assert not table.holder.take_over(first, 40_000_000)
    table.holder.withdraw(second)
    assert table.holder.asked_by == ""


def test_every_page_is_shown_who_has_it_since_when_and_who_asks():
    holder = Table().holder
    shown = {"by": "Laptop", "cars": ["red"], "program": "", "drives": ""}
    assert holder.row(2_260_000) == {**shown, "since_s": 1.3, "asked_by": ""}
    holder.ask("Phone", 3_000_000)
    assert holder.row(61_000_000) == {**shown, "since_s": 60.0, "asked_by": "Phone"}


def test_what_drives_is_the_program_until_its_person_steers():
    holder = Table(program="path centre").holder
    for takes_over, drives in ((False, "path centre"), (True, "")):
        holder.seat.takes_over |= takes_over
        row = holder.row(2_000_000)
        assert (row["program"], row["drives"]) == ("path centre", drives)
