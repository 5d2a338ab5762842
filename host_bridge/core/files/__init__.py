"""The host's readers of files that people bring: those of ``sim_mock.files``, with host's errors.

Whatever reads a table or a document on the host calls these, or works within ``raised_as``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DataFileFault, TandemError
from sim_mock.files import documents, reading, tables
from sim_mock.files.documents import Document
from sim_mock.files.keys import Key, choice, flag, integer, number, text
from sim_mock.files.numbers import finite, parse_number, parse_whole
from sim_mock.files.table_schema import (
    Table,
    TableRow,
    TableSchema,
    format_columns,
    parse_columns,
)
from sim_mock.files.text import (
    FileFault,
    MissingFile,
    begins_with,
    decoded,
    opened,
    read_bytes,
    read_text,
)

__all__ = [
    "Document",
    "FileFault",
    "Key",
    "MissingFile",
    "Table",
    "TableRow",
    "TableSchema",
    "begins_with",
    "choice",
    "decoded",
    "finite",
    "flag",
    "format_columns",
    "integer",
    "misread_text",
    "number",
    "opened",
    "parse_columns",
    "parse_number",
    "parse_whole",
    "raised_as",
    "read_bytes",
    "read_json",
    "read_keys",
    "read_samples",
    "read_table",
    "read_text",
    "read_toml",
    "read_yaml",
    "stream_table",
    "text",
    "yaml_value",
]

# As Python words the call of a class with the keys of a document
_UNKNOWN_KEY = re.compile(r"unexpected keyword argument '(\w+)'")
_MISSING_KEYS = re.compile(r"missing \d+ required .*: (.*)")
SAMPLES_BYTES = 4 << 30  # an hour of a car with a LIDAR is 3 GB; lines are read one by one


def misread_text(error: Exception) -> str:
    """Return what an error of Python says of a document that was read, without Python's names.

    A ValueError's text is kept: the readers of values write it. A key that is missing or not
    known is named, as it stands in the file; of other errors nothing is known but that a value is
    of another kind than expected.
    """
    if isinstance(error, KeyError):
        key = str(error.args[0]) if error.args else "key"
        return key if " " in key else f"there is no {key}"  # NumPy raises it with a sentence
    if not isinstance(error, TypeError | AttributeError | IndexError):
        return str(error)
    if unknown := _UNKNOWN_KEY.search(str(error)):
        return f"there is no key {unknown[1]}"
    if missing := _MISSING_KEYS.search(str(error)):
        names = missing[1].replace("'", "")
        return f"there is no {names}"
    return "a value is of another kind than expected"


@contextmanager
def raised_as(fault: type[TandemError] = DataFileFault) -> Iterator[None]:
    """Raise ``fault``, with the same words, in place of any ``FileFault`` within."""
    try:
        yield
    except FileFault as error:
        raise fault(
            error.what,
            where=error.where,
            expected=error.expected,
            got=error.got,
            remedy=error.remedy,
        ) from None


def read_table(path: Path, schema: TableSchema, columns: Mapping[str, str] | None = None) -> Table:
    """Read a table; ``columns`` has other names of columns by ours. Raises errors.DataFileFault."""
    with raised_as():
        return tables.read_table(path, schema, columns)


def stream_table(
    path: Path,
    schema: TableSchema,
    columns: Mapping[str, str] | None = None,
    told: Callable[[int, int], None] | None = None,
) -> tuple[Table, Iterator[TableRow]]:
    """Return a table without its rows, and these one by one; ``told`` gets bytes, of how many.

    Raises errors.DataFileFault, the iterator too.
    """

    def rows() -> Iterator[TableRow]:
        with raised_as():
            yield from found

    with raised_as():
        table, found = tables.stream_table(path, schema, columns, told)
    return table, rows()


def read_toml(path: Path, fault: type[TandemError] = DataFileFault) -> Document:
    """Read a TOML file. Raises ``fault``."""
    with raised_as(fault):
        return documents.read_toml(path)


def read_json(path: Path, fault: type[TandemError] = DataFileFault) -> Document:
    """Read a JSON file whose top is an object. Raises ``fault``."""
    with raised_as(fault):
        return documents.read_json(path)


def yaml_value(text: str) -> Any:
    """Return the value of a few words of YAML, as on a command line. Raises FileFault."""
    from sim_mock.files import yaml_document

    return yaml_document.yaml_value(text)


def read_keys(
    document: Document, keys: Iterable[Key], fault: type[TandemError] = DataFileFault
) -> dict[str, Any]:
    """Return the values of a document that has these keys and no others. Raises ``fault``."""
    with raised_as(fault):
        return reading.read_table(document, "", document.values, keys)


def read_samples(path: Path, sensor: str, keys: Iterable[Key]) -> Iterator[dict[str, Any]]:
    """Yield the samples of one sensor of a virtual car's ``sensors=FILE``, by these keys.

    Raises errors.DataFileFault.
    """
    keys = tuple(keys)
    begin = f'{{"sensor": "{sensor}"'.encode()
    with raised_as():
        for line, row in documents.read_json_lines(path, begin, SAMPLES_BYTES):
            yield documents.line_values(path, line, row, keys)


def read_yaml(path: Path, fault: type[TandemError] = DataFileFault) -> Document:
    """Read a YAML file whose top is a mapping. Raises ``fault``."""
    from sim_mock.files import (
        yaml_document,  # its library takes 20 ms to load; few commands need it
    )

    with raised_as(fault):
        return yaml_document.read_yaml(path)
