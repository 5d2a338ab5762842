"""The holder of the seat: a page by the name that its person gave, and the cars that it drives.

Another page may ask for it. Whoever has it gives it or keeps it; without an answer for 30 s in
which nobody held, the one who asked may take it over. The cars are braked and disarmed first,
always.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from host_bridge.core import OperatorRequest
from host_bridge.station.server.page_seat import PageSeat

_LONGEST_NAME = 20  # what a tile has room for
_MOST_CARS = 4  # what a map of one seat shows apart
NOBODY = "Another page"  # one that gave no name
UNANSWERED_US = 30_000_000  # long enough to look up from the car, and to press a button


@dataclass(frozen=True, eq=False)
class Asking:
    """One asking for the seat: by which page, and since when; each is another one."""

    by: str
    since_us: int


@dataclass
class SeatHolder:
    """A page's seat: its cars, the driven one first, and the boards that the page knew them by."""

    seat: PageSeat
    by: str
    cars: tuple[str, ...]
    boards: Mapping[str, str]
    since_us: int
    program: str  # what drives while the page is held; "": the hand itself
    _asking: Asking | None = None

    @classmethod
    def from_request(cls, asked: Mapping[str, object], seat: PageSeat, now_us: int) -> SeatHolder:
        """Return the holder that the first message of a page names; what is no text is left out."""
        twins = asked.get("with")
        named = [asked.get("car", ""), *(twins if isinstance(twins, list) else [])]
        cars = [str(it) for it in named]
        boards = asked.get("boards")
        known = boards.items() if isinstance(boards, dict) else ()
        return cls(
            seat,
            page_name(asked),
            tuple(dict.fromkeys(cars))[:_MOST_CARS],
            {str(name): str(board) for name, board in known},
            now_us,
            str(asked.get("program") or ""),
        )

    def named(self) -> str:
        """Return ": NAME" for a sentence; "" for a page that gave no name."""
        return "" if self.by == NOBODY else f": {self.by}"

    @property
    def asked_by(self) -> str:
        """The page that asks for the seat; "" if none does."""
        return self._asking.by if self._asking else ""

    def ask(self, by: str, now_us: int) -> Asking | None:
        """Note that a page asks for the seat, and return that; None if another one does already."""
        if self._asking:
            return None
        self._asking = Asking(by, now_us)
        return self._asking

    def keep(self) -> None:
        """End the asking: whoever has it keeps it."""
        self._asking = None

    def withdraw(self, asking: Asking) -> None:
        """End this asking: its page waits no more."""
        if self._asking is asking:
            self._asking = None

    def take_over(self, asking: Asking, now_us: int) -> bool:
        """Brake, disarm and give up the seat if nobody answered this asking or held for 30 s.

        Returns False otherwise.
        """
        held_us = self.seat.held_us
        last_us = asking.since_us if held_us is None else max(asking.since_us, held_us)
        if self._asking is not asking or now_us - last_us < UNANSWERED_US:
            return False
        self.seat.request(OperatorRequest.QUIT)
        return True

    def row(self, now_us: int) -> dict[str, object]:
        """Return what every page shows of it."""
        return {
            "by": self.by,
            "cars": list(self.cars),
            "since_s": round((now_us - self.since_us) * 1e-6, 1),
            "program": self.program,
            "drives": "" if self.seat.takes_over else self.program,
            "asked_by": self.asked_by,
        }


def page_name(asked: Mapping[str, object]) -> str:
    """Return the name that a page's person gave, in one printable line."""
    by = "".join(it for it in str(asked.get("by", "")) if it.isprintable()).strip()
    return by[:_LONGEST_NAME] or NOBODY
