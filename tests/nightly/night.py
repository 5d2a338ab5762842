"""Goes through the parts that have no verdict yet, as long as the hours last, one by one."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone

from tests.nightly import keeping, reading
from tests.nightly.keeping import Store, Verdict
from tests.nightly.parts import KEPT, LOG, MINUTES, PYTHON, ROOT, Part
from tests.nightly.running import Ended

# A part that hangs may not eat the night: so many times what was expected, so long at least
_PATIENCE, _PATIENCE_S = 4, 1800
# What mutants take besides: their tests on the unchanged code, and coverage in the end
_AROUND_MUTANTS_S = 900
_LEAST_MUTANTS_S = 300

Runner = Callable[[Sequence[str], Part, float, float], Ended]  # command, of, limit, expected


@dataclass
class Night:
    """What a run needs; the world (commands, clock, code) is passed in."""

    store: Store
    run: Runner
    now_s: Callable[[], float]
    code: Callable[[Part], str]
    commit: str
    says: Callable[[str], None]
    hours: float
    again_failed: bool = False

    def __post_init__(self) -> None:
        self._begun_s = self.now_s()
        self.is_interrupted = False

    def go(self, parts: Sequence[Part]) -> list[Verdict]:
        """A verdict for each part, in the order of the table."""
        done: dict[str, Verdict] = {}
        try:
            for number, part in enumerate(self._order(parts), 1):
                self.says(f"[{number}/{len(parts)}] {part.name}: ")
                done[part.name] = self._judged(part)
                self.says(f"{told(done[part.name])}\n")
        except KeyboardInterrupt:
            self.is_interrupted = True
            self.says("ended; the same command goes on from here\n")
        none = [Verdict(it.name, keeping.NOT_BEGUN) for it in parts if it.name not in done]
        every = {**done, **{it.part: it for it in none}}
        return [every[part.name] for part in parts]

    def rest_s(self) -> float:
        """What is left of the hours."""
        return self._begun_s + 3600 * self.hours - self.now_s()

    def expected_s(self, part: Part) -> float:
        """What it took the last time, or by the table."""
        if part.takes_the_rest:
            return max(self.rest_s(), _AROUND_MUTANTS_S + _LEAST_MUTANTS_S)
        last = self.store.get(part.name)
        is_known = last and last.is_whole and last.verdict in (keeping.PASSED, keeping.FAILED)
        return 3600 * (last.hours if last and is_known else part.hours)

    def _order(self, parts: Sequence[Part]) -> list[Part]:
        """What was not judged for longest is first, what takes all the rest is last."""
        last = {part.name: self.store.get(part.name) for part in parts}
        when = {name: verdict.when if verdict else "" for name, verdict in last.items()}
        return sorted(parts, key=lambda part: (part.takes_the_rest, when[part.name]))

    def _judged(self, part: Part) -> Verdict:
        code, last = self.code(part), self.store.get(part.name)
        if last and keeping.is_kept(last, part, code, self.again_failed):
            return last
        expected_s, rest_s = self.expected_s(part), self.rest_s()
        if expected_s > rest_s:
            note = f"expected to take {expected_s / 3600:.2f} h, of which {rest_s / 3600:.2f} left"
            return Verdict(part.name, keeping.NOT_BEGUN, note=note)
        self.says(f"some {expected_s / 60:.0f} min ")
        limit_s = min(rest_s, max(_PATIENCE * expected_s, _PATIENCE_S))
        (ROOT / reading.LIST).unlink(missing_ok=True)
        ended = self.run(self._words(part), part, limit_s, expected_s)
        judged = verdict_of(part, ended, limit_s < rest_s)
        if self.code(part) != code:
            note = "files changed while it ran: whose verdict it is nobody can say"
            judged = replace(judged, verdict=keeping.NOT_FINISHED, note=note)
        when = datetime.fromtimestamp(self.now_s(), timezone.utc).isoformat(timespec="seconds")
        judged = replace(judged, code=code, commit=self.commit, when=when)
        self.store.put(judged)
        return judged

    def _words(self, part: Part) -> list[str]:
        minutes = max((self.rest_s() - _AROUND_MUTANTS_S) / 60, 0)
        given = {MINUTES: f"{minutes:.0f}", KEPT: str(self.store.folder),
                 LOG: str(self.store.log(part.name).with_suffix(""))}  # fmt: skip
        return [_filled(word, given) for word in part.command]


def _filled(word: str, given: dict[str, str]) -> str:
    for name, value in given.items():
        word = word.replace(name, value)
    return word


def verdict_of(part: Part, ended: Ended, is_own_limit: bool) -> Verdict:
    """What an exit code and an output say."""
    missed = reading.not_measured(ROOT)
    counts = reading.counts(ended.text)
    if missed:
        counts["not measured"] = len(missed)
    left = reading.mutants_left(ended.text)
    verdict, note = _named(ended, is_own_limit, left)
    return Verdict(
        part.name, verdict, ended.seconds / 3600, counts, note or left,
        again=_again(part, verdict, ended.text, missed), last=reading.last_lines(ended.text),
        command=part.command, is_whole=not left and ended.code is not None,
    )  # fmt: skip


def _named(ended: Ended, is_own_limit: bool, left: str) -> tuple[str, str]:
    if ended.code is None and is_own_limit:
        return keeping.FAILED, f"killed: it took {_PATIENCE} times what was expected"
    if ended.code is None:
        return keeping.NOT_FINISHED, "cut when the hours were over; it begins anew"
    if ended.code == reading.SOME_NOT_MEASURED:
        return keeping.NOT_MEASURED, "the machine gave too little for some"
    if ended.code:
        return keeping.FAILED, f"exit code {ended.code}"
    return (keeping.NOT_FINISHED, left) if left else (keeping.PASSED, "")


def _again(part: Part, verdict: str, text: str, missed: Sequence[str]) -> tuple[str, ...]:
    if verdict == keeping.PASSED or verdict == keeping.NOT_FINISHED:
        return ()
    tests = reading.again(text, PYTHON)
    tests += tuple(f"{PYTHON} -m pytest -n 0 '{test}'" for test in missed)
    return tests or (f'{PYTHON} -m tests.nightly --only "{part.name}" --again-failed',)


def told(verdict: Verdict) -> str:
    """A verdict in a line."""
    counts = ", ".join(f"{many} {name}" for name, many in verdict.counts.items())
    words = [verdict.verdict, counts, verdict.note]
    taken = f"{60 * verdict.hours:.1f} min"
    return (
        f"{'; '.join(filter(None, words))} ({taken})"
        if verdict.hours
        else "; ".join(filter(None, words))
    )


def exit_code(verdicts: Sequence[Verdict]) -> int:
    """1 if one failed, 75 if one has no whole verdict, 0 if all passed and there is one."""
    said = {verdict.verdict for verdict in verdicts}
    if keeping.FAILED in said:
        return 1
    return 0 if said == {keeping.PASSED} else reading.SOME_NOT_MEASURED
