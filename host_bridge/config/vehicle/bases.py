"""Inheritance of vehicle files: ``base = "f1tenth"`` takes over that file's values.

Tables are merged key by key, anything else is replaced whole: a file with ``[[channels]]`` of its
own has these alone. ``without = ["rc"]`` removes what the base has.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from pathlib import Path

from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.config.vehicle.schema import TABLES
from host_bridge.core.errors import VehicleFileFault
from host_bridge.core.files.packaged_files import VEHICLES, packaged_file, packaged_names
from sim_mock.files.keys import Key
from sim_mock.files.reading import read_key

FOLDER = Path(__file__).resolve().parents[3] / "hardware" / "vehicles"
_ONLY_BASES = FOLDER / "bases"  # files that are no vehicle by themselves
_KEYS: dict[str, Key] = {key.name: key for key in TABLES[""]}


def names_in(folder: Path) -> tuple[str, ...]:
    """Return the names by which files refer to a folder's vehicle files without a path."""
    return tuple(sorted(path.stem for path in folder.glob("*.toml")))


def known_names() -> tuple[str, ...]:
    """Return the names of the vehicles of Tandem and of other installed packages, sorted."""
    return tuple(sorted({*names_in(FOLDER), *packaged_names(VEHICLES)}))


def known_file(name: str) -> Path:
    """Return the path of the vehicle of that name: Tandem's own, or else another package's.

    The file need not exist.
    """
    own = FOLDER / f"{name}.toml"
    return own if is_file(own) else packaged_file(VEHICLES, name) or own


def base_names() -> tuple[str, ...]:
    """Return the names of all possible bases: vehicles, and files that serve only as bases."""
    return (*known_names(), *names_in(_ONLY_BASES))


def read_with_bases(path: Path) -> VehicleDocument:
    """Read a vehicle file, laid over its base, that one's base, and so on.

    Raises VehicleFileFault for a file that is not TOML, a base that does not exist, and a circle
    of bases.
    """
    return _read(path, ())


def _read(path: Path, above: tuple[Path, ...]) -> VehicleDocument:
    document = VehicleDocument(path)
    chain = (*above, path.resolve())
    name = read_key(document, "base", document.values, _KEYS["base"])
    left_out = read_key(document, "without", document.values, _KEYS["without"])
    if not name:
        return _refuse_without(document, left_out)
    found = _find(document, name)
    if found.resolve() in chain:
        raise _circle(document, (*chain, found.resolve()))
    base = _read(found, chain)
    for key in left_out:
        if not base.drop(key):
            raise _not_in_base(document, key, base)
    document.lay_over(base)
    return document


def _find(document: VehicleDocument, name: str) -> Path:
    for path in _places(document, name):
        if is_file(path):
            return path
    near = difflib.get_close_matches(name, base_names(), n=1)
    raise document.fault(
        "base",
        "there is no vehicle file that this one could be based on by that name",
        expected=f"one of {', '.join(base_names())}, or the path of a .toml file, from here",
        got=name,
        remedy=f"did you mean {near[0]}?" if near else "correct it, or take base out",
    )


def _places(document: VehicleDocument, name: str) -> Iterator[Path]:
    """Yield where a base may be, Tandem's own first: to look into other packages takes a while."""
    if "/" in name or name.endswith(".toml"):
        yield document.path.parent / name
    else:
        yield _ONLY_BASES / f"{name}.toml"
        yield known_file(name)


def is_file(path: Path) -> bool:
    """Return whether the path is an existing file; False for a name that no file can have."""
    try:
        return path.is_file()
    except OSError:
        return False


def _circle(document: VehicleDocument, chain: tuple[Path, ...]) -> VehicleFileFault:
    return document.fault(
        "base",
        "this base leads back to a file that is based on it",
        expected="a file whose own bases end at one without a base",
        got=" -> ".join(path.name for path in chain[chain.index(chain[-1]) :]),
        remedy="take base out of one of them",
    )


def _refuse_without(document: VehicleDocument, left_out: list[str]) -> VehicleDocument:
    if left_out:
        raise document.fault(
            "without",
            "there is nothing to leave out of a file without a base",
            expected='base = "NAME" too',
            got=", ".join(left_out),
            remedy="take without out",
        )
    return document


def _not_in_base(document: VehicleDocument, key: str, base: VehicleDocument) -> VehicleFileFault:
    near = difflib.get_close_matches(key, base.keys(), n=1)
    return document.fault(
        "without",
        f"{key} is not in the base, or has been left out",
        expected="tables and keys that the base has, as sources.rc",
        got=key,
        remedy=f"did you mean {near[0]}?" if near else f"take it out; the base is {base.path}",
    )
