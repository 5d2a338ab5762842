"""Reads and writes path files: named columns, ``x_m`` and ``y_m`` among them.

It reads our own (``x_m,y_m,speed_mps``), the centre lines and racing lines of F1TENTH's race tracks
(``# x_m, y_m, w_tr_right_m, w_tr_left_m`` and ``# s_m; x_m; y_m; psi_rad; kappa_radpm; vx_mps;
ax_mps2``), and any other with these names, separated as ``sim_mock/files`` reads them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path as FilePath

import numpy as np

from host_bridge.core.files import Table, TableRow, TableSchema, number, raised_as, read_table
from host_bridge.inputs.paths.path import Floats, Path
from host_bridge.logs.new_file import write_new

HEADER = ("x_m", "y_m", "speed_mps")
LONGEST_M = 10_000.0  # chosen: an hour at 3 m/s; a lap in millimetres is longer
_APART_M = 1e6  # from the origin: maps of whole countries count in such metres
_MOST_MPS = 60.0  # faster than any car here
_LOOP = "loop: "
SCHEMA = TableSchema(
    "path",
    (
        number("x_m", -_APART_M, _APART_M),
        number("y_m", -_APART_M, _APART_M),
        number("speed_mps", -_MOST_MPS, _MOST_MPS, default=None),
        number("vx_mps", -_MOST_MPS, _MOST_MPS, default=None),
    ),
    rows="points",
    example="x_m,y_m / 0.0,0.0 / 0.1,0.0 (tandem path makes them)",
)


def read_path(file: FilePath, columns: Mapping[str, str] | None = None) -> Path:
    """Read a path: points in m, and speeds in m/s if the file has them.

    ``columns`` has other names of its columns by ours.

    Raises errors.DataFileFault, with the line, for a file that is no path, for one that is longer
    than ``LONGEST_M``, and for speeds that are not driven: backward, or 0 on the way.
    """
    table = read_table(file, SCHEMA, columns)
    points = np.array([table.column("x_m"), table.column("y_m")], dtype=float).T
    with raised_as():
        speeds, is_loop = _speeds(table), _is_loop(table)
        try:
            path = Path(points, speeds, is_loop)
        except ValueError:
            got = f"{len(points)} rows"
            what = "no path: too short"
            raise table.fault(table.header_line, what, "two different points", got) from None
        _refuse_long(table, path)
    if table.others:
        path.unread = f"columns of the path that are not read: {', '.join(table.others)}"
    return path


def write_path(file: FilePath, path: Path) -> None:
    """Write a path to a new file.

    Raises errors.DataFileFault, also if the file exists.
    """
    points, speeds = path.points_m, path.speeds_mps
    if path.is_loop:  # without the repeated first point, which closed it
        points, speeds = points[:-1], None if speeds is None else speeds[:-1]
    columns = points if speeds is None else np.column_stack((points, speeds))
    lines = [f"# {_LOOP}" + ("yes" if path.is_loop else "no"), ",".join(HEADER[: columns.shape[1]])]
    lines += [",".join(f"{value:.4f}" for value in row) for row in columns]
    write_new(file, "the path", "\n".join(lines) + "\n")


def _is_loop(table: Table) -> bool | None:
    """Return what the file's comment says of a loop; None if it says nothing."""
    answers = [
        text.removeprefix(_LOOP).strip() for text in table.comments if text.startswith(_LOOP)
    ]
    if not answers:
        return None
    if answers[-1] not in ("yes", "no"):
        raise table.fault(0, "# loop: neither yes nor no", "yes or no", answers[-1])
    return answers[-1] == "yes"


def _speeds(table: Table) -> Floats | None:
    """Return the speeds by point, or None. Raises FileFault for speeds that are not driven."""
    names = [name for name in table.names if name in ("speed_mps", "vx_mps")]
    if not names:
        return None
    if len(names) > 1:
        got = " and ".join(names)
        raise table.fault(table.header_line, "two columns have speeds", "one of them", got)
    for row in table.rows:
        if row.values[names[0]] < 0.0:
            raise _backward(table, row, names[0])
    speeds = np.array(table.column(names[0]), dtype=float)
    moving = np.flatnonzero(speeds > 0.0)
    standing = np.flatnonzero(speeds == 0.0)
    on_the_way = [at for at in standing if moving.size and moving[0] < at < moving[-1]]
    if on_the_way or not moving.size:
        row = table.rows[on_the_way[0] if on_the_way else 0]
        raise table.fault(
            row.line,
            "a speed of 0 on the way: the car would never drive on",
            "speeds above 0 but at the ends",
            f"{names[0]} {row.values[names[0]]:g}",
            "leave the column out to drive at half of the limit, or at --speed",
        )
    return speeds


def _backward(table: Table, row: TableRow, name: str) -> Exception:
    return table.fault(
        row.line,
        "a speed below 0: a path is driven forward only",
        "speeds from 0",
        f"{name} {row.values[name]:g}",
        "reverse is driven by --input csv: (a throttle below 0)",
    )


def _refuse_long(table: Table, path: Path) -> None:
    if path.length_m > LONGEST_M:
        raise table.fault(
            0,
            f"this path is {path.length_m / 1000:.1f} km long",
            f"at most {LONGEST_M / 1000:.0f} km",
            f"{path.length_m:.0f} m",
            "is it in millimetres? x_m and y_m are in metres",
        )
