"""Mutation testing of the safety core: ``make mutants``.

Exit code 1 if a mutant survived that is not known to change nothing, if the list of those is not
true, or if lines or branches are never run.
"""

import argparse
import functools
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from tests.mutants import covered, equivalents, trials
from tests.mutants.core import CORE, FAST, PARTS, ROOT, Part, tiers
from tests.mutants.mutations import Mutant, module_of, mutants_of, mutated

LIST = Path(__file__).with_name("equivalent.toml")


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--list", action="store_true", help="show the mutants, try none")
    parser.add_argument("--only", metavar="FILE", default="", help="part of a file's path")
    parser.add_argument("--all", action="store_true", help="what decides beside the core, too")
    parser.add_argument("--where", metavar="NAME", default="", help="class or function")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.add_argument("--toml", action="store_true", help="survivors as entries to explain")
    parser.add_argument("--fast", action="store_true", help="leave the whole car's tests out")
    parser.add_argument("--workers", type=int, default=2)
    return parser.parse_args(words)


def _all_mutants(parts: Sequence[Part]) -> list[Mutant]:
    return [
        mutant
        for part in parts
        for mutant in mutants_of(part.file, trials.source_of(ROOT, part.file), part.scope)
    ]


def _tiers(part: Part, is_fast: bool) -> tuple[trials.Tier, ...]:
    return tiers(part)[:2] if is_fast else tiers(part)


def _try(mutant: Mutant, is_fast: bool, is_explained: bool) -> int:
    part = next(part for part in PARTS if part.file == mutant.file)
    tree = mutated(trials.source_of(ROOT, part.file), mutant.number, part.scope)
    asked = _tiers(part, is_fast)
    return trials.start(module_of(part.file), tree, asked[:1] if is_explained else asked)


def _progress(done: int, of: int, survived: int, equivalent: int) -> None:
    """One line on a terminal; elsewhere, in a log, a line for each tenth."""
    is_live = sys.stderr.isatty()
    if is_live or done * 10 // of != (done - 1) * 10 // of:
        begin, end = ("\r", "") if is_live else ("", "\n")
        words = f"{begin}{done}/{of} tried, {equivalent} equivalent, {survived} survived "
        print(words, end=end, file=sys.stderr, flush=True)


def _verdicts(
    mutants: Sequence[Mutant], explained: set[equivalents.Key], options: argparse.Namespace
) -> list[str]:
    """In the order of the mutants. About those that are explained only their own tests are asked:
    they pass all, which takes its time."""
    verdicts = [""] * len(mutants)
    jobs = [
        functools.partial(_try, mutant, options.fast, mutant.key in explained) for mutant in mutants
    ]
    for done, (number, verdict) in enumerate(trials.trials(jobs, options.workers), 1):
        verdicts[number] = verdict
        survived = len(_unexplained(mutants, verdicts, explained))
        equivalent = verdicts.count(trials.SURVIVED) - survived
        _progress(done, len(mutants), survived, equivalent)
    return verdicts


def _line(mutant: Mutant) -> str:
    place = f"{mutant.file}:{mutant.line}: {mutant.where}: {mutant.operator}"
    return f"{place}\n    - {mutant.before}\n    + {mutant.after}"


def _covered(files: dict[str, tuple[str, ...]], out: "TextOut") -> bool:
    results = covered.measure(ROOT, files, FAST)
    for result in results:
        out(str(result))
    return all(result.is_enough() for result in results)


class TextOut:
    """What people read; nothing of it when JSON is asked for."""

    def __init__(self, is_silent: bool) -> None:
        self._is_silent = is_silent

    def __call__(self, text: str) -> None:
        if not self._is_silent:
            print(text, flush=True)


def _unexplained(
    mutants: Sequence[Mutant], verdicts: Sequence[str], explained: set[equivalents.Key]
) -> list[Mutant]:
    pairs = zip(mutants, verdicts, strict=True)
    return [m for m, v in pairs if v == trials.SURVIVED and m.key not in explained]


def _passed_unchanged(is_fast: bool) -> bool:
    """A test that fails on the unchanged core would kill every mutant."""
    child = os.fork()
    if child == 0:
        os._exit(trials.run_tests(_tiers(PARTS[0], is_fast)[1:]))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _judge(chosen: Sequence[Mutant], every: Sequence[Mutant], options: argparse.Namespace) -> int:
    out = TextOut(options.json)
    listed = equivalents.read(LIST)
    explained = {entry.key for entry in listed}
    before_s = time.monotonic()
    verdicts = _verdicts(chosen, explained, options)
    survivors = _unexplained(chosen, verdicts, explained)
    by_key = dict(zip((mutant.key for mutant in chosen), verdicts, strict=True))
    wrong = equivalents.errors(listed, every, by_key)
    for mutant in survivors:
        out(equivalents.written(mutant) if options.toml else _line(mutant))
    for text in wrong:
        out(text)
    counts = Counter(verdicts)
    known = counts[trials.SURVIVED] - len(survivors)
    took_s = time.monotonic() - before_s
    out(
        f"{len(chosen)} mutants: {counts[trials.KILLED]} killed, {counts[trials.TIMED_OUT]} timed "
        f"out, {known} equivalent, {len(survivors)} survived; {took_s:.0f} s"
    )
    if options.json:
        print(json.dumps({"counts": counts, "equivalent": known, "took_s": took_s, "wrong": wrong,
                          "survivors": [mutant._asdict() for mutant in survivors]}))  # fmt: skip
    return 1 if survivors or wrong else 0


def main(words: Sequence[str]) -> int:
    options = _arguments(words)
    tried = PARTS if options.all or options.only else CORE
    parts = [part for part in tried if options.only in part.file]
    every = _all_mutants(PARTS)
    files = {part.file for part in parts}
    chosen = [m for m in every if m.file in files and options.where in m.where]
    if options.list:
        for mutant in chosen:
            print(_line(mutant))
        return 0
    if not _passed_unchanged(options.fast):
        print("the tests do not pass on the unchanged core: mend that first", file=sys.stderr)
        return 1
    result = _judge(chosen, every, options)
    if options.where:  # of a function there is no coverage to measure
        return result
    files_by_scope = {part.file: part.scope for part in parts}
    return result if _covered(files_by_scope, TextOut(options.json)) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
