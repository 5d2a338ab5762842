"""Reads and writes path files: named columns, ``x_m`` and ``y_m`` among them.

It reads our own (``x_m,y_m,speed_mps``), the centre lines and racing lines of F1TENTH's race tracks
(``# x_m, y_m, w_tr_right_m, w_tr_left_m`` and ``# s_m; x_m; y_m; psi_rad; kappa_radpm; vx_mps;
ax_mps2``), and any other with these names. Separators are commas or semicolons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path as FilePath

import numpy as np

from host_bridge.core.errors import DataFileFault
from host_bridge.inputs.paths.path import Path
from host_bridge.logs.new_file import write_new

HEADER = ("x_m", "y_m", "speed_mps")
_SPEEDS = ("speed_mps", "vx_mps")
_MARK = "# loop: "
_EXAMPLE = "a file like: x_m,y_m / 0.0,0.0 / 0.1,0.0 (tandem path makes them)"


def read_path(file: FilePath) -> Path:
    """Read a path.

    Raises errors.DataFileFault, with the line, for a file that is no path.
    """
    names, rows, is_loop = _table(file)
    x, y = names.index("x_m"), names.index("y_m")
    speed = next((names.index(name) for name in _SPEEDS if name in names), None)
    table = np.array(rows, dtype=float)
    try:
        speeds = None if speed is None else table[:, speed]
        return Path(table[:, [x, y]], speeds, is_loop)
    except (ValueError, IndexError):
        raise _fault(file, 1, "too short", "two different points", f"{len(rows)} rows") from None


def write_path(file: FilePath, path: Path) -> None:
    """Write a path to a new file.

    Raises errors.DataFileFault, also if the file exists.
    """
    points, speeds = path.points_m, path.speeds_mps
    if path.is_loop:  # without the repeated first point, which closed it
        points, speeds = points[:-1], None if speeds is None else speeds[:-1]
    columns = points if speeds is None else np.column_stack((points, speeds))
    lines = [_MARK + ("yes" if path.is_loop else "no"), ",".join(HEADER[: columns.shape[1]])]
    lines += [",".join(f"{value:.4f}" for value in row) for row in columns]
    write_new(file, "the path", "\n".join(lines) + "\n")


def _table(file: FilePath) -> tuple[list[str], list[list[float]], bool | None]:
    names: list[str] = []
    rows: list[list[float]] = []
    is_loop = None
    for number, line in enumerate(_lines(file), 1):
        cells = [cell.strip() for cell in line.lstrip("# ").replace(";", ",").split(",")]
        if line.startswith(_MARK):
            is_loop = line.removeprefix(_MARK).strip() == "yes"
        elif {"x_m", "y_m"} <= set(cells) and not names:
            names = cells
        elif line.strip() and not line.startswith("#"):
            rows.append(_row(file, number, cells, names))
    if not rows:
        raise _fault(file, 1, "no points in it", "two at least", "none")
    return names, rows, is_loop


def _row(file: FilePath, line: int, cells: Sequence[str], names: Sequence[str]) -> list[float]:
    if not names:
        raise _fault(file, line, "no names of its columns", "x_m and y_m first", repr(cells[:4]))
    if len(cells) != len(names):
        raise _fault(file, line, "wrong number of values", str(len(names)), str(len(cells)))
    try:
        row = [float(cell) for cell in cells]
    except ValueError:
        raise _fault(file, line, "not a number", "numbers", ",".join(cells)) from None
    if not all(map(math.isfinite, row)):
        raise _fault(file, line, "not a finite number", "finite numbers", ",".join(cells))
    return row


def _lines(file: FilePath) -> list[str]:
    try:
        return file.read_text("utf-8").splitlines()
    except OSError as error:
        raise DataFileFault.unreadable(file, error) from error
    except UnicodeDecodeError:
        raise _fault(file, 1, "is not text", "rows of numbers", "binary data") from None


def _fault(file: FilePath, line: int, what: str, expected: str, got: str) -> DataFileFault:
    where = f"{file}:{line}"
    return DataFileFault(
        f"no path: {what}", where=where, expected=expected, got=got, remedy=f"give {_EXAMPLE}"
    )
