"""Who has the seat: the page by the name that its person gave, and the cars that it drives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

_LONGEST_NAME = 20  # what a tile has room for
_MOST_CARS = 4
NOBODY = "Another page"  # one that gave no name


@dataclass(frozen=True)
class SeatHolder:
    """A page's seat: its cars, the driven one first, and the boards that the page knew them by."""

    by: str
    cars: tuple[str, ...]
    boards: Mapping[str, str] = field(default_factory=dict)
    since_us: int = 0

    @classmethod
    def from_request(cls, asked: Mapping[str, object], now_us: int) -> SeatHolder:
        """Return the holder that the first message of a page names; what is no text is left out."""
        twins = asked.get("with")
        named = [asked.get("car", ""), *(twins if isinstance(twins, list) else [])]
        cars = [str(it) for it in named]
        boards = asked.get("boards")
        known = boards.items() if isinstance(boards, dict) else ()
        by = "".join(it for it in str(asked.get("by", "")) if it.isprintable()).strip()
        return cls(
            by[:_LONGEST_NAME] or NOBODY,
            tuple(dict.fromkeys(cars))[:_MOST_CARS],
            {str(name): str(board) for name, board in known},
            now_us,
        )

    def named(self) -> str:
        """Return ": NAME" for a sentence; "" for a page that gave no name."""
        return "" if self.by == NOBODY else f": {self.by}"

    def row(self, now_us: int) -> dict[str, object]:
        """Return what every page shows of it."""
        since_s = round((now_us - self.since_us) * 1e-6, 1)
        return {"by": self.by, "cars": list(self.cars), "since_s": since_s}
