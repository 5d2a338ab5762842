"""Tries mutants: asks of each what tests still have to be asked, and tells what becomes of it."""

import ast
import functools
import sys
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from tests.mutants.equivalent import equivalents
from tests.mutants.mistakes.mutations import Mutant, module_of
from tests.mutants.trial import kept, trials, warm

Job = Callable[[], int]


class Trial(NamedTuple):
    """A mutant, what makes it, the tests that are asked, and the unchanged source.

    Without a source it is tried on its own only.
    """

    mutant: Mutant
    tree: Callable[[], ast.Module]
    tiers: tuple[trials.Tier, ...]
    source: str = ""


def line(mutant: Mutant) -> str:
    place = f"{mutant.file}:{mutant.line}: {mutant.where}: {mutant.operator}"
    return f"{place}\n    - {mutant.before}\n    + {mutant.after}"


def _progress(done: int, of: int, survived: int, equivalent: int) -> None:
    """One line on a terminal; elsewhere, in a log, a line for each tenth."""
    is_live = sys.stderr.isatty()
    if is_live or done * 10 // of != (done - 1) * 10 // of:
        begin, end = ("\r", "") if is_live else ("", "\n")
        words = f"{begin}{done}/{of} tried, {equivalent} equivalent, {survived} survived "
        print(words, end=end, file=sys.stderr, flush=True)


class Trying:
    """Asks of each mutant tier after tier until one notices it, but for what is known.

    ``verdicts`` are in the order of the mutants, "" for what was not tried. About those that are
    explained only their own tests are asked: they pass all, which takes its time.
    """

    def __init__(
        self, tried: Sequence[Trial], explained: set[equivalents.Key], known: kept.Kept
    ) -> None:
        self.verdicts = [""] * len(tried)
        self.known = 0  # of them, from earlier runs
        self._tried = tried
        self._explained = explained
        self._kept = known
        self._settled: Counter[tuple[str, bool]] = Counter()
        self._begun: set[int] = set()

    @property
    def many(self) -> int:
        return len(self._tried)

    def results(self) -> list[tuple[Mutant, str, bool]]:
        """Of what was tried: the mutant, its verdict, and whether it is explained."""
        pairs = zip(self._tried, self.verdicts, strict=True)
        return [(it.mutant, end, it.mutant.key in self._explained) for it, end in pairs if end]

    def by_key(self) -> dict[equivalents.Key, str]:
        return {mutant.key: verdict for mutant, verdict, _ in self.results()}

    def survivors(self) -> list[Mutant]:
        return [
            mutant
            for mutant, verdict, is_explained in self.results()
            if verdict == trials.SURVIVED and not is_explained
        ]

    def left(self) -> list[trials.Tier]:
        """The tiers that may have to be asked still."""
        unknown = (trial for trial in self._tried if not self._verdict(trial))
        return list(dict.fromkeys(tier for trial in unknown for tier in self._asked(trial)))

    def run(self, workers: int, over_s: float | None = None) -> None:
        """None is begun after ``over_s``; the quick way takes two thirds of the time until then."""
        self.known = sum(bool(self._verdict(it)) for it in self._tried)
        passed: set[int] = set()
        for depth in range(max((len(it.tiers) for it in self._tried), default=0)):
            self._run_warm(workers, over_s, depth, passed)
        # First what has passed where it was tried: these are the likely survivors
        waiting = deque(sorted(range(len(self._tried)), key=lambda it: it not in passed))
        while waiting:  # what is asked further comes back when the others have all begun
            asked: list[tuple[int, trials.Tier]] = []
            for job, verdict in trials.trials(self._jobs(waiting, asked, over_s), workers):
                number, tier = asked[job]
                self._kept.put(self._tried[number].mutant, tier, verdict)
                waiting.appendleft(number)

    def _run_warm(self, workers: int, over_s: float | None, depth: int, passed: set[int]) -> None:
        """Those that the same tests are asked about get their share of the time."""
        groups: dict[trials.Tier, list[int]] = {}
        for number, trial in enumerate(self._tried):
            is_open = depth < len(trial.tiers) and not self._verdict(trial)
            if is_open and trial.source and trial.mutant.key not in self._explained:
                groups.setdefault(trial.tiers[depth], []).append(number)
        left = sum(map(len, groups.values()))
        for tier, numbers in groups.items():
            now_s = time.monotonic()
            share_s = over_s and now_s + (over_s - now_s) * 2 / 3 * len(numbers) / left
            left -= len(numbers)
            changes = [
                warm.Change(it, trial.mutant.file, trial.source, trial.tree)
                for it in numbers
                for trial in (self._tried[it],)
            ]
            try:
                for number, verdict in warm.noticed(changes, tier, workers, share_s):
                    if verdict == trials.SURVIVED:
                        passed.add(number)
                    else:
                        self._kept.put(self._tried[number].mutant, tier, verdict)
            except RuntimeError as why:
                print(f"{why}; each is tried on its own", file=sys.stderr)
            tried = sum(bool(self._verdict(it)) for it in self._tried)
            print(f"{tried} of {self.many} noticed or known", file=sys.stderr, flush=True)

    def _jobs(
        self, waiting: deque[int], asked: list[tuple[int, trials.Tier]], over_s: float | None
    ) -> Iterator[Job]:
        while waiting:
            number = waiting.popleft()
            trial = self._tried[number]
            verdict = self._verdict(trial)
            if verdict:
                self._settle(number, verdict)
            elif over_s is None or number in self._begun or time.monotonic() <= over_s:
                self._begun.add(number)
                tier = next(it for it in self._asked(trial) if not self._get(trial, it))
                asked.append((number, tier))
                yield functools.partial(
                    trials.start, module_of(trial.mutant.file), trial.tree(), (tier,)
                )

    def _asked(self, trial: Trial) -> tuple[trials.Tier, ...]:
        return trial.tiers[:1] if trial.mutant.key in self._explained else trial.tiers

    def _get(self, trial: Trial, tier: trials.Tier) -> str | None:
        return self._kept.get(trial.mutant, tier)

    def _verdict(self, trial: Trial) -> str:
        """Empty as long as tests are left to ask."""
        known = [self._get(trial, tier) for tier in self._asked(trial)]
        noticed = [verdict for verdict in known if verdict not in (None, trials.SURVIVED)]
        return next(iter(noticed), "" if None in known else trials.SURVIVED) or ""

    def _settle(self, number: int, verdict: str) -> None:
        mutant = self._tried[number].mutant
        self.verdicts[number] = verdict
        is_explained = mutant.key in self._explained
        self._settled[verdict, is_explained] += 1
        survived = self._settled[trials.SURVIVED, False]
        equivalent = self._settled[trials.SURVIVED, True]
        _progress(self._settled.total(), len(self.verdicts), survived, equivalent)
        if verdict == trials.SURVIVED and not is_explained:
            print(f"survived: {line(mutant)}", file=sys.stderr, flush=True)
