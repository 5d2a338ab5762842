"""Reads ``campaign.toml``: what is asked, what is varied, and the list of cases that follows."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from host_bridge.core.files import (
    Document,
    Key,
    integer,
    number,
    raised_as,
    read_bytes,
    read_toml,
    text,
)
from host_bridge.drive.lockstep.campaign.rare.design import Splitting, read_splitting
from host_bridge.drive.lockstep.campaign.runners.keeping import KEEP
from host_bridge.drive.lockstep.campaign.sampling import (
    GRID,
    SALTELLI,
    SPLITTING,
    Distribution,
    Sample,
    read_design,
    read_sets,
    read_uncertain,
    saltelli_runs,
    samples_of,
)
from host_bridge.drive.lockstep.campaign.spec import (
    BOUNDS,
    CHANGES,
    KEYS,
    NONE,
    OBSERVED,
    Spec,
    described,
    files_of,
    seed_of,
)
from sim_mock.files.reading import read_table, read_value, refuse_unknown

MOST_CASES = 1_000_000  # chosen: two weeks of one core; more is a slip of the hand
CASE_KEYS = tuple(key for key in KEYS if key.name != "seed")
ABOUT: tuple[Key, ...] = (
    described(text("title"), "the question"),
    described(text("note", default=""), "printed in the report"),
    integer("seed", 0, 2**32 - 1, default=0),
    described(integer("repetitions", 1, MOST_CASES, default=1), "of each cell"),
)
LIMITS = (
    number("wall_s", 1.0, 3600.0, default=60.0, meaning="for one case; beyond it is not measured"),
)
REPORT = (
    described(text("compare", default=""), "a factor: its first level against each other one"),
    number("confidence", 0.5, 0.999, default=0.95, meaning="of all intervals"),
)
_TABLES = (
    *("campaign", "case", "factors", "uncertain", "design", "oracles", "keep", "limits"),
    "report",
)
_FILE_BYTES = 1 << 20  # of a campaign's file: far above any
_EXAMPLE = '"speed_mps" = [1.0, 2.0]'


@dataclass(frozen=True)
class Case:
    """One case of a campaign: its cell's levels, its repetition, its sample and its spec."""

    index: int
    levels: Mapping[str, Any]
    repetition: int
    spec: Spec
    sample: Sample = field(default_factory=dict)  # of the uncertain keys: one for each repetition


@dataclass(frozen=True)
class Plan:
    """A campaign as its file says it. ``case`` has the values that are not varied.

    ``sets`` has what each level of a factor with a name of its own sets, by factor and level. With
    ``lists_impossible`` a cell that no car can drive is listed, and else it ends the campaign.
    """

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
    bounds: Mapping[str, float] = field(default_factory=dict)  # oracles with a limit
    design: str = GRID
    listed: tuple[Mapping[str, Any], ...] = ()  # cells of a list
    uncertain: Mapping[str, Distribution] = field(default_factory=dict)
    sets: Mapping[str, Mapping[str, Mapping[str, Any]]] = field(default_factory=dict)
    lists_impossible: bool = False
    sha256: str = ""  # of its file
    splitting: Splitting | None = None  # of a rare event; repetitions are the cases beside it
    keep: Mapping[str, Any] = field(default_factory=dict)  # which logs, as of KEEP

    def cells(self) -> list[dict[str, Any]]:
        """Return the listed cells, or all combinations of levels, the last varied fastest."""
        if self.listed:
            return [dict(cell) for cell in self.listed]
        names = list(self.factors)
        return [dict(zip(names, each, strict=True)) for each in itertools.product(*self._levels())]

    def cases(self) -> Iterator[Case]:
        """Yield all cases by repetition: half a campaign has all cells, half as often.

        Raises errors.DataFileFault for a file of a case that cannot be read.
        """
        cells = self.cells()
        files = [files_of(self.values(cell)) for cell in cells]
        index = 0
        for repetition, sample in enumerate(self.samples()):
            seed = seed_of(self.seed, repetition // self._runs_of_a_set())
            for cell, read in zip(cells, files, strict=True):
                spec = {**self.values({**cell, **sample}), "seed": seed, "files": read}
                yield Case(index, cell, repetition, spec, sample)
                index += 1
        if self.splitting:
            values = {**self.values({}), "files": files[0]}
            for replicate in self.splitting.specs(values, self.seed, self.wall_s):
                yield Case(index, {}, index, replicate)
                index += 1

    def _runs_of_a_set(self) -> int:
        """Return how many runs have one seed: of Sobol indices chance is to be no key's share."""
        return saltelli_runs(len(self.uncertain)) if self.design == SALTELLI else 1

    def samples(self) -> list[Sample]:
        """Return the sample of each repetition: the same in all cells, so that they are paired."""
        return samples_of(self.design, self.uncertain, self.repetitions, self.seed)

    def count(self) -> int:
        """Return the number of cases."""
        if self.listed:
            return self.repetitions * len(self.listed)
        total = self.repetitions
        for levels in self.factors.values():
            total *= len(levels)
        return total + (self.splitting.replicates if self.splitting else 0)

    def _levels(self) -> list[tuple[Any, ...]]:
        return list(self.factors.values())

    def values(self, cell: Mapping[str, Any]) -> dict[str, Any]:
        """Return the spec of a cell's cases but for seed and files."""
        values = {**self.case, CHANGES: dict(self.case[CHANGES]), "oracles": list(self.oracles)}
        if self.bounds:
            values["bounds"] = dict(self.bounds)
        given = ((key, level) for name, of in cell.items() for key, level in self._set(name, of))
        for key, level in given:
            if key.startswith(f"{CHANGES}."):
                values[CHANGES][key.removeprefix(f"{CHANGES}.")] = level
            else:
                values[key] = level
        return values

    def _set(self, factor: str, level: Any) -> Iterator[tuple[str, Any]]:
        """Yield each key that a level sets, with its value."""
        if factor in self.sets:
            yield from self.sets[factor][level].items()
        else:
            yield factor, level


def read_plan(path: Path) -> Plan:
    """Read a campaign's file. Raises errors.DataFileFault, with line and key."""
    with raised_as():
        document = read_toml(path)
        refuse_unknown(document, "", document.values, _TABLES)
        about = read_table(document, "campaign", _table(document, "campaign"), ABOUT)
        given = dict(_table(document, "case"))
        changes = given.pop(CHANGES, {})
        if not isinstance(changes, dict):
            raise document.fault(f"case.{CHANGES}", "is no table", '{ "KEY" = VALUE }')
        case = {**read_table(document, "case", given, CASE_KEYS), CHANGES: changes}
        limits = read_table(document, "limits", _table(document, "limits"), LIMITS)
        report = read_table(document, "report", _table(document, "report"), REPORT)
        keep = read_table(document, "keep", _table(document, "keep"), KEEP)
        uncertain = read_uncertain(document, _table(document, "uncertain"), CASE_KEYS)
        sets = read_sets(document, _table(document, "factors"), CASE_KEYS)
        factors = dict(_factors(document, sets))
        about, design, listed, lists = read_design(document, about, factors, uncertain, CASE_KEYS)
        splitting = read_splitting(document, case) if design == SPLITTING else None
        if splitting:
            about = {**about, "repetitions": splitting.chance}
        plan = Plan(
            **about,
            case=case,
            factors=factors,
            oracles=tuple(_oracles(document)),
            bounds=_bounds(document),
            design=design,
            listed=listed,
            uncertain=uncertain,
            sets=sets,
            lists_impossible=lists,
            splitting=splitting,
            keep=keep,
            sha256=hashlib.sha256(read_bytes(path, _FILE_BYTES)).hexdigest(),
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


def _factors(document: Document, sets: Mapping[str, Any]) -> Iterator[tuple[str, tuple[Any, ...]]]:
    by_name = {key.name: key for key in CASE_KEYS}
    for name, given in _table(document, "factors").items():
        place = f"factors.{name}"
        if name in sets:
            yield name, tuple(sets[name])
            continue
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
    refuse_unknown(document, "oracles", given, (*OBSERVED, *(key.name for key in BOUNDS)))
    for name in (name for name in given if name in OBSERVED):
        is_asked = given[name]
        if is_asked is not True and is_asked is not False:
            raise document.fault(f"oracles.{name}", "cannot be that", "true or false")
        if is_asked:
            yield name


def _bounds(document: Document) -> dict[str, float]:
    given = _table(document, "oracles")
    known = {key.name: key for key in BOUNDS}
    return {
        name: read_value(document, f"oracles.{name}", value, known[name])
        for name, value in given.items()
        if name in known
    }


def varied_keys(plan: Plan) -> set[str]:
    """Return the keys that factors vary, those of their levels' settings among them."""
    names = {name for name in plan.factors if name not in plan.sets}
    return names | {key for levels in plan.sets.values() for of in levels.values() for key in of}


def _refuse_contradictions(document: Document, plan: Plan) -> None:
    if not plan.oracles and not plan.bounds:
        raise document.fault(
            "oracles", "nothing is judged", f"one of {', '.join(OBSERVED)}", remedy="no_stop = true"
        )
    for name in varied_keys(plan) & set(plan.uncertain):
        raise document.fault(f"uncertain.{name}", "is a factor, too", "one of the two")
    if plan.count() > MOST_CASES:
        raise document.fault("factors", "too many cases", f"{MOST_CASES}", str(plan.count()))
    if plan.compare and plan.compare not in plan.factors:
        raise document.fault(
            "report.compare", "is no factor", " or ".join(plan.factors) or "a factor", plan.compare
        )
    for values in (plan.values(cell) for cell in plan.cells()):
        if NONE not in (values["track"], values["map"]):
            raise document.fault("case.map", "a track and a map", "one of them")
