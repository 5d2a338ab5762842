"""The same messages in MAVLink 2: its own generator makes a dialect out of our table."""

import contextlib
import importlib.util
import io
import tempfile
from pathlib import Path
from types import ModuleType

from pymavlink.generator import mavgen, mavparse

from firmware.protocol.codec import Message

# kind of our table -> the type of the same size in MAVLink
TYPES = {
    "u8": "uint8_t",
    "i8": "int8_t",
    "u16": "uint16_t",
    "i16": "int16_t",
    "u30": "uint32_t",
    "i31": "int32_t",
    "b4": "uint8_t[4]",
    "b8": "uint8_t[8]",
    "b16": "uint8_t[16]",
}


def xml(kinds: list[type[Message]]) -> str:
    return (
        '<?xml version="1.0"?><mavlink><version>3</version><dialect>0</dialect><messages>'
        + "".join(message(kind) for kind in kinds)
        + "</messages></mavlink>"
    )


def message(kind: type[Message]) -> str:
    fields = "".join(
        f'<field type="{TYPES[row[1]]}" name="{row[0]}">{row[4]}</field>' for row in kind.FIELDS
    )
    name = kind.__name__.upper()
    return f'<message id="{kind.ID}" name="{name}"><description/>{fields}</message>'


def dialect(kinds: list[type[Message]]) -> ModuleType:
    """pymavlink's module for these messages, as its users have it. Needs no network."""
    with tempfile.TemporaryDirectory(prefix="tandem-bench-") as folder:
        source = Path(folder) / "tandem.xml"
        source.write_text(xml(kinds))
        made = Path(folder) / "tandem_mavlink.py"
        options = mavgen.Opts(
            str(made), wire_protocol=mavparse.PROTOCOL_2_0, language="Python3", validate=False
        )
        with contextlib.redirect_stdout(io.StringIO()):  # it talks
            mavgen.mavgen(options, [str(source)])
        return imported(made)


def imported(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
