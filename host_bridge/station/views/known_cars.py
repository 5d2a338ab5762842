"""The cars that a station remembers while it runs: the number of each, and those that are gone."""

from __future__ import annotations

from collections.abc import Mapping

MOST_GONE = 8  # more tombstones than that are no news any more
Row = dict[str, object]


class CarNumbers:
    """The number of each car, by its board: a car keeps it, whatever happens, until the end."""

    def __init__(self) -> None:
        self._by_board: dict[str, int] = {}
        self._by_name: dict[str, int] = {}
        self._last = 0

    def of(self, name: str, board: str) -> int:
        """Return the car's number, from 1; ``board`` is "" until the car has told it."""
        if not board:
            return self._by_name.get(name) or self._next(name)
        if board not in self._by_board:
            mine = self._by_name.get(name)
            is_free = mine is not None and mine not in self._by_board.values()
            self._by_board[board] = mine if mine and is_free else self._next(name)
        self._by_name[name] = self._by_board[board]
        return self._by_board[board]

    def _next(self, name: str) -> int:
        self._last += 1
        self._by_name[name] = self._last
        return self._last


class GoneCars:
    """The cars that were served and are not any more, each as it was when it was heard last."""

    def __init__(self) -> None:
        self._rows: dict[str, tuple[Row, int, str]] = {}

    def add(self, row: Mapping[str, object], now_us: int, heard_at: str) -> None:
        """Keep a car's last row; ``heard_at`` is the time of day at which it was last heard.

        A car that was never heard leaves nothing.
        """
        age_ms = row.get("age_ms")
        if not isinstance(age_ms, int):
            return
        name = str(row["name"])
        self._rows.pop(name, None)
        self._rows[name] = dict(row), now_us - age_ms * 1000, heard_at
        while len(self._rows) > MOST_GONE:
            del self._rows[next(iter(self._rows))]

    def drop(self, name: str) -> None:
        """Forget a car: it is there again."""
        self._rows.pop(name, None)

    def rows(self, now_us: int) -> list[Row]:
        """Return the last row of each, marked, with the seconds since it was heard."""
        return [
            {
                **row,
                "is_gone": True,
                "gone_s": round((now_us - heard_us) * 1e-6, 1),
                "age_ms": (now_us - heard_us) // 1000,
                "heard_at": heard_at,
            }
            for row, heard_us, heard_at in self._rows.values()
        ]
