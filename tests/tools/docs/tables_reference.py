"""The pages of keys, texts and messages, made of the tables that the programs work from."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from firmware.protocol import messages
from firmware.protocol.boxes import BoxHeard, BoxWord
from host_bridge.config.vehicle import schema
from host_bridge.core import codes
from host_bridge.core.errors import EXIT_CODES
from host_bridge.core.texts import table as texts
from sim_mock.files.keys import REQUIRED, Key
from sim_mock.plant import tables as plant
from tests.tools.docs.markdown import code, plain, section, table

_VEHICLE_TABLES: dict[str, Iterable[Key]] = {
    **{name: keys for name, keys in schema.TABLES.items() if name},
    "sources.NAME": schema.SOURCE_KEYS,
    "stop.sources.NAME": schema.STOP_SOURCE_KEYS,
    "profiles.NAME": schema.PROFILE_KEYS,
    "accepted_coast": schema.ACCEPTED_COAST_KEYS,
    "rc": schema.RC_KEYS,
}
# The rows of texts by the enumeration they belong to, with the title of each table
_TEXTS = {
    "State": "States",
    "Cause": "Causes of a stop",
    "Fault": "Faults",
    "EventCode": "Events",
    "Refusal": "Why a request is refused",
    "ClaimVerdict": "Why a command is refused",
    "ArbitrationLoss": "Why a command is not followed",
    "BoxPairing": "A car and its runstop box",
    "BindResult": "Answers to a program that connects",
    "WriteResult": "Answers to a parameter that is written",
    "ResetCause": "Why a board began anew",
    "BatteryStage": "Battery",
    "Profile": "Profiles",
    "Sender": "Who stops or asks",
    "Action": "Requests",
    "Actuator": "Actuators",
    "RcMode": "The transmitter's switch",
    "Device": "Devices",
}


def write(folder: Path) -> None:
    """Write the three pages into this folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (
        ("vehicle_keys", vehicle_keys()),
        ("texts", texts_page()),
        ("messages", messages_page()),
    ):
        (folder / f"{name}.md").write_text(text, "utf-8")


def vehicle_keys() -> str:
    """Return the page of all tables and keys of a vehicle file."""
    tables = [section(2, "At the top", _keys(schema.TABLES[""]))]
    tables += [
        section(2, f"[{name}]", _keys(keys)) for name, keys in _VEHICLE_TABLES.items() if keys
    ]
    tables += [
        section(2, f'[[channels]] of kind "{kind}"', _keys(keys))
        for kind, keys in schema.CHANNEL_KEYS.items()
    ]
    tables += [
        section(2, f"[{name}]" if name else "[plant]", _keys(keys))
        for name, keys in plant.TABLES.items()
    ]
    return section(
        1,
        "Keys of a vehicle file",
        "Made of the tables by which vehicle files are read. What the keys are for stands in "
        "[vehicle files](../hardware/vehicles/README.md); the ending of a key is its unit.",
        *tables,
    )


def texts_page() -> str:
    """Return the page of all codes that a user meets, with what to do about each."""
    missing = set(texts.TEXTS) - set(_TEXTS)
    if missing:
        raise KeyError(f"no title in tests/tools/docs for the texts of {sorted(missing)}")
    parts = [_texts(title, texts.TEXTS[kind], _numbers(kind)) for kind, title in _TEXTS.items()]
    for title, rows in (
        ("Sources, by their names in vehicle files", texts.SOURCE_TEXTS),
        ("Stop sources, by their names in vehicle files", texts.STOP_SOURCE_TEXTS),
        ("A stop that nothing acknowledged", texts.UNHEARD_TEXTS),
    ):
        parts.append(_texts(title, rows, {}))
    exits = [[str(number), plain(meaning)] for number, meaning in EXIT_CODES]
    return section(
        1,
        "States, events and faults, with what to do",
        "Made of the one table of texts that every command and the station read. The word is "
        "what screens show, the code what JSON, CSV and parameters keep. What stands in braces "
        "is filled in by each message.",
        *parts,
        section(2, "Exit codes of commands", table(["code", "meaning"], exits)),
    )


def messages_page() -> str:
    """Return the page of all messages on the wire, by direction."""
    return section(
        1,
        "Messages on the wire",
        "Made of the table that board and host both work from "
        "([protocol](../firmware/protocol/README.md)). The width `u30` is an unsigned number of 30 "
        "bits, `b8` eight bytes. The numbers of codes are in [texts](texts.md).",
        _messages("From a host to a car", messages.TO_BOARD),
        _messages("From a car to hosts", messages.TO_HOST),
        _messages("Between a runstop box and its car", (BoxWord, BoxHeard)),
    )


def _keys(keys: Iterable[Key]) -> str:
    rows = [
        [
            code(key.name),
            plain(key.expected + (f": {key.meaning}" if key.meaning else "")),
            _default(key),
        ]
        for key in keys
    ]
    return table(["key", "value", "where it is left out"], rows)


def _default(key: Key) -> str:
    if key.default is REQUIRED:
        return "has to be there"
    if key.default is None:
        return "none"
    return code(repr(key.default).replace("'", '"')) if key.default != "" else "empty"


def _numbers(kind: str) -> dict[str, int]:
    return {it.name: int(it) for it in getattr(codes, kind)}


def _texts(title: str, rows: Mapping[str, texts.Row], numbers: dict[str, int]) -> str:
    cells = [
        [str(numbers.get(name, "")), code(name), plain(word), plain(sentence), plain(remedy)]
        for name, word, sentence, remedy in rows.values()
    ]
    heads = ["no.", "code", "word", "in a sentence", "what to do"]
    start = 0 if numbers else 1
    return section(2, title, table(heads[start:], [row[start:] for row in cells]))


def _messages(title: str, rows: Iterable[type]) -> str:
    parts = []
    for message in rows:
        fields = [
            [code(name), code(width), f"{low} to {high}" if high or low else "", plain(unit)]
            for name, width, low, high, unit in message.FIELDS
        ]
        about = plain(message.__doc__ or "")
        frozen = "Frozen for ever." if message in messages.FROZEN and "Frozen" not in about else ""
        heads = ["field", "width", "range", "unit or meaning"]
        head = f"{message.__name__} ({message.ID})"
        parts.append(section(3, head, about, frozen, table(heads, fields)))
    return section(2, title, *parts)
