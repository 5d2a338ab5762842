"""A map from commanded to actual acceleration, by speed: a CSV table with bilinear interpolation.

The first row holds speeds in m/s, the first column commanded accelerations in m/s^2, the cells the
resulting acceleration. Outside the table its border holds.
"""

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from sim_mock.files.numbers import parse_number
from sim_mock.files.tables import read_rows


class AccelerationMap:
    """The cells by commanded acceleration (rows) and speed (columns), both rising."""

    def __init__(
        self,
        speeds_mps: Sequence[float],
        commanded_mps2: Sequence[float],
        cells_mps2: Sequence[Sequence[float]],
    ) -> None:
        self.speeds_mps, self.commanded_mps2 = tuple(speeds_mps), tuple(commanded_mps2)
        self.cells_mps2 = tuple(tuple(row) for row in cells_mps2)

    def actual_mps2(self, commanded_mps2: float, speed_mps: float) -> float:
        """Return the acceleration that results from ``commanded_mps2`` at ``speed_mps``."""
        row, down = place(self.commanded_mps2, commanded_mps2)
        column, along = place(self.speeds_mps, speed_mps)
        upper, lower = self.cells_mps2[row], self.cells_mps2[row + 1]
        above = between(upper[column], upper[column + 1], along)
        below = between(lower[column], lower[column + 1], along)
        return between(above, below, down)


def place(axis: Sequence[float], value: float) -> tuple[int, float]:
    """Return the index of the cell that holds ``value``, and the share within it, from 0 to 1."""
    index = min(max(bisect_right(axis, value) - 1, 0), len(axis) - 2)
    share = (value - axis[index]) / (axis[index + 1] - axis[index])
    return index, min(max(share, 0.0), 1.0)


def between(first: float, second: float, share: float) -> float:
    """Interpolate linearly: ``first`` at 0, ``second`` at 1."""
    return first + share * (second - first)


def read_acceleration_map(path: Path) -> AccelerationMap:
    """Read the map in a CSV file.

    Raises ValueError, with file and line, where a row is of another length than the first, a cell
    is no finite number, or an axis does not rise.
    """
    rows = read_rows(path)
    if len(rows) < 3 or len(rows[0][1]) < 3:
        raise ValueError(f"{path}: expected a map of at least 2 x 2 cells, got {len(rows)} rows")
    (line, first), *others = rows
    speeds = _numbers(path, line, first[1:], len(first) - 1)
    body = [_numbers(path, line, cells, len(first)) for line, cells in others]
    commanded = [row[0] for row in body]
    for what, axis in (("speeds in the first row", speeds), ("first column", commanded)):
        if any(a >= b for a, b in pairwise(axis)):
            raise ValueError(f"{path}: expected the {what} to rise, got {axis}")
    return AccelerationMap(speeds, commanded, [row[1:] for row in body])


def _numbers(path: Path, line: int, cells: Sequence[str], count: int) -> list[float]:
    try:
        numbers = [parse_number(cell) for cell in cells]
    except ValueError as error:
        what = f"expected {count} finite numbers: {error}; every cell is a number"
        raise ValueError(f"{path}: line {line}: {what}") from None
    if len(numbers) != count:
        raise ValueError(f"{path}: line {line}: expected {count} finite numbers, got {cells}")
    return numbers
