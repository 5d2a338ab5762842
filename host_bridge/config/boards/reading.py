"""Strict reader of chips.toml, board files and their wirings."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from host_bridge.config.boards.facts import (
    BoardType,
    Chip,
    Part,
    Pin,
    Pins,
    Pio,
    PwmChannel,
    Wiring,
)
from host_bridge.config.boards.facts import pins_of as parsed_pins
from host_bridge.config.boards.schema import (
    BOARD_KEYS,
    BOARD_PROGRAMS,
    CHANNEL_PARTS,
    CHIP_KEYS,
    ENCODER_KINDS,
    I2C_KEYS,
    PARTS,
    PIO_KEYS,
    SIDES,
    SLOTS,
    UART_KEYS,
)
from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.config.vehicle.reading import table_of
from host_bridge.core.errors import VehicleFileFault
from sim_mock.files.keys import Key, choice
from sim_mock.files.reading import joined, read_key, read_table, refuse_unknown

FOLDER = Path(__file__).resolve().parents[3] / "hardware" / "boards"
_CHIPS = FOLDER / "chips.toml"
_ANY = "any"
_PROGRAM = choice("program", BOARD_PROGRAMS, default="car")


def board_names() -> tuple[str, ...]:
    """Return the names of the boards that Tandem brings along."""
    return tuple(sorted(path.stem for path in FOLDER.glob("*.toml") if path != _CHIPS))


def load_board(name_or_path: str) -> BoardType:
    """Load a board by its name (``pico``) or by the path of its file (anything with a / or .toml).

    Raises VehicleFileFault naming file, line, key, what was expected and got, and the remedy.
    """
    document = VehicleDocument(board_path(name_or_path))
    wired = "reserved", "wiring"
    refuse_unknown(document, "", document.values, (*(key.name for key in BOARD_KEYS), *wired))
    values = {k.name: read_key(document, k.name, document.values, k) for k in BOARD_KEYS}
    source = load_board(values["wired_as"]) if values["wired_as"] else None
    chip = _chip(document, values["chip"])
    return BoardType(
        name=document.path.stem,
        title=values["title"],
        chip=chip,
        clock_mhz=_clock_mhz(document, chip, values["clock_mhz"]),
        step_s=values["step_s"],
        machine=values["machine"],
        micropython=values["micropython"],
        pins=_pins(document, "pins", values["pins"]),
        adc=frozenset(_pins(document, "adc", values["adc"])),
        reserved=_reserved(document),
        wirings=source.wirings if source else _optional(document, "wiring"),
        document=source.document if source else document,
    )


def board_path(name_or_path: str) -> Path:
    """Return the file of a board, by name or path. Raises VehicleFileFault if there is none."""
    is_path = "/" in name_or_path or name_or_path.endswith(".toml")
    path = Path(name_or_path) if is_path else FOLDER / f"{name_or_path}.toml"
    if path.is_file() and path != _CHIPS:
        return path
    near = difflib.get_close_matches(name_or_path, board_names(), n=1)
    raise VehicleFileFault(
        f"there is no board file {name_or_path}",
        where=str(path),
        expected=f"one of {', '.join(board_names())}, or the path of a .toml file",
        got=name_or_path,
        remedy=f"did you mean {near[0]}?" if near else "see hardware/boards/README.md",
    )


def _optional(document: VehicleDocument, path: str) -> dict[str, Any]:
    """Return the table at a path, empty if it is not there."""
    parent, _, name = path.rpartition(".")
    tables = table_of(document, parent) if parent else document.values
    return table_of(document, path) if name in tables else {}


def _pins(document: VehicleDocument, path: str, text: str) -> tuple[Pin, ...]:
    try:
        return parsed_pins(text)
    except ValueError as error:
        raise document.fault(
            path,
            "these are not pins",
            expected="numbers or names with blanks between, 0-3 for 0 1 2 3",
            got=str(error),
            remedy="write each pin as MicroPython calls it",
        ) from error


def _clock_mhz(document: VehicleDocument, chip: Chip, asked_mhz: int) -> int:
    usual_mhz, most_mhz = chip.clock_mhz
    if asked_mhz == 0 or usual_mhz <= asked_mhz <= most_mhz:
        return asked_mhz or usual_mhz
    raise document.fault(
        "clock_mhz",
        f"this is no clock for an {chip.name}",
        expected=f"{usual_mhz} to {most_mhz} MHz: as MicroPython starts it, to what is supported",
        got=f"{asked_mhz}",
        remedy="correct it, or leave it out",
    )


def _reserved(document: VehicleDocument) -> dict[Pin, str]:
    given = _optional(document, "reserved")
    read = read_table(document, "reserved", given, [Key(name, "pins") for name in given])
    return {
        pin: purpose
        for purpose, text in read.items()
        for pin in _pins(document, f"reserved.{purpose}", text)
    }


# --- chips


def _chip(board: VehicleDocument, name: str) -> Chip:
    document = VehicleDocument(_CHIPS)
    if name not in document.values:
        raise board.fault(
            "chip",
            "this chip is not known",
            expected=f"one of {', '.join(document.values)}",
            got=name,
            remedy=f"describe it in {_CHIPS}",
        )
    facts = read_table(document, name, table_of(document, name), CHIP_KEYS)
    return Chip(
        name=name,
        port=facts["port"],
        mpy_arch=facts["mpy_arch"],
        clock_mhz=(facts["clock_mhz"], facts["clock_max_mhz"]),
        tolerant_5v=frozenset(_pins(document, f"{name}.tolerant_5v", facts["tolerant_5v"])),
        pull_down_max_ohm=facts["pull_down_max_ohm"],
        glitching=frozenset(_pins(document, f"{name}.glitching", facts["glitching"])),
        hard_timers=facts["hard_timers"],
        counters=facts["counters"],
        shares_interrupts=facts["shares_interrupts"],
        lacks=tuple(facts["lacks"]),
        pio=_pio(document, f"{name}.pio", facts["pio"]) if facts["pio"] else None,
        pwm=_pwm(document, f"{name}.pwm", facts["pwm"]),
        uarts=_buses(document, f"{name}.uart", facts["uart"], UART_KEYS),
        i2cs=_buses(document, f"{name}.i2c", facts["i2c"], I2C_KEYS),
    )


def _pio(document: VehicleDocument, path: str, given: dict[str, Any]) -> Pio:
    facts = read_table(document, path, given, PIO_KEYS)
    windows = (_pins(document, path, text) for text in facts["windows"])
    reaches = tuple((int(pins[0]), int(pins[-1])) for pins in windows)
    return Pio(facts["blocks"], facts["machines"], facts["instructions"], reaches)


def _pwm(document: VehicleDocument, path: str, given: dict[str, Any]) -> tuple[PwmChannel, ...]:
    groups = read_table(document, path, given, [Key(name, "text") for name in given])
    return tuple(
        PwmChannel(group, channel, _route(document, f"{path}.{group}", pins.replace(",", " ")))
        for group, text in groups.items()
        for channel, _, pins in (word.partition(":") for word in text.split())
    )


def _buses(
    document: VehicleDocument, path: str, given: dict[str, Any], keys: Sequence[Key]
) -> dict[int, dict[str, Pins]]:
    return {
        int(name): {
            wire: _route(document, joined(path, name), text)
            for wire, text in read_table(document, joined(path, name), bus, keys).items()
        }
        for name, bus in given.items()
    }


def _route(document: VehicleDocument, path: str, text: str) -> Pins:
    return None if text == _ANY else frozenset(_pins(document, path, text))


# --- wirings


def other_wirings() -> tuple[str, ...]:
    """Return the wirings of no vehicle on any of Tandem's boards: those of runstop boxes."""
    boards = map(load_board, board_names())
    return tuple(sorted({name for board in boards for name in board.wirings if board.is_box(name)}))


def read_wiring(board: BoardType, name: str, channels: list[dict[str, Any]]) -> Wiring | None:
    """Read a wiring, of a vehicle with these ``[[channels]]``; None if the board has none so named.

    A missing part is refused by the rules, not here. Raises VehicleFileFault.
    """
    if name not in board.wirings:
        return None
    document, path = board.document, f"wiring.{name}"
    given = table_of(document, path)
    refuse_unknown(document, path, given, ("program", "channels", "encoders", *SLOTS))
    kinds = {channel["name"]: CHANNEL_PARTS[channel["kind"]] for channel in channels}
    wired = _optional(document, f"{path}.channels")
    refuse_unknown(document, f"{path}.channels", wired, tuple(kinds))
    encoders = _optional(document, f"{path}.encoders")
    refuse_unknown(document, f"{path}.encoders", encoders, tuple(SIDES))
    return Wiring(
        program=read_key(document, joined(path, "program"), given, _PROGRAM),
        channels=tuple(
            _channel(document, f"{path}.channels.{channel}", parts, wired.get(channel, {}))
            for channel, parts in kinds.items()
            if channel in wired or parts == ("none",)
        ),
        encoders=tuple(
            _part_of_kind(document, f"{path}.encoders.{place}", "encoder", ENCODER_KINDS, table)
            for place, table in encoders.items()
        ),
        others={
            slot: _part_of_kind(document, f"{path}.{slot}", slot, SLOTS[slot], given[slot])
            for slot in SLOTS
            if slot in given
        },
    )


def _channel(document: VehicleDocument, path: str, kinds: tuple[str, ...], given: Any) -> Part:
    _refuse_no_table(document, path, given)
    kind_key = choice("kind", kinds, default=kinds[0])
    kind = read_key(document, joined(path, "kind"), given, kind_key)
    return _part(document, path, f"channel.{kind}", given, kind_key)


def _part_of_kind(
    document: VehicleDocument, path: str, slot: str, kinds: tuple[str, ...], given: Any
) -> Part:
    if not kinds:
        return _part(document, path, slot, given)
    _refuse_no_table(document, path, given)
    kind_key = choice("kind", kinds)
    kind = read_key(document, joined(path, "kind"), given, kind_key)
    return _part(document, path, f"{slot}.{kind}", given, kind_key)


def _part(document: VehicleDocument, path: str, kind: str, given: Any, *more: Key) -> Part:
    _refuse_no_table(document, path, given)
    values = read_table(document, path, given, (*more, *PARTS[kind].all_keys()))
    return Part(kind, path, values)


def _refuse_no_table(document: VehicleDocument, path: str, given: Any) -> None:
    if not isinstance(given, dict):
        raise document.fault(path, "this part is not a table", expected="{ wire = pin, … }")
