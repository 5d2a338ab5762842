"""The designs of a campaign besides all combinations: lists of cells, and samples.

Latin hypercubes and Sobol sequences are SciPy's. A sample is drawn once for each repetition and is
the same in all cells, so that cells are compared in pairs. Its values are in the specs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from scipy.stats import lognorm, qmc, truncnorm, uniform  # type: ignore[import-untyped]

from host_bridge.core.files import Document, Key, choice, integer, number
from host_bridge.drive.lockstep.campaign.spec import CHANGES
from sim_mock.files.reading import read_table, read_value, refuse_unknown

GRID, LIST, LATIN, SOBOL, RANDOM = "grid", "list", "latin", "sobol", "random"
SPLITTING = "splitting"  # of a rare event: read by rare/design.py
SALTELLI = "saltelli"  # sets of runs from which Sobol indices follow
SAMPLED = (LATIN, SOBOL, RANDOM, SALTELLI)
REFUSE, _LISTED = "refuse", "list"  # what becomes of cells that no car can drive
_IMPOSSIBLE = choice("impossible", (REFUSE, _LISTED), default=REFUSE)
_MOST = 1_000_000  # as of cases
_DIGITS = 12  # of a sampled value: the last bits are another machine's
_FAR = 1e9  # beyond any value of a vehicle file
UNIFORM = (number("low", -_FAR, _FAR), number("high", -_FAR, _FAR))
NORMAL = (number("mean", -_FAR, _FAR), number("sd", 1e-12, _FAR), *UNIFORM)
LOGNORMAL = (number("median", 1e-12, _FAR), number("factor", 1.0, 1000.0), UNIFORM[1])
_FORMS = {"low": UNIFORM, "mean": NORMAL, "median": LOGNORMAL}
_EXAMPLE = "{ low = 0.5, high = 1.05 }, { mean = 3.5, sd = 0.2, low = 3, high = 4 } or "
_EXAMPLE += "{ median = 5, factor = 2, high = 80 }"

Sample = Mapping[str, float]


@dataclass(frozen=True)
class Distribution:
    """One of three: uniform, normal cut at both ends, or lognormal cut at its high end."""

    values: Mapping[str, float]

    def at(self, share: float) -> float:
        """Return the quantile, of 12 digits."""
        it = self.values
        if "mean" in it:
            low, high = ((it[end] - it["mean"]) / it["sd"] for end in ("low", "high"))
            found = truncnorm.ppf(share, low, high, it["mean"], it["sd"])
        elif "median" in it:
            shape = log(it["factor"])  # a factor is one standard deviation of the logarithm
            most = lognorm.cdf(it["high"], shape, scale=it["median"])
            found = lognorm.ppf(share * most, shape, scale=it["median"])
        else:
            found = uniform.ppf(share, it["low"], it["high"] - it["low"])
        return float(f"{float(found):.{_DIGITS}g}")

    @property
    def text(self) -> str:
        """The distribution as its file says it."""
        return ", ".join(f"{key} {value:g}" for key, value in self.values.items())


def read_uncertain(
    document: Document, given: Mapping[str, Any], keys: Sequence[Key]
) -> dict[str, Distribution]:
    """Read ``[uncertain]``. Raises FileFault with line and key."""
    by_name = {key.name: key for key in keys}
    found = {}
    for name, table in given.items():
        place = f"uncertain.{name}"
        if not name.startswith(f"{CHANGES}."):
            refuse_unknown(document, "uncertain", [name], tuple(by_name))
        form = (
            next((it for it in ("mean", "median", "low") if it in table), None)
            if (isinstance(table, dict))
            else None
        )
        if form is None:
            raise document.fault(place, "no distribution", _EXAMPLE, str(table))
        values = read_table(document, place, table, _FORMS[form])
        if form != "median" and values["low"] >= values["high"]:
            raise document.fault(place, "low is not below high", "low < high", str(table))
        if form == "median" and values["median"] >= values["high"]:
            raise document.fault(place, "median is not below high", "median < high", str(table))
        for end in {"low", "high"} & set(values):
            if name in by_name:
                read_value(document, f"{place}.{end}", values[end], by_name[name])
        found[name] = Distribution(values)
    return found


def read_sets(
    document: Document, given: Mapping[str, Any], keys: Sequence[Key]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Read the factors of a name of their own, each level of which sets several keys.

    Raises FileFault with line and key.
    """
    found: dict[str, dict[str, dict[str, Any]]] = {}
    seen = {name for name, levels in given.items() if not _is_of_sets(levels)}
    for name in [name for name in given if name not in seen]:
        place = f"factors.{name}"
        cells = _listed(document, list(given[name].values()), keys, place)
        for key in cells[0]:
            if key in seen:
                raise document.fault(place, f"{key} is set by another factor, too", "one of them")
        seen |= set(cells[0])
        found[name] = dict(zip(given[name], map(dict, cells), strict=True))
    return found


def _is_of_sets(levels: Any) -> bool:
    return isinstance(levels, dict) and all(isinstance(it, dict) for it in levels.values())


def read_design(
    document: Document,
    about: dict[str, Any],
    factors: dict[str, tuple[Any, ...]],
    uncertain: Mapping[str, Distribution],
    keys: Sequence[Key],
) -> tuple[dict[str, Any], str, tuple[Mapping[str, Any], ...], bool]:
    """Read ``[design]``; return ``about`` with its repetitions, the kind, and listed cells.

    The last is whether cells that no car can drive are listed. The levels of listed cells become
    ``factors``. Raises FileFault with line and key.
    """
    given = dict(document.values.get("design", {}))
    kind = given.pop("kind", GRID)
    lists = read_value(
        document, "design.impossible", given.pop(_IMPOSSIBLE.name, REFUSE), _IMPOSSIBLE
    )
    kinds = (GRID, LIST, *SAMPLED, SPLITTING)
    if kind not in kinds:
        raise document.fault("design.kind", "no such design", ", ".join(kinds), str(kind))
    listed: tuple[Mapping[str, Any], ...] = ()
    if kind == LIST:
        listed = _listed(document, given.pop("cases", None), keys)
        if factors:
            raise document.fault("factors", "a list has its own cells", "no [factors]")
        for name in listed[0]:
            factors[name] = tuple(dict.fromkeys(cell[name] for cell in listed))
    if kind in SAMPLED:
        count = _count(document, kind, given, len(uncertain), has_factors=bool(factors))
        if about["repetitions"] != 1:
            raise document.fault("campaign.repetitions", "each sample is one", "design.samples")
        about = {**about, "repetitions": count}
    elif kind == SPLITTING:
        if about["repetitions"] != 1:
            raise document.fault("campaign.repetitions", "each replicate is one", "design.chance")
    else:
        refuse_unknown(document, "design", given, ("kind",))
    if (kind in SAMPLED) != bool(uncertain):
        raise document.fault(
            "design.kind",
            "samples are of what is [uncertain]",
            f"{', '.join(SAMPLED)} with [uncertain], {GRID} or {LIST} without",
            kind,
        )
    return about, kind, listed, lists == _LISTED


def _count(
    document: Document, kind: str, given: Mapping[str, Any], width: int, *, has_factors: bool
) -> int:
    """Return the repetitions of a sampled design."""
    count = int(read_table(document, "design", given, (integer("samples", 2, _MOST),))["samples"])
    if kind not in (SOBOL, SALTELLI):
        return count
    if count & (count - 1):
        raise document.fault("design.samples", "of a Sobol sequence", "a power of 2", str(count))
    if kind == SOBOL:
        return count
    if has_factors:
        raise document.fault("factors", "Sobol indices are of one cell", "no [factors]")
    return count * saltelli_runs(width)


def saltelli_runs(width: int) -> int:
    """Return the runs of a set of Saltelli's design for so many uncertain keys.

    Two samples A and B, and for each key A with that one key's value of B.
    """
    return width + 2


def _listed(
    document: Document, given: Any, keys: Sequence[Key], place: str = "design.cases"
) -> tuple[Mapping[str, Any], ...]:
    by_name = {key.name: key for key in keys}
    if not isinstance(given, list) or not given or not all(isinstance(it, dict) for it in given):
        raise document.fault(
            place, "no list of cells", "[{ speed_mps = 1.0 }, { speed_mps = 2.0 }]"
        )
    cells = []
    for cell in given:
        if set(cell) != set(given[0]) or not cell:
            raise document.fault(
                place, "each cell has the same keys", ", ".join(given[0]), ", ".join(cell)
            )
        known = [name for name in cell if not name.startswith(f"{CHANGES}.")]
        refuse_unknown(document, place, known, tuple(by_name))
        read = {name: read_value(document, place, cell[name], by_name[name]) for name in known}
        cells.append({name: read.get(name, cell[name]) for name in cell})
    if any(cells.count(cell) > 1 for cell in cells):
        raise document.fault(place, "a cell is there twice", "each cell once")
    return tuple(cells)


def samples_of(
    kind: str, uncertain: Mapping[str, Distribution], count: int, seed: int
) -> list[Sample]:
    """Return one sample for each repetition; empty ones where nothing is uncertain."""
    if not uncertain:
        return [{} for _ in range(count)]
    random, width = np.random.default_rng(seed), len(uncertain)
    if kind == LATIN:
        shares = qmc.LatinHypercube(width, seed=random).random(count)
    elif kind == SOBOL:
        shares = qmc.Sobol(width, seed=random).random(count)
    elif kind == SALTELLI:
        shares = _saltelli(width, count // saltelli_runs(width), random)
    else:
        shares = random.random((count, width))
    return [
        {name: it.at(share) for (name, it), share in zip(uncertain.items(), row, strict=True)}
        for row in shares.tolist()
    ]


def _saltelli(width: int, sets: int, random: np.random.Generator) -> Any:
    """Return the quantiles of all sets, one after the other; rows are runs, columns keys."""
    drawn = qmc.Sobol(2 * width, seed=random).random(sets)
    runs = np.repeat(drawn[:, None, :width], saltelli_runs(width), axis=1)
    runs[:, 1] = drawn[:, width:]
    for at in range(width):
        runs[:, 2 + at, at] = drawn[:, width + at]
    return runs.reshape(-1, width)
