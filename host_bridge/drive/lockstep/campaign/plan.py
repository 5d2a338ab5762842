"""Reads ``campaign.toml``: what is asked, what is varied, and the list of cases that follows."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from host_bridge.core.files import Document, Key, integer, number, read_toml, text, told_as
from host_bridge.drive.lockstep.campaign.spec import (
    CHANGES,
    KEYS,
    NONE,
    OBSERVED,
    Spec,
    files_of,
    seed_of,
)
from sim_mock.files.reading import read_table, read_value, refuse_unknown

FILE = "campaign.toml"
MOST_CASES = 1_000_000  # chosen: two weeks of one core; more is a slip of the hand
_CASE_KEYS = tuple(key for key in KEYS if key.name != "seed")
_ABOUT: tuple[Key, ...] = (
    text("title"),
    text("note", default=""),
    integer("seed", 0, 2**32 - 1, default=0),
    integer("repetitions", 1, MOST_CASES, default=1),
)
_LIMITS = (number("wall_s", 1.0, 3600.0, default=60.0),)
_REPORT = (
    text("compare", default=""),
    number("confidence", 0.5, 0.999, default=0.95),
)
_TABLES = ("campaign", "case", "factors", "oracles", "limits", "report")
_EXAMPLE = '"speed_mps" = [1.0, 2.0]'


@dataclass(frozen=True)
class Case:
    """One case of a campaign: its cell's levels, its repetition and its spec."""

    index: int
    levels: Mapping[str, Any]
    repetition: int
    spec: Spec


@dataclass(frozen=True)
class Plan:
    """A campaign as its file says it. ``case`` has the values that are not varied."""

    title: str
    note: str
    seed: int
    repetitions: int
    case: Mapping[str, Any]
    factors: Mapping[str, tuple[Any, ...]]
    oracles: tuple[str, ...]
    wall_s: float
    compare: str
    confidence: float

    def cells(self) -> list[dict[str, Any]]:
        """Return all combinations of levels, the last factor varied fastest."""
        names = list(self.factors)
        return [dict(zip(names, each, strict=True)) for each in itertools.product(*self._levels())]

    def cases(self) -> Iterator[Case]:
        """Yield all cases by repetition: half a campaign has all cells, half as often.

        Raises errors.DataFileFault for a file of a case that cannot be read.
        """
        cells = self.cells()
        files = [files_of(self.values(cell)) for cell in cells]
        index = 0
        for repetition in range(self.repetitions):
            seed = seed_of(self.seed, repetition)
            for cell, read in zip(cells, files, strict=True):
                spec = {**self.values(cell), "seed": seed, "files": read}
                yield Case(index, cell, repetition, spec)
                index += 1

    def count(self) -> int:
        """Return the number of cases."""
        total = self.repetitions
        for levels in self.factors.values():
            total *= len(levels)
        return total

    def _levels(self) -> list[tuple[Any, ...]]:
        return list(self.factors.values())

    def values(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Return the spec of a cell's cases but for seed and files."""
        values = {**self.case, CHANGES: dict(self.case[CHANGES]), "oracles": list(self.oracles)}
        for key, level in cell.items():
            if key.startswith(f"{CHANGES}."):
                values[CHANGES][key.removeprefix(f"{CHANGES}.")] = level
            else:
                values[key] = level
        return values


def read_plan(path: Path) -> Plan:
    """Read a campaign's file. Raises errors.DataFileFault, with line and key."""
    with told_as():
        document = read_toml(path)
        refuse_unknown(document, "", document.values, _TABLES)
        about = read_table(document, "campaign", _table(document, "campaign"), _ABOUT)
        given = dict(_table(document, "case"))
        changes = given.pop(CHANGES, {})
        if not isinstance(changes, dict):
            raise document.fault(f"case.{CHANGES}", "is no table", '{ "KEY" = VALUE }')
        case = {**read_table(document, "case", given, _CASE_KEYS), CHANGES: changes}
        limits = read_table(document, "limits", _table(document, "limits"), _LIMITS)
        report = read_table(document, "report", _table(document, "report"), _REPORT)
        plan = Plan(
            **about,
            case=case,
            factors=dict(_factors(document)),
            oracles=tuple(_oracles(document)),
            **limits,
            **report,
        )
        _refuse_contradictions(document, plan)
    return plan


def _table(document: Document, name: str) -> Mapping[str, Any]:
    table = document.values.get(name, {})
    if not isinstance(table, dict):
        raise document.fault(name, "is no table", f"[{name}]")
    return table


def _factors(document: Document) -> Iterator[tuple[str, tuple[Any, ...]]]:
    by_name = {key.name: key for key in _CASE_KEYS}
    for name, given in _table(document, "factors").items():
        place = f"factors.{name}"
        if not name.startswith(f"{CHANGES}."):
            refuse_unknown(document, "factors", [name], tuple(by_name))
        levels = _range(document, place, given) if isinstance(given, dict) else given
        if not isinstance(levels, list) or not levels:
            raise document.fault(
                place, "no levels", f"a list, as {_EXAMPLE}, or a range", str(given)
            )
        if any(levels.count(level) > 1 for level in levels):
            raise document.fault(place, "a level is there twice", "each level once", str(levels))
        key = by_name.get(name)
        if key is not None:
            levels = [read_value(document, place, level, key) for level in levels]
        yield name, tuple(levels)


_RANGE = (number("from", -1e9, 1e9), number("to", -1e9, 1e9), integer("levels", 2, 10_000))


def _range(document: Document, place: str, given: Mapping[str, Any]) -> list[float]:
    values = read_table(document, place, given, _RANGE)
    low, span, steps = values["from"], values["to"] - values["from"], values["levels"] - 1
    # 12 digits: a level is written as people write it, 0.3 and not 0.30000000000000004
    return [float(f"{low + i * span / steps:.12g}") for i in range(steps + 1)]


def _oracles(document: Document) -> Iterator[str]:
    given = _table(document, "oracles")
    refuse_unknown(document, "oracles", given, OBSERVED)
    for name, is_asked in given.items():
        if is_asked is not True and is_asked is not False:
            raise document.fault(f"oracles.{name}", "cannot be that", "true or false")
        if is_asked:
            yield name


def _refuse_contradictions(document: Document, plan: Plan) -> None:
    if not plan.oracles:
        raise document.fault(
            "oracles", "nothing is judged", f"one of {', '.join(OBSERVED)}", remedy="no_stop = true"
        )
    if plan.count() > MOST_CASES:
        raise document.fault("factors", "too many cases", f"{MOST_CASES}", str(plan.count()))
    if plan.compare and plan.compare not in plan.factors:
        raise document.fault(
            "report.compare", "is no factor", " or ".join(plan.factors) or "a factor", plan.compare
        )
    for values in (plan.values(cell) for cell in plan.cells()):
        if NONE not in (values["track"], values["map"]):
            raise document.fault("case.map", "a track and a map", "one of them")
