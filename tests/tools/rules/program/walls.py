"""Contracts for import-linter: which folder may import which, as a table in pyproject.toml, that
no modules import each other in a circle, and that no two rooms import each other.

What the table does not allow is refused. Each rule reads ``importer -> allowed allowed ...``; the
longest importer that fits a module counts, ``*`` stands for one name, and a folder may always
import itself. ``!folder`` keeps a folder out of one that is allowed; of all that fit a module the
longest counts. Each room reads ``library: folder ...``: the only places that may import a library.
Only direct imports count: what a neighbour may use is the neighbour's affair.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from graphlib import CycleError, TopologicalSorter
from typing import cast

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


@dataclass(frozen=True)
class Wall:
    """One rule: who, and what they may import besides themselves."""

    importer: str
    allowed: tuple[str, ...]


def walls(rules: list[str]) -> list[Wall]:
    """The table, most particular first. Raises ValueError for a rule without ``->``."""
    table = []
    for rule in rules:
        importer, arrow, allowed = rule.partition("->")
        if not arrow:
            raise ValueError(f"rule {rule!r}: expected `importer -> allowed allowed ...`")
        table.append(Wall(importer.strip(), tuple(allowed.split())))
    return sorted(table, key=lambda wall: -wall.importer.count("."))


def prefix(module: str, pattern: str) -> str:
    """The part of ``module`` that fits ``pattern`` name by name, or an empty string."""
    names, wanted = module.split("."), pattern.split(".")
    fits = len(names) >= len(wanted) and False not in map(fnmatchcase, names, wanted)
    return ".".join(names[: len(wanted)]) if fits else ""


def is_allowed(importer: str, imported: str, table: list[Wall]) -> bool:
    """Return whether the first wall that fits ``importer`` lets ``imported`` through."""
    for wall in table:
        home = prefix(importer, wall.importer)
        if home:
            fits = [it for it in (home, *wall.allowed) if prefix(imported, it.removeprefix("!"))]
            return not max(fits, key=lambda it: it.count("."), default="!").startswith("!")
    return False


class WallsContract(Contract):
    """``rules`` and ``rooms`` as in the module's docstring."""

    type_name = "walls"

    rules = fields.ListField(subfield=fields.StringField())
    rooms = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        broken = sorted([*self._through_walls(graph), *self._out_of_rooms(graph)])
        return ContractCheck(kept=not broken, metadata={"broken": broken})

    def _through_walls(self, graph: ImportGraph) -> Iterator[tuple[str, str, int]]:
        table = walls(cast("list[str]", self.rules))
        roots = {module.partition(".")[0] for module in graph.modules if "." in module}
        for importer, imported in _imports(graph):
            ours = imported.partition(".")[0] in roots
            if ours and not is_allowed(importer, imported, table):
                yield importer, imported, _line(graph, importer, imported)

    def _out_of_rooms(self, graph: ImportGraph) -> Iterator[tuple[str, str, int]]:
        lines = cast("list[str]", self.rooms)
        rooms = {name: places.split() for name, _, places in (x.partition(":") for x in lines)}
        for importer, imported in _imports(graph):
            places = rooms.get(imported.partition(".")[0])
            if places is not None and not any(prefix(importer, place) for place in places):
                yield importer, imported, _line(graph, importer, imported)

    def render_broken_contract(self, check: ContractCheck) -> None:
        for importer, imported, line in check.metadata["broken"]:
            output.print_error(
                f"{importer}:{line} imports {imported}, which the table of walls in "
                "pyproject.toml does not allow; hand it in as an argument, or move the code to "
                "where it may be imported"
            )


class CirclesContract(Contract):
    """No module imports, by whatever way round, one that imports it: each can be read alone."""

    type_name = "circles"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        found = circle(graph)
        return ContractCheck(kept=not found, metadata={"circle": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        output.print_error(
            f"{' -> '.join(check.metadata['circle'])}: these import each other; hand one of them "
            "what it needs of the other, or move that to where both may import it"
        )


class OneWayContract(Contract):
    """No room imports one that imports it. A room is a folder or file of a root package.

    Modules of two rooms can import both ways without a circle; then neither can be read alone.
    """

    type_name = "one_way"

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        found = [
            (*pair, [(*it, _line(graph, *it)) for it in imports])
            for pair, imports in two_way(_imports(graph)).items()
        ]
        return ContractCheck(kept=not found, metadata={"pairs": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        for one, other, imports in check.metadata["pairs"]:
            lines = "; ".join(f"{by}:{line} imports {what}" for by, what, line in imports)
            output.print_error(
                f"{one} and {other} import each other; move what the lower one needs of the other "
                f"to where it belongs: {lines}"
            )


def two_way(
    imports: Iterable[tuple[str, str]],
) -> dict[tuple[str, str], list[tuple[str, str]]]:
    """Return the pairs of rooms that import each other, each with all imports between the two.

    A room is the first two names of a module: ``host_bridge.cars`` of ``host_bridge.cars.car``.
    """
    found: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for importer, imported in sorted(imports):
        rooms = tuple(".".join(module.split(".")[:2]) for module in (importer, imported))
        if rooms[0] != rooms[1]:
            found[rooms[0], rooms[1]].append((importer, imported))
    return {
        (one, other): [*there, *found[other, one]]
        for (one, other), there in sorted(found.items())
        if one < other and (other, one) in found
    }


def circle(graph: ImportGraph) -> list[str]:
    """A circle of modules, each importing the next, the first again at its end; or nothing."""
    modules = {m: graph.find_modules_directly_imported_by(m) & graph.modules for m in graph.modules}
    try:
        TopologicalSorter(modules).prepare()
    except CycleError as error:
        return list(reversed(error.args[1]))
    return []


def _imports(graph: ImportGraph) -> Iterator[tuple[str, str]]:
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            yield importer, imported


def _line(graph: ImportGraph, importer: str, imported: str) -> int:
    details = graph.get_import_details(importer=importer, imported=imported)
    return int(details[0]["line_number"]) if details else 0
