"""Writes the reference page of the files that people bring, out of the schemas that read them.

python -m tests.sim_mock.files.files_page --write
"""

import sys
from collections.abc import Iterator
from pathlib import Path

from calibration.logs import trace_csv, tracked_positions
from host_bridge.core.files import TableSchema, drive_tables
from host_bridge.deploy.hil.report import analyser
from host_bridge.inputs.paths import path_file
from sim_mock.files.keys import REQUIRED, Key
from sim_mock.tracks import map_file

PAGE = Path(__file__).resolve().parents[3] / "sim_mock" / "files" / "REFERENCE.md"
HEAD = """\
# Files that people bring: their columns and keys

Each number has the range in which it is believed; what is outside is refused with its line. How
tables and documents are written is in the [README](README.md). This page is made of the schemas
that read the files, by `python -m tests.sim_mock.files.files_page --write`.
"""
# schema -> where such a table is given
TABLES: tuple[tuple[TableSchema, str], ...] = (
    (drive_tables.COMMANDS, "`tandem drive --input csv:FILE`, `tandem replay --commands FILE`"),
    (drive_tables.ODOMETRY, "`tandem replay --against FILE`"),
    (path_file.SCHEMA, "`tandem drive --input path:FILE`, `tandem path show FILE`"),
    (trace_csv.SCHEMA, "`tandem calibrate FILE.csv --vehicle NAME`"),
    (tracked_positions.SCHEMA, "`tandem calibrate LOG --places FILE`"),
    (analyser.schema_of(list(analyser.PARTS)), "`tandem hil --csv FILE --channel PART=COLUMN`"),
)
DOCUMENTS: tuple[tuple[str, tuple[Key, ...], str], ...] = (
    (
        "map (YAML of ROS's map_server)",
        map_file.KEYS,
        "`sim://f1tenth?map=FILE`, `tandem path centre FILE`",
    ),
)


def page() -> str:
    """Return the text of the page."""
    parts = [HEAD]
    for schema, where in TABLES:
        extra = f"The values of `{schema.rising}` never fall. " if schema.rising else ""
        gaps = "Cells of columns that may be missing may be empty." if schema.has_gaps else ""
        parts.append(_part(schema.title, where, schema.columns, f"{extra}{gaps}".strip()))
    parts += [_part(title, where, keys, "") for title, keys, where in DOCUMENTS]
    return "\n".join(parts)


def _part(title: str, where: str, keys: tuple[Key, ...], more: str) -> str:
    lines = [
        f"## {title[0].upper()}{title[1:]}",
        "",
        f"Given as {where}.{' ' if more else ''}{more}",
    ]
    return "\n".join([*lines, "", *_rows(keys), ""])


def _rows(keys: tuple[Key, ...]) -> Iterator[str]:
    yield "| name | what it is | must be there |"
    yield "|---|---|---|"
    for key in keys:
        meaning = f"; {key.meaning}" if key.meaning else ""
        yield f"| `{key.name}` | {key.expected}{meaning} | {_necessity(key)} |"


def _necessity(key: Key) -> str:
    if key.default is REQUIRED:
        return "yes"
    return "no" if key.default is None else f"no: {key.default}"


def main() -> int:
    """Write the page, or say whether it is as the schemas have it."""
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page(), encoding="utf-8")
        return 0
    print(page())
    return 0


if __name__ == "__main__":
    sys.exit(main())
