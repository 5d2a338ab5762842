"""A counterexample as a file, and the same again on the unmodified ``App`` with its real clock.

The search has no clock. So the times of the steps are computed first, such that just those
deadlines are over that were over in the search: each is a difference of two times that is at least,
or at most, so long. Where no times fit, no real car can take this way, and the file says so.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from tests.proof.alphabets import BY_NAME
from tests.proof.car.faults import Plant, plant_of
from tests.proof.car.machine import BEAT_US, Machine
from tests.proof.car.real import WORDS_MAX, Lockstep
from tests.proof.rules import STATES, Inputs, Report
from tests.proof.search import Edge, Explorer, Found
from tests.proof.words import Word

Step = tuple[list[Word], Inputs]
_LONGEST_US = 300_000  # between two steps: a program that stays away longer is begun anew
_WAITS, _WAIT_US = 30, 40_000  # a second is the longest that is waited for
_REPEATS = 26  # of a step that changes nothing: a second of a receiver's frames
_WHAT = "tandem proof: a counterexample"


class Unreadable(ValueError):
    """This file is no counterexample, or one of another alphabet."""


class _Times:
    """Differences between the times of steps, gathered while a way is walked."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        # deadline: at which step it was set, for how long
        self._set = {
            name: (0, machine.lasts_us[name])
            for name, deadline in machine.deadlines.items()
            if deadline.is_open and name in machine.lasts_us
        }
        self._rows: list[tuple[int, int, int]] = []  # from, to, at least
        self.steps = 1

    def opened(self) -> None:
        for name, in_us in self._machine.opened:
            self._set[name] = (self.steps, in_us)

    def over(self, name: str, is_over: bool) -> None:
        if name not in self._set:
            return
        since, in_us = self._set[name]
        if is_over:
            self._rows.append((since, self.steps, in_us))
        else:
            self._rows.append((self.steps, since, 1 - in_us))

    def solved(self) -> list[int] | None:
        """The earliest times that fit, us since the start; None if there are none."""
        rows = [*self._rows, *[(i, i + 1, BEAT_US) for i in range(self.steps)]]
        rows += [(i + 1, i, -_LONGEST_US) for i in range(self.steps)]
        times = [0] * (self.steps + 1)
        for _ in range(len(times) + 1):
            is_settled = True
            for since, to, least in rows:
                if times[since] + least > times[to]:
                    times[to], is_settled = times[since] + least, False
            if is_settled:
                return times
        return None


def _steps_of(edges: Sequence[Edge]) -> list[Step]:
    """What is heard in each step, and its inputs; a way that ends in a step is ended quietly."""
    found: list[Step] = []
    heard: list[Word] = []
    for edge in edges:
        if edge.word is not None:
            heard.append(edge.word)
        elif edge.inputs is not None:
            found.append((heard, edge.inputs))
            heard = []
    if heard:
        found.append((heard, Inputs("quiet")))
    return found


def _times_of(explorer: Explorer, edges: Sequence[Edge]) -> list[int] | None:
    machine = explorer.machine
    explorer.begin_again()
    times = _Times(machine)
    for edge in edges:
        _walk(machine, edge)
        if edge.timer:
            times.over(edge.timer, True)
        elif edge.inputs is not None:
            for name, is_over in (*machine.log, *machine.looked):
                if not (
                    is_over and name in machine.deadlines and machine.deadlines[name].has_event
                ):
                    times.over(name, is_over)
        times.opened()
        if edge.inputs is not None:
            times.steps += 1
    return times.solved()


def _stretched(explorer: Explorer, edges: Sequence[Edge]) -> list[Edge]:
    """The same way, with each step before a time that passes said again and again, where that
    changes nothing: hosts and receivers go on to speak meanwhile."""
    found: list[Edge] = []
    group: list[Edge] = []
    explorer.begin_again()
    for number, edge in enumerate(edges):
        _walk(explorer.machine, edge)
        found.append(edge)
        if not edge.timer:
            group.append(edge)
        if edge.inputs is not None and not _passes_time(edges[number + 1 :]):
            group = []
        elif edge.inputs is not None:
            key = explorer.key()
            for again in (group, [edge]):
                quiet = [*again[:-1], Edge(inputs=edge.inputs)]
                for one in quiet:
                    _walk(explorer.machine, one)
                is_same = explorer.key() == key
                explorer.restore(key)
                if is_same:
                    found += quiet * _REPEATS
                    break
            group = []
    return found


def _passes_time(edges: Sequence[Edge]) -> bool:
    """Whether a time is over before the end of the next step."""
    for edge in edges:
        if edge.timer or edge.passes:
            return True
        if edge.inputs is not None:
            break
    return False


def _walk(machine: Machine, edge: Edge) -> None:
    if edge.word is not None:
        machine.hear(edge.word)
    elif edge.timer:
        machine.time_is_over(edge.timer)
    elif edge.inputs is not None:
        machine.due = set(edge.passes)
        machine.tick(edge.inputs)
        machine.due = None


Timed = list[tuple[int, list[Word], Inputs]]  # after how long, what is heard, the inputs


def _computed(explorer: Explorer, edges: Sequence[Edge]) -> Timed:
    """The steps of just this way with times that fit it; none if there are no such times."""
    for tried in (edges, _stretched(explorer, edges)):
        times, steps = _times_of(explorer, tried), _steps_of(tried)
        if times is not None and not any(len(words) > WORDS_MAX for words, _ in steps):
            return [(times[i + 1] - times[i], *step) for i, step in enumerate(steps)]
    return []


class _Waiting:
    """The same things said in the same order, each time waited for until it is over by the clock;
    meanwhile sources say again what they said, or nothing."""

    def __init__(self, explorer: Explorer, plant: Plant | None, goes_on: bool) -> None:
        explorer.begin_again()
        self.lockstep = Lockstep(explorer, plant)
        self.steps: Timed = []
        self._quiet: Step = ([], explorer.alphabet.inputs[0])
        self._last = self._quiet
        self._goes_on = goes_on
        self._heard: list[Word] = []

    def walk(self, edges: Sequence[Edge]) -> None:
        for edge in edges:
            if edge.word is not None:
                self._heard.append(edge.word)
            elif edge.timer:
                self._wait_for(edge.timer)
            elif edge.inputs is not None:
                for name in edge.passes:
                    self._wait_for(name)
                self._end_step(edge.inputs)
        if self._heard:
            self._end_step(self._quiet[1])

    def _end_step(self, inputs: Inputs) -> None:
        heard, self._heard = self._heard, []
        self._step(BEAT_US, heard, inputs)
        self._last = ([word for word in heard if word.kind in ("claim", "box")], inputs)

    def _step(self, after_us: int, words: list[Word], inputs: Inputs) -> None:
        self.steps.append((after_us, words, inputs))
        self.lockstep.step(after_us, words, inputs)

    def _wait_for(self, name: str) -> None:
        for _ in range(_WAITS):
            left_us = self.lockstep.left_us(name) - BEAT_US
            if left_us <= 0:
                return
            after_us = min(max(left_us, BEAT_US), _WAIT_US)
            self._step(after_us, *(self._last if self._goes_on else self._quiet))


def _waited(explorer: Explorer, found: Found, plant: Plant | None, goes_on: bool) -> Timed:
    """Steps that break the promise; none if it is kept so."""
    if any(len(words) > WORDS_MAX for words, _ in _steps_of(found.steps)):
        return []
    waiting = _Waiting(explorer, plant, goes_on)
    waiting.walk(found.steps)
    return waiting.steps if found.promise in waiting.lockstep.broken else []


def as_file(explorer: Explorer, found: Found, fault: str) -> dict[str, Any]:
    """The counterexample, as JSON has it."""
    plant = plant_of(fault)
    steps = (
        _computed(explorer, found.steps)
        or _waited(explorer, found, plant, True)
        or _waited(explorer, found, plant, False)
    )
    return {
        "what": _WHAT,
        "alphabet": explorer.alphabet.name,
        "fault": fault,
        "promise": found.promise,
        "shortest": [_edge_as_file(edge) for edge in found.steps],
        "steps": [
            {"after_us": after_us, "hear": [word.name for word in words], "inputs": inputs.name}
            for after_us, words, inputs in steps
        ],
    }


def _edge_as_file(edge: Edge) -> dict[str, Any]:
    if edge.word is not None:
        return {"hear": edge.word.name}
    if edge.timer:
        return {"over": edge.timer}
    assert edge.inputs is not None
    return {"step": edge.inputs.name, "over": list(edge.passes)}


def _edges_of(data: dict[str, Any]) -> list[Edge]:
    alphabet = BY_NAME[data["alphabet"]]
    words = {word.name: word for word in alphabet.words}
    inputs = {one.name: one for one in alphabet.inputs}
    found = []
    for row in data["shortest"]:
        if "hear" in row:
            found.append(Edge(word=words[row["hear"]]))
        elif "step" in row:
            found.append(Edge(inputs=inputs[row["step"]], passes=tuple(row["over"])))
        else:
            found.append(Edge(timer=row["over"]))
    return found


def _timed_of(data: dict[str, Any]) -> Timed:
    alphabet = BY_NAME[data["alphabet"]]
    words = {word.name: word for word in alphabet.words}
    inputs = {one.name: one for one in alphabet.inputs}
    return [
        (int(row["after_us"]), [words[name] for name in row["hear"]], inputs[row["inputs"]])
        for row in data["steps"]
    ]


def read(path: Path) -> dict[str, Any]:
    """The file, looked through."""
    try:
        data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if data["what"] != _WHAT or not isinstance(data["promise"], str):
            raise KeyError("what")
        plant_of(data["fault"])
        _edges_of(data)
        _timed_of(data)
    except OSError as why:
        raise Unreadable(f"{path}: {why.strerror}; name a file that the search wrote") from why
    except (ValueError, KeyError, TypeError, AttributeError) as why:
        raise Unreadable(
            f"{path}: {why}; expected a counterexample of this program's alphabets: search again"
        ) from why
    return data


def replay(data: dict[str, Any], says: Callable[[str], None]) -> bool:
    """Play it again, in words; whether its promise is broken again, in the real car too."""
    plant = plant_of(data["fault"])
    explorer = Explorer(BY_NAME[data["alphabet"]], plant)
    says(f"alphabet: {data['alphabet']}; planted fault: {data['fault'] or 'none'}")
    says(f"promise: {data['promise']}")
    if not data["steps"]:
        says("no times were found for this way: played without a clock")
        return _without_clock(explorer, _edges_of(data), data["promise"], says)
    explorer.begin_again()
    lockstep, at_us, is_broken = Lockstep(explorer, plant), 0, False
    for after_us, words, inputs in _timed_of(data):
        differences = lockstep.step(after_us, words, inputs)
        at_us += after_us
        heard = ", ".join(word.name for word in words) or "nothing is heard"
        says(f"{at_us / 1e6:8.3f} s: {heard}; {inputs.name}; {_in_words(lockstep.report)}")
        for difference in differences:
            says(f"           the real car differs: {difference}")
        if differences:
            return False
        is_broken = is_broken or data["promise"] in lockstep.broken
    says("the promise is broken again" if is_broken else "the promise is kept")
    return is_broken


def _in_words(report: Report | None) -> str:
    assert report is not None
    return (
        f"it is {STATES[report.state]}, profile {report.profile}, causes {report.causes:#x}, "
        f"faults {report.faults:#x}, drive {report.esc} ns, winner {report.winner}"
    )


def _without_clock(
    explorer: Explorer, edges: Sequence[Edge], promise: str, says: Callable[[str], None]
) -> bool:
    machine, is_broken = explorer.machine, False
    explorer.begin_again()
    for edge in edges:
        _walk(machine, edge)
        says(f"    {edge.words}; it is {STATES[machine.app.supervisor.state]}")
        is_broken = is_broken or promise in machine.rules.broken
    return is_broken
