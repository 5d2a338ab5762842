"""Conversion of a harness into WireViz input, sheet by sheet."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from hardware.drawing.harness import BOARD, Harness, Lead, PartPin

Sheet: TypeAlias = dict[str, Any]

_FONT = "DejaVu Sans"
_PIN_PREFIX = {"rp2": "GP", "esp32": "GPIO", "stm32": ""}
_SIGNAL_COLOURS = ("YE", "GN", "BU", "WH", "OG", "VT", "BN", "GY", "PK", "TQ")
_LAMP_COLOURS = {"green": "GN", "red": "RD", "yellow": "YE"}
_NUMBER = re.compile(r"(\d+)")


def sheet(harness: Harness, name: str) -> Sheet:
    """Return WireViz's input for sheet ``name`` of ``SHEETS``."""
    leads = [lead for lead in harness.leads if lead.sheet == name]
    cables = _by_cable(leads)
    return {
        "options": {"fontname": _FONT},
        "tweak": {"append": f'ranksep=0.6 labelloc=t fontsize=20 label="{harness.title}: {name}"'},
        "connectors": {ref: _connector(harness, ref, leads) for ref in _refs(leads)},
        "cables": {f"to {name}": _cable(wires) for name, wires in cables.items()},
        "connections": [_connection(harness, lead, place) for lead, place in _places(cables)],
    }


def _by_cable(leads: Iterable[Lead]) -> dict[str, list[Lead]]:
    cables: dict[str, list[Lead]] = {}
    for lead in leads:
        cables.setdefault(lead.cable, []).append(lead)
    return cables


def _places(cables: dict[str, list[Lead]]) -> Iterable[tuple[Lead, int]]:
    return ((lead, n) for wires in cables.values() for n, lead in enumerate(wires, 1))


def _refs(leads: Sequence[Lead]) -> list[str]:
    return list(dict.fromkeys(end.ref for lead in leads for end in (lead.source, lead.end)))


def _connector(harness: Harness, ref: str, leads: Sequence[Lead]) -> Sheet:
    item = harness.items[ref]
    used = (end.pin for lead in leads for end in (lead.source, lead.end) if end.ref == ref)
    pins = list(dict.fromkeys(used))  # in the order of the cables: fewer of them cross
    title = harness.board.title if ref == BOARD else item.texts["part"]
    return {
        "type": _folded(title),
        "subtype": _folded(item.texts["connector"]),
        "pins": [
            _label(harness, PartPin(ref, pin))
            for pin in (sorted(pins, key=_natural) if ref == BOARD else pins)
        ],
        "show_pincount": False,
    }


def _natural(pin: str) -> list[tuple[int, str]]:
    return [(int(part), "") if part.isdigit() else (-1, part) for part in _NUMBER.split(pin)]


def _folded(text: str, columns: int = 30) -> str:
    """Break the text at blanks, for a narrow box."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + len(word) >= columns:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join(lines)


def _label(harness: Harness, end: PartPin) -> str | int:
    if end.ref == BOARD:
        return _board_label(harness, end.pin)
    return int(end.pin) if end.pin.isdigit() else end.pin  # WireViz takes digits for a number


def _board_label(harness: Harness, pin: str) -> str:
    """Return the board's name of a pin, with the resistor that the board file requires there."""
    prefix = _PIN_PREFIX[harness.board.chip.port] if pin.isdigit() else ""
    role = next((role for role in harness.roles if str(role.pin) == pin), None)
    ohm = role.part.values.get("pull_down_ohm", 0) if role and role.facts.acts else 0
    return f"{prefix}{pin}, {ohm / 1000:g} kΩ to GND" if ohm else prefix + pin


def _cable(wires: Sequence[Lead]) -> Sheet:
    sizes = sorted({lead.mm2 for lead in wires})
    return {
        "type": ", ".join(f"{size:g} mm²" for size in sizes),
        "category": "bundle",
        "wirecount": len(wires),
        "colors": [_colour(lead, place) for place, lead in enumerate(wires)],
        "wirelabels": [_wire_name(lead) for lead in wires],
        "show_name": False,
        "show_wirecount": False,
    }


def _colour(lead: Lead, place: int) -> str:
    if lead.is_ground:
        return "BK"
    usual = "RD" if lead.feed else _SIGNAL_COLOURS[place % len(_SIGNAL_COLOURS)]
    return _LAMP_COLOURS.get(lead.end.pin, usual)


def _wire_name(lead: Lead) -> str:
    """Return the wire's function as the board file names it; else where it ends."""
    return lead.role.title if lead.role else f"{lead.end.ref} {lead.end.pin}"


def _connection(harness: Harness, lead: Lead, place: int) -> list[Sheet]:
    source, end = _label(harness, lead.source), _label(harness, lead.end)
    return [{lead.source.ref: source}, {f"to {lead.cable}": place}, {lead.end.ref: end}]
