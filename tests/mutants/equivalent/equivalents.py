"""The mutants that are known to change nothing, each with its reason: one by one, or by a rule.

A rule says of all mutants of a file that look alike why they change nothing, and how many they are:
one more is not covered before somebody has looked at it.
"""

import re
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from tests.mutants.mistakes.mutations import Mutant

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

Key = tuple[str, str, str, str, str, int]
_FIELDS = ("file", "where", "operator", "before", "after", "reason")


_PATTERNS = ("where", "operator", "before", "after")


class Equivalent(NamedTuple):
    key: Key
    reason: str


class Rule(NamedTuple):
    """``patterns`` are regular expressions for where, operator, before and after, each for the
    whole of it; ``count`` is how many mutants it covers."""

    file: str
    patterns: tuple[str, ...]
    count: int
    reason: str

    def covers(self, mutant: Mutant) -> bool:
        texts = (mutant.where, mutant.operator, mutant.before, mutant.after)
        pairs = zip(self.patterns, texts, strict=True)
        return self.file == mutant.file and not any(
            re.fullmatch(pattern, text, re.DOTALL) is None for pattern, text in pairs
        )


def read(path: Path) -> list[Equivalent]:
    """Raises ValueError if an entry says too little, or gives no reason."""
    entries = tomllib.loads(path.read_text()).get("equivalent", [])
    return [_parsed(path, number, entry) for number, entry in enumerate(entries, 1)]


def read_rules(path: Path) -> list[Rule]:
    """Raises ValueError if a rule says too little, or gives no reason."""
    rules = tomllib.loads(path.read_text()).get("rule", [])
    return [_rule(path, number, rule) for number, rule in enumerate(rules, 1)]


def read_all(
    paths: Sequence[Path], mutants: Sequence[Mutant]
) -> tuple[list[Rule], list[Equivalent]]:
    """The rules of several lists, and an entry for each mutant that is listed or covered by one."""
    rules = [rule for path in paths for rule in read_rules(path)]
    return rules, [it for path in paths for it in read(path)] + by_rule(rules, mutants)


def _rule(path: Path, number: int, rule: dict[str, Any]) -> Rule:
    needed = {"file", "count", "reason"}
    if not needed <= set(rule) <= {*needed, *_PATTERNS} or not rule["reason"].strip():
        raise ValueError(
            f"{path.name}, rule {number}: expected file, count, reason and any of "
            f"{', '.join(_PATTERNS)}, got {', '.join(rule)}"
        )
    patterns = tuple(rule.get(name, ".*") for name in _PATTERNS)
    return Rule(rule["file"], patterns, rule["count"], rule["reason"].strip())


def by_rule(rules: Sequence[Rule], mutants: Iterable[Mutant]) -> list[Equivalent]:
    """An entry for each mutant that a rule covers."""
    found = []
    for mutant in mutants:
        found += [Equivalent(mutant.key, rule.reason) for rule in rules if rule.covers(mutant)]
    return found


def rule_errors(rules: Sequence[Rule], mutants: Sequence[Mutant]) -> list[str]:
    """Rules that cover more mutants than they say, or fewer."""
    counts = [(rule, sum(map(rule.covers, mutants))) for rule in rules]
    return [
        f"a rule covers {count} mutants of {rule.file}, expected {rule.count}: {rule.reason}"
        for rule, count in counts
        if count != rule.count or not count
    ]


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
