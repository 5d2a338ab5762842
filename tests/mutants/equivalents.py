"""The mutants that are known to change nothing, each with its reason."""

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutants.mutations import Mutant

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Key = tuple[str, str, str, str, str, int]
_FIELDS = ("file", "where", "operator", "before", "after", "reason")


class Equivalent(NamedTuple):
    key: Key
    reason: str


def read(path: Path) -> list[Equivalent]:
    """Raises ValueError if an entry says too little, or gives no reason."""
    entries = tomllib.loads(path.read_text()).get("equivalent", [])
    return [_parsed(path, number, entry) for number, entry in enumerate(entries, 1)]


def _parsed(path: Path, number: int, entry: dict[str, Any]) -> Equivalent:
    missing = [field for field in _FIELDS if field not in entry]
    unknown = sorted(set(entry) - {*_FIELDS, "nth"})
    if missing or unknown or not entry["reason"].strip():
        raise ValueError(
            f"{path.name}, entry {number}: expected {', '.join(_FIELDS)} (and nth), "
            f"missing {missing or 'a reason'}, unknown {unknown}"
        )
    values = [entry[field] for field in _FIELDS[:-1]]
    return Equivalent((*values, entry.get("nth", 1)), entry["reason"].strip())


def written(mutant: Mutant) -> str:
    """An entry for this mutant, whose reason is still to be given."""
    fields = dict(zip(_FIELDS, (*mutant.key[:-1], ""), strict=True))
    lines = [f"{name} = {_quoted(value)}" for name, value in fields.items()]
    if mutant.nth > 1:
        lines.insert(-1, f"nth = {mutant.nth}")
    return "\n".join(["[[equivalent]]", *lines, ""])


def _quoted(text: str) -> str:
    return f"'{text}'" if "'" not in text else f'"{text}"' if '"' not in text else f"'''{text}'''"


def errors(
    listed: Sequence[Equivalent], mutants: Iterable[Mutant], verdicts: dict[Key, str]
) -> list[str]:
    """What is wrong with the list, seen from what the tried mutants did.

    ``mutants`` are all there are, ``verdicts`` of those that were tried.
    """
    known = {mutant.key for mutant in mutants}
    found = []
    keys = [entry.key for entry in listed]
    for key in keys:
        name = " | ".join(str(part) for part in key)
        if keys.count(key) > 1:
            found.append(f"listed twice: {name}")
        if key not in known:
            found.append(f"listed as equivalent, but there is no such mutant: {name}")
        elif verdicts.get(key, "survived") != "survived":
            found.append(f"listed as equivalent, but {verdicts[key]}: {name}")
    return found
