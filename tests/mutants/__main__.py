"""Mutation testing of what a change touches, or of all that is held to it: ``make mutants``.

Exit code 1 if a mutant survived that is not known to change nothing, if the list of those is not
true, if lines or branches of the core are never run, or if there was nothing to try where something
was touched.
"""

import argparse
import functools
import json
import os
import random
import secrets
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.mutants import chosen, covered, sample
from tests.mutants.core import CORE, FAST, GROUPS, OF_ITS_OWN, PARTS, ROOT, Part, tiers
from tests.mutants.equivalent import equivalents
from tests.mutants.mistakes import by_hand
from tests.mutants.mistakes.mutations import Mutant, mutants_of, mutated
from tests.mutants.mistakes.overwritten import is_left_out, tried
from tests.mutants.trial import kept, trials
from tests.mutants.trial.trying import Trial, Trying, line

# Those of what people and programs drive by are counted apart
LISTS = tuple(
    Path(equivalents.__file__).with_name(name)
    for name in ("equivalent.toml", "equivalent_interfaces.toml")
)


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants", description=__doc__)
    parser.add_argument("--list", action="store_true", help="show the mutants, try none")
    chosen = parser.add_mutually_exclusive_group()
    chosen.add_argument("--only", metavar="FILE", default="", help="part of a file's path")
    chosen.add_argument("--all", action="store_true", help="everything, touched or not")
    chosen.add_argument("--core", action="store_true", help="the safety core, touched or not")
    chosen.add_argument("--since", metavar="COMMIT", default="", help="what was touched since then")
    chosen.add_argument("--by-hand", action="store_true", help="the mistakes made by hand, alone")
    chosen.add_argument("--sample", metavar="N", type=int, help="so many of all files, by lot")
    parser.add_argument("--seed", type=int, help="of a sample (drawn, and said)")
    parser.add_argument("--where", metavar="NAME", default="", help="class or function")
    parser.add_argument("--json", action="store_true", help="the result as JSON")
    parser.add_argument("--toml", action="store_true", help="survivors as entries to explain")
    parser.add_argument("--fast", action="store_true", help="leave the whole car's tests out")
    parser.add_argument("--own", action="store_true", help="each part's own tests only")
    parser.add_argument(
        "--kept", metavar="FILE", type=Path, default=ROOT / ".mutants",
        help="what is known from earlier runs (.mutants; /dev/null: nothing)",
    )  # fmt: skip
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument(
        "--minutes", type=float, help="begin no more after so long: of many, some at random"
    )
    return parser.parse_args(words)


def _tiers(part: Part, options: argparse.Namespace) -> tuple[trials.Tier, ...]:
    """The slower ones may be left out, to know sooner what is to be looked at."""
    many = 1 if options.own else 2 if options.fast else None
    return tiers(part)[:many]


def _trials_of(part: Part, options: argparse.Namespace) -> list[Trial]:
    source = trials.source_of(ROOT, part.file)
    asked = _tiers(part, options)
    return [
        Trial(it, functools.partial(mutated, source, it.number, part.scope), asked, source)
        for it in tried(part.file, source, part.scope)
    ]


def _trial_by_hand(mistake: by_hand.Mistake) -> Trial:
    source = trials.source_of(ROOT, mistake.file)
    tier = trials.Tier(mistake.tests, by_hand.CPU_S)
    return Trial(mistake.mutant(source), functools.partial(mistake.tree, source), (tier,), source)


def _covered(files: dict[str, tuple[str, ...]], out: "TextOut") -> bool:
    results = covered.measure(ROOT, files, FAST)
    for result in results:
        out(str(result))
    return not any(not result.is_enough() for result in results)


class TextOut:
    """What people read; nothing of it when JSON is asked for."""

    def __init__(self, is_silent: bool) -> None:
        self._is_silent = is_silent

    def __call__(self, text: str) -> None:
        if not self._is_silent:
            print(text, flush=True)


def _passed_unchanged(asked: Sequence[trials.Tier]) -> bool:
    """A test that fails on the unchanged source would kill every mutant."""
    tests = tuple(dict.fromkeys(test for tier in asked for test in tier.tests))
    if not tests:
        return True
    child = os.fork()
    if child == 0:
        os._exit(trials.run_tests([trials.Tier(tests, sum(it.cpu_s for it in asked))]))
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


class Choice(NamedTuple):
    """What to try."""

    parts: list[Part]
    mistakes: list[by_hand.Mistake]


def _touched(since: str, mistakes: Sequence[by_hand.Mistake]) -> Choice:
    """What the change touches, said with what touches it. Raises chosen.NothingToCompare."""
    commit = chosen.base(ROOT, since)
    parts = chosen.touched(ROOT, commit)
    of_hand = chosen.touched_by_hand(ROOT, commit, mistakes)
    print(f"since {commit[:12]}: {len(parts)} of {len(PARTS)} files to try", file=sys.stderr)
    for part, why in parts.items():
        print(f"  {part.file}, for {why}", file=sys.stderr)
    for mistake in of_hand:
        print(f"  {mistake.file}, by hand: {mistake.what}", file=sys.stderr)
    return Choice(list(parts), of_hand)


def _chosen(options: argparse.Namespace) -> Choice:
    mistakes = by_hand.read(by_hand.LIST, ROOT)
    if options.by_hand:
        return Choice([], mistakes)
    if options.core:
        files = {part.file for part in CORE}
        return Choice(list(CORE), [it for it in mistakes if it.file in files])
    if options.all or options.only:
        parts = [part for part in PARTS if options.only in part.file]
        return Choice(parts, [it for it in mistakes if options.only in it.file])
    return _touched(options.since, mistakes)


def _row(name: str, results: Sequence[tuple[Mutant, str, bool]]) -> str:
    """How many were tried, and what became of them."""
    verdicts = Counter(
        "equivalent" if explained and verdict == trials.SURVIVED else verdict
        for _, verdict, explained in results
    )
    columns = (trials.KILLED, trials.TIMED_OUT, "equivalent", trials.SURVIVED)
    widths = zip(columns, (7, 6, 7, 9), strict=True)
    return f"{name:44}{verdicts.total():6}" + "".join(f"{verdicts[it]:{w}}" for it, w in widths)


def tables(results: Sequence[tuple[Mutant, str, bool]]) -> str:
    """A row for each file, and one for each group of files."""
    rows = [f"{'file':44} tried killed timed equiv. survived"]
    for file in dict.fromkeys(mutant.file for mutant, _, _ in results):
        rows.append(_row(file, [it for it in results if it[0].file == file]))
    for group, parts in GROUPS.items():
        files = {part.file for part in parts}
        of_group = [it for it in results if it[0].file in files]
        if of_group:
            rows.append(_row(f"all of {group}", of_group))
    return "\n".join(rows)


def _left_out(files: set[str]) -> int:
    """Mutants of defaults that nobody reads."""
    parts = [part for part in PARTS if part.file in files]
    sources = [trials.source_of(ROOT, part.file) for part in parts]
    return sum(
        is_left_out(it)
        for part, source in zip(parts, sources, strict=True)
        for it in mutants_of(part.file, source, part.scope)
    )


def _judge(trying: Sequence[Trial], options: argparse.Namespace) -> int:
    every = [trial.mutant for part in PARTS for trial in _trials_of(part, options)]
    rules, listed = equivalents.read_all(LISTS, every)
    run = Trying(trying, {it.key for it in listed}, kept.Kept(ROOT, options.kept))
    if not _passed_unchanged(run.left()):
        print("the tests do not pass on the unchanged source: mend that first", file=sys.stderr)
        return 1
    before_s = time.monotonic()
    over_s = None if options.minutes is None else before_s + 60 * options.minutes
    run.run(options.workers, over_s)
    wrong = equivalents.errors(listed, every, run.by_key()) + equivalents.rule_errors(rules, every)
    if not run.by_key():
        wrong.append("the time was over before one mutant was tried")
    _tell(run, wrong, time.monotonic() - before_s, options)
    return 1 if run.survivors() or wrong else 0


def _tell(run: Trying, wrong: Sequence[str], took_s: float, options: argparse.Namespace) -> None:
    out = TextOut(options.json)
    survivors = run.survivors()
    for mutant in survivors:
        out(equivalents.written(mutant) if options.toml else line(mutant))
    for text in wrong:
        out(text)
    out(tables(run.results()))
    counts = Counter(verdict for _, verdict, _ in run.results())
    equivalent = counts[trials.SURVIVED] - len(survivors)
    out(
        f"{counts.total()} mutants: {counts[trials.KILLED]} killed, {counts[trials.TIMED_OUT]} "
        f"timed out, {equivalent} equivalent, {len(survivors)} survived; {took_s:.0f} s, "
        f"{run.known} of them known from earlier runs"
    )
    left_out = _left_out({mutant.file for mutant, _, _ in run.results()})
    if left_out:
        out(f"left out: {left_out} of defaults that the core's tests go without (overwritten.py)")
    if counts.total() < run.many:
        out(f"of {run.many}: the time was over; what was not tried is not shown to be noticed")
    if options.json:
        print(json.dumps({"counts": counts, "equivalent": equivalent, "took_s": took_s,
                          "known": run.known, "wrong": wrong,
                          "survivors": [mutant._asdict() for mutant in survivors]}))  # fmt: skip


def _sample(options: argparse.Namespace) -> int:
    """Says what of a sample was noticed; 1 if something was not, or not tried."""
    seed = secrets.randbelow(1_000_000) if options.seed is None else options.seed
    rules = [rule for path in LISTS for rule in equivalents.read_rules(path)]
    listed = {it.key for path in LISTS for it in equivalents.read(path)}

    def is_explained(it: Mutant) -> bool:
        return it.key in listed or is_left_out(it) or any(rule.covers(it) for rule in rules)

    drawn = sample.draw(ROOT, options.sample, seed, is_explained)
    if options.list:
        for it in drawn:
            print(f"{line(it.mutant)}\n    asked: {' '.join(it.tests)}")
        return 0
    tried = sample.Sample(ROOT, drawn, kept.Kept(ROOT, options.kept))
    tried.run(None if options.minutes is None else time.monotonic() + 60 * options.minutes)
    verdicts = tried.verdicts()
    survivors = [it for it, verdict in verdicts if verdict == trials.SURVIVED]
    out = TextOut(options.json)
    for it in survivors:
        out(f"{line(it.mutant)}\n    asked: {' '.join(it.tests)}")
    out(sample.table(verdicts))
    noticed = len(verdicts) - len(survivors)
    out(f"seed {seed}: {noticed} of {len(verdicts)} noticed, {len(drawn)} drawn")
    if options.json:
        print(json.dumps({"seed": seed, "drawn": len(drawn), "tried": len(verdicts),
                          "survivors": [it.mutant._asdict() for it in survivors]}))  # fmt: skip
    return 0 if 0 < len(drawn) == noticed else 1


def main(words: Sequence[str]) -> int:
    options = _arguments(words)
    if options.sample is not None:
        return _sample(options)
    try:
        parts, mistakes = _chosen(options)
    except chosen.NothingToCompare as why:
        print(f"{why}: name one with --since, or try --all or --core", file=sys.stderr)
        return 1
    is_asked_for = options.all or options.only or options.core or options.by_hand
    if not parts and not mistakes and not is_asked_for:
        print("nothing that was changed is held to mutants: none to try")
        return 0
    trying = [it for part in parts for it in _trials_of(part, options)]
    trying += [_trial_by_hand(mistake) for mistake in mistakes]
    trying = [it for it in trying if options.where in it.mutant.where]
    if options.minutes is not None:  # by lot, the same for the same mutants
        random.Random(len(trying)).shuffle(trying)
    if not trying:
        print("there is not one mutant to try of what was asked for", file=sys.stderr)
        return 1
    if options.list:
        for trial in trying:
            print(line(trial.mutant))
        return 0
    result = _judge(trying, options)
    measured = {part.file: part.scope for part in parts if part not in OF_ITS_OWN}
    if options.where or not measured:  # of a function there is no coverage to measure
        return result
    return result if _covered(measured, TextOut(options.json)) else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        print("\nended; the same command goes on from here", file=sys.stderr)
        sys.exit(130)
