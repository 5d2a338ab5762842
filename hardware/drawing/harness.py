"""A car's wiring harness: its parts list, its connections, and the board's pins by their roles.

A wire begins at a source: ``"PS1.5V"`` is a pin of a part, ``"@channels.drive.pulse"`` is the pin
that the board file gives to that role. So no pin of a board is written in ``hardware/wiring``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host_bridge.config.boards import BoardType, load_board
from host_bridge.config.boards.facts import Wire as Role
from host_bridge.config.boards.facts import Wiring
from host_bridge.config.boards.pins.needs import needs_of
from host_bridge.config.boards.reading import read_wiring
from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.core import files
from host_bridge.core.files import Key, TableSchema, number
from sim_mock.files.reading import read_table

FOLDER = Path(__file__).resolve().parents[1]
BOARD, GROUND, ROLE = "U1", "GND", "@"

COLUMNS = ("ref", "qty", "part", "example", "connector")
VOLTS_AMPERES = ("supply_min_v", "supply_max_v", "current_a", "out_v", "in_v")
REASONS = ("why", "source")
_VOLTS_AMPERES_MAX = 500.0  # of a model car's battery, and of its peaks
PARTS_LIST = TableSchema(
    "parts list",
    (
        *(Key(name, "text") for name in (*COLUMNS, *REASONS)),
        *(number(name, 0.0, _VOLTS_AMPERES_MAX, None) for name in VOLTS_AMPERES),
    ),
    rows="parts",
    has_gaps=True,
)

_KEYS = (
    Key("title", "text"),
    Key("board", "text"),
    Key("wiring", "text"),
    Key("stops", "table", default={}),
    Key("channels", "table", default={}),
    Key("feeds", "table"),
    Key("cables", "table"),
)
_FEED_KEYS = (
    number("least_v", 0.0, 60.0),
    number("most_v", 0.0, 60.0),
    number("limit_a", 0.0, 500.0),
)
SHEETS = ("signals", "supply", "drive")
_CABLE_KEYS = (
    Key("mm2", "number", 0.08, 50.0, default=0.25),
    Key("sheet", "choice", choices=SHEETS, default=""),
    Key("wires", "table"),
)


@dataclass(frozen=True)
class Item:
    """A row of a parts list; ``limits`` by the names in ``VOLTS_AMPERES``, where it has them.

    ``out_v`` is the level of its signal outputs, ``in_v`` the least voltage that its inputs read as
    high.
    """

    ref: str
    texts: Mapping[str, str]
    limits: Mapping[str, float]


@dataclass(frozen=True)
class SupplyPin:
    """A pin that supplies others; ``limit_a`` is the limit of its fuse or its regulator."""

    least_v: float
    most_v: float
    limit_a: float


@dataclass(frozen=True)
class PartPin:
    """A pin of a part."""

    ref: str
    pin: str

    def __str__(self) -> str:
        return f"{self.ref}.{self.pin}"


@dataclass(frozen=True)
class Lead:
    """One wire of a cable.

    ``role`` is the function of the board's pin, if it begins at one; ``feed`` is its supply, if it
    is a supply wire.
    """

    cable: str
    sheet: str
    source: PartPin
    end: PartPin
    mm2: float
    role: Role | None
    feed: SupplyPin | None

    @property
    def is_ground(self) -> bool:
        return GROUND in (self.source.pin, self.end.pin)


@dataclass(frozen=True)
class Harness:
    """The complete wiring of one car.

    ``stops``: the part behind each stop source of the vehicle file; ``channels``: the part at the
    end of each channel that is on no pin of the board; ``feeds`` by ``REF.pin``; ``roles``: all
    that the board file wires. A runstop box has no ``vehicle``.
    """

    name: str
    title: str
    vehicle: str
    board: BoardType
    items: Mapping[str, Item]
    feeds: Mapping[str, SupplyPin]
    stops: Mapping[str, str]
    channels: Mapping[str, str]
    leads: Sequence[Lead]
    roles: Sequence[Role]


def harness_names() -> tuple[str, ...]:
    """Return the names of the harnesses that Tandem ships."""
    return tuple(sorted(path.stem for path in (FOLDER / "wiring").glob("*.toml")))


def load_harness(name: str) -> Harness:
    """Load ``hardware/wiring/NAME.toml`` with ``hardware/bom/NAME.csv``.

    Raises VehicleFileFault for keys, roles and parts that do not exist; dangerous wiring is found
    by the tests, not here.
    """
    document = VehicleDocument(FOLDER / "wiring" / f"{name}.toml")
    tables = read_table(document, "", document.values, _KEYS)
    board = load_board(tables["board"])
    vehicle = "" if board.is_box(tables["wiring"]) else tables["wiring"]
    wiring = read_wiring(board, tables["wiring"], needs_of(vehicle).channels if vehicle else [])
    roles = roles_of(wiring)
    feeds = _feeds(document, tables["feeds"])
    return Harness(
        name=name,
        title=tables["title"],
        vehicle=vehicle,
        board=board,
        items=read_items(name),
        feeds=feeds,
        stops=tables["stops"],
        channels=tables["channels"],
        leads=tuple(leads_of(document, tables["cables"], roles, feeds)),
        roles=tuple(roles.values()),
    )


def roles_of(wiring: Wiring | None) -> dict[str, Role]:
    """Return all that a board file wires by the names that a harness has for it."""
    return {f"{role.part.slot}.{role.name}": role for role in (wiring.wires if wiring else ())}


def read_items(name: str) -> dict[str, Item]:
    """Read ``hardware/bom/NAME.csv`` by ref. Raises errors.DataFileFault."""
    rows = files.read_table(FOLDER / "bom" / f"{name}.csv", PARTS_LIST).rows
    return {row.values["ref"]: _item(row.values) for row in rows}


def _item(row: dict[str, Any]) -> Item:
    limits = {name: row[name] for name in VOLTS_AMPERES if row[name] is not None}
    return Item(row["ref"], {name: row[name] for name in (*COLUMNS, *REASONS)}, limits)


def _feeds(document: VehicleDocument, given: dict[str, Any]) -> dict[str, SupplyPin]:
    return {
        pin: SupplyPin(**read_table(document, f"feeds.{pin}", values, _FEED_KEYS))
        for pin, values in given.items()
    }


def leads_of(
    document: VehicleDocument,
    cables: dict[str, Any],
    roles: Mapping[str, Role],
    feeds: Mapping[str, SupplyPin],
) -> Iterator[Lead]:
    """Yield the wires of all cables; a cable's name begins with the part at which it ends."""
    for cable, given in cables.items():
        values = read_table(document, f"cables.{cable}", given, _CABLE_KEYS)
        for pin, named in values["wires"].items():
            role = _role(document, f"cables.{cable}.wires.{pin}", named, roles)
            source, end = _source(named, role), PartPin(cable.split()[0], pin)
            feed = feeds.get(str(source)) or feeds.get(str(end))
            usual = "supply" if feed or GROUND in (source.pin, pin) else "signals"
            yield Lead(cable, values["sheet"] or usual, source, end, values["mm2"], role, feed)


def _source(source: str, role: Role | None) -> PartPin:
    ref, _, pin = source.partition(".")
    return PartPin(BOARD, str(role.pin)) if role else PartPin(ref, pin)


def _role(
    document: VehicleDocument, path: str, source: str, roles: Mapping[str, Role]
) -> Role | None:
    if not source.startswith(ROLE):
        return None
    if source[1:] not in roles:
        raise document.fault(
            path,
            "the board file wires nothing of this name",
            expected=f"one of {', '.join(roles)}",
            got=source[1:],
            remedy="correct the name, or wire it in hardware/boards",
        )
    return roles[source[1:]]
