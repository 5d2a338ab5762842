"""The harness of a car of one's own: that of the shipped car it is wired as, without what it lacks.

A wire of the shipped harness that begins at a pin which this car's board does not wire is left out,
and so is a part that has no signal left by that: a gyroscope, a receiver and its level shifter.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from hardware.drawing.files import harness_pictures, write
from hardware.drawing.harness import (
    BOARD,
    COLUMNS,
    FOLDER,
    REASONS,
    ROLE,
    VOLTS_AMPERES,
    Harness,
    Item,
    Lead,
    harness_names,
    leads_of,
    load_harness,
    roles_of,
)
from host_bridge.config.boards import load_board
from host_bridge.config.boards.facts import Wire as Role
from host_bridge.config.boards.pins.needs import needs_of
from host_bridge.config.boards.reading import read_wiring
from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.core.errors import DeviceFault, VehicleFileFault
from host_bridge.core.vehicle import Vehicle

_PULL_DOWNS = "RP1"  # drawn at the board's pins, and no part with wires of its own
_LINES = {"a": "hall"}  # of an encoder: the line that is left of A and B
_HALL = {
    "part": "hall sensor, one output",
    "example": "DRV5023 breakout at 3.3 V",
    "connector": "JST XH 3; 4.7 kOhm to 3V3 at the board's pin",
    "why": "speed without a direction; its magnets are in the board file",
    "source": "TI's data sheet: 2.5 to 38 V, open drain; as high as its pull-up",
}
_HALL_LIMITS = {"supply_min_v": 2.5, "supply_max_v": 38.0, "current_a": 0.01, "out_v": 3.3}
_WIRE_COLUMNS = ("sheet", "cable", "from", "from_pin", "to", "to_pin", "function", "mm2")


def own_harness(vehicle: Vehicle, board: str | None) -> Harness:
    """Return the harness of a vehicle on a board; without one on the shipped harness' own.

    Raises VehicleFileFault where no shipped harness is near, or the board does not wire the car.
    """
    template = load_harness(_nearest(vehicle))
    own_board = load_board(board) if board else template.board
    needs = needs_of(vehicle.path)
    wiring = read_wiring(own_board, needs.wiring, needs.channels)
    if wiring is None:
        raise own_board.document.fault(
            "wiring",
            f"{needs.wiring} is not wired on {own_board.name}",
            expected=f"[wiring.{needs.wiring}]",
            got=", ".join(own_board.wirings),
            remedy="name its board file: --board ./my_board.toml",
        )
    roles = roles_of(wiring)
    document = VehicleDocument(FOLDER / "wiring" / f"{template.name}.toml")
    cables, halls = _own_cables(document.values["cables"], roles)
    leads = tuple(_wired(leads_of(document, cables, roles, template.feeds), template.leads))
    refs = {end.ref for lead in leads for end in (lead.source, lead.end)} | {_PULL_DOWNS}
    stops = {it.name for it in vehicle.stop_sources}
    return replace(
        template,
        name=vehicle.name,
        title=vehicle.title,
        vehicle=needs.wiring,
        board=own_board,
        items={
            ref: _item(it, halls, own_board.title)
            for ref, it in template.items.items()
            if ref in refs
        },
        stops={name: ref for name, ref in template.stops.items() if name in stops and ref in refs},
        leads=leads,
        roles=tuple(roles.values()),
    )


def _nearest(vehicle: Vehicle) -> str:
    """Return the shipped harness of the wiring that the vehicle, or one of its bases, has."""
    files = {Path(value.file).stem for value in vehicle.values if value.file}
    wired_as = {str(value.value) for value in vehicle.values if value.key == "wired_as"}
    by_wiring = {load_harness(name).vehicle: name for name in harness_names()}
    for name in (*sorted(wired_as), vehicle.name, *sorted(files, key=len, reverse=True)):
        if name in by_wiring:
            return by_wiring[name]
    raise VehicleFileFault(
        "no harness is drawn for this car, nor for one that it is based on",
        where=vehicle.path,
        expected=f"a car based on one of {', '.join(sorted(filter(None, by_wiring)))}",
        got=vehicle.name,
        remedy="base it on one of them, or draw your own: hardware/README.md",
    )


def _own_cables(
    cables: Mapping[str, Mapping[str, object]], roles: Mapping[str, Role]
) -> tuple[dict[str, dict[str, object]], set[str]]:
    """Return the cables without the wires that the board has not, and the parts that are halls."""
    own: dict[str, dict[str, object]] = {}
    halls: set[str] = set()
    for name, cable in cables.items():
        wires = {}
        given = cable["wires"]
        for pin, source in given.items() if isinstance(given, Mapping) else ():
            role = str(source).removeprefix(ROLE)
            slot, _, line = role.rpartition(".")
            if not str(source).startswith(ROLE) or role in roles:
                wires[pin] = source
            elif f"{slot}.{_LINES.get(line)}" in roles:
                wires["OUT"] = f"{ROLE}{slot}.{_LINES[line]}"
                halls.add(name.split()[0])
        if wires:
            own[name] = {**cable, "wires": wires}
    return own, halls


def _wired(leads: Iterable[Lead], before: Sequence[Lead]) -> list[Lead]:
    """Return the leads without the parts that have lost all of their signals."""
    left = list(leads)
    while True:
        idle = (_signalling(before) - _signalling(left)) | (_at_board(before) - _at_board(left))
        idle -= {BOARD}
        kept = [it for it in left if not {it.source.ref, it.end.ref} & idle]
        if len(kept) == len(left):
            return kept
        left = kept


def _signalling(leads: Iterable[Lead]) -> set[str]:
    signals = (lead for lead in leads if not lead.is_ground and lead.feed is None)
    return {end.ref for lead in signals for end in (lead.source, lead.end)}


def _at_board(leads: Iterable[Lead]) -> set[str]:
    """Return the parts that a pin of the board speaks to."""
    return {lead.end.ref for lead in leads if lead.role}


def _item(item: Item, halls: set[str], board: str) -> Item:
    if item.ref == BOARD:
        return replace(item, texts={**item.texts, "example": board})
    return Item(item.ref, {**item.texts, **_HALL}, _HALL_LIMITS) if item.ref in halls else item


@dataclass(frozen=True)
class OwnDrawing:
    """The pictures and lists of a harness, each file by its path below a folder of the caller."""

    harness: Harness

    @property
    def title(self) -> str:
        """Say whose harness it is, on which board and wired as which vehicle."""
        board = self.harness.board.title
        return f"{self.harness.title} on {board}, wired as {self.harness.vehicle}"

    def undrawn(self) -> list[str]:
        """Return what the board file wires off the board and the harness does not show."""
        drawn = {lead.role.key for lead in self.harness.leads if lead.role}
        reserved = self.harness.board.reserved
        there = (role for role in self.harness.roles if role.pin not in reserved)
        return [role.key for role in there if role.key not in drawn]

    def tables(self, folder: Path) -> dict[Path, str]:
        """Return the parts list and the list of wires as CSV."""
        head = [*COLUMNS[:4], *VOLTS_AMPERES, *COLUMNS[4:], *REASONS]
        rows = [{**it.texts, **it.limits, "ref": it.ref} for it in self.harness.items.values()]
        parts = [[row.get(name, "") for name in head] for row in rows]
        wires = [
            [
                it.sheet, it.cable, it.source.ref, it.source.pin, it.end.ref, it.end.pin,
                it.role.title if it.role else "", f"{it.mm2:g}",
            ]
            for it in self.harness.leads
        ]  # fmt: skip
        own = folder / self.harness.name
        return {
            own / "parts.csv": _csv([head, *parts]),
            own / "wires.csv": _csv([list(_WIRE_COLUMNS), *wires]),
        }

    def pictures(self, folder: Path) -> list[Path]:
        """Return the files that ``draw`` writes."""
        return [path for it in harness_pictures(self.harness) for path in it.paths_in(folder)]

    def draw(self, folder: Path) -> None:
        """Draw the sheets. Raises DeviceFault where the tools for it are missing."""
        try:
            import graphviz
            import wireviz  # noqa: F401 - what draws; it is imported where it is used

            for picture in harness_pictures(self.harness):
                write(picture, folder)
        except ImportError as error:
            raise _missing(str(error.name), "pip install 'wireviz>=0.4'") from error
        except graphviz.ExecutableNotFound as error:
            raise _missing(
                "graphviz's dot", "apt-get install graphviz, brew install graphviz, or see its site"
            ) from error


def own_drawing(vehicle: Vehicle, board: str | None) -> OwnDrawing:
    """Return the drawing of a vehicle's own harness; raises what ``own_harness`` does."""
    return OwnDrawing(own_harness(vehicle, board))


def _csv(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _missing(what: str, remedy: str) -> DeviceFault:
    return DeviceFault(
        f"the lists are written, and no picture is drawn: {what} is not on this machine",
        expected="wireviz and graphviz",
        remedy=remedy,
    )
