"""Breadth first over all sequences, to a fixed point where there is one.

A state is what all places hold that vary, less those that are left out (``LEFT_OUT``: the
perturbation test changes each of them, in no matter which state, and sees that nothing comes of
it). States are kept as three numbers, one for each part of them, and compared in full.
"""

import copy
import random
import time
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.proof.car.machine import Alphabet, Machine
from tests.proof.car.places import Place, differing, fixed_reader, reader, whole, writer
from tests.proof.rules import Inputs
from tests.proof.words import Word

# The end of a place's path: why no later step depends on it
LEFT_OUT = {
    ".sequence": "whoever speaks takes the next number",
    "_boxes._sequence": "whoever speaks takes the next number",
    ".input_count": "whoever speaks takes the same number, or another",
    ".rc_frames": "the next frame takes the next number",
    "rc._frames": "the next frame takes the next number",
    "_stamps_us": "when a Status left: at once, where a step takes no time",
    "sessions._at": "when a Status left: at once, where a step takes no time",
    "arbiter.accepted": "reported only",
    "arbiter.accepted_us": "reported only",
    "arbiter.refused": "reported only",
    "arbiter.newest_slot": "reported only",
    "arbiter.losers": "reported only",
    ".claim_count": "reported only",
    ".claim_sequence": "reported only",
    ".claim_crc": "reported only",
    "board.pairing": "reported only",
    "pairing._strange.is_open": "reported only",
    "pairing._strange_says": "reported only",
    "_tag.block": "made anew before it is read",
    "runstop.first": "reported only",
    "faults.first": "reported only",
    "dispatcher.stop_sender": "reported only",
    "writing.has_draft": "whether a draft is let go of that holds the car's own numbers",
    "dispatcher._last_verdict": "how often a refusal is reported",
    "dispatcher._refused_again": "how often a refusal is reported",
    "motion.clamped": "reported only",
    "runstop.news": "reset as each step ends",
    "faults.news": "reset as each step ends",
    "supervisor.before": "set anew in each step before it is read",
    "arbiter.winners": "set anew in each step before it is read",
    "arbiter.live_switches": "set anew in each step before it is read",
    "arbiter.asserted": "set anew in each step before it is read",
    "arbiter._in_hand": "set anew in each step before it is read",
    "arbiter.silent_source": "set anew in each step before it is read",
    "arbiter.frozen_source": "set anew in each step before it is read",
    "stop_sources.asserted": "set anew in each step before it is read",
    "stop_sources.received": "set anew in each step before it is read",
    "stop_sources.stop_mask": "set anew in each step before it is read",
    "stop_sources.missing": "set anew in each step before it is read",
    "temperature.degrees_c": "reported only",
    "rc.has_news": "set anew in each step before it is read",
    "rc.gesture": "set anew in each step before it is read",
    "rc._values": "set anew with each frame",
    ".read_back": "an input, set anew in each step",
    ".enable_contact": "an input, set anew in each step",
    "temperature_c": "an input, set anew in each step",
    "runstop_closed": "an input, set anew in each step",
    ".charger": "an input, set anew in each step",
    "rc_steering_us": "an input, set anew with each frame",
    "rc_throttle_us": "an input, set anew with each frame",
    "rc_live_man_us": "an input, set anew with each frame",
    "rc_mode_us": "an input, set anew with each frame",
}
_EVERY = 16  # edges to a state that is known, until one is compared in full


class VariesToo(Exception):
    """A place varies that was taken to be fixed."""

    def __init__(self, found: Sequence[Place]) -> None:
        super().__init__(", ".join(place.words for place in found))
        self.found = found


def is_left_out(place: Place) -> bool:
    return place.path.endswith(tuple(LEFT_OUT))


@dataclass(frozen=True)
class Edge:
    """One thing that happens: a word, a time that is over, or a step's end with its inputs."""

    word: Word | None = None
    timer: str = ""
    inputs: Inputs | None = None
    passes: tuple[str, ...] = ()  # deadlines that are over at a tick

    @property
    def words(self) -> str:
        if self.word is not None:
            return self.word.name
        if self.timer:
            return f"time is over: {self.timer}"
        assert self.inputs is not None
        over = ", ".join(name.removeprefix("app.") for name in self.passes)
        return f"STEP {self.inputs.name}" + (f", over: {over}" if over else "")


class Explorer:
    """A machine whose states can be kept and gone back to."""

    def __init__(self, alphabet: Alphabet, plant: Any = None, varying: Sequence[str] = ()) -> None:
        self.machine = Machine(alphabet, plant)
        self.alphabet = alphabet
        self.base = whole(self.machine.places)
        self.varying = self._wander() if not varying else set(varying)
        self._compile()

    def _wander(self) -> set[str]:
        """Which places vary, as far as a walk at random meets them."""
        machine, draw, found = self.machine, random.Random(1), set()
        inputs, said = self.alphabet.inputs, self.alphabet.words
        for _ in range(3000):
            for _ in range(draw.randrange(3)):
                machine.hear(draw.choice(said))
            timers = machine.promises.timers()
            if timers and draw.random() < 0.2:
                machine.time_is_over(draw.choice(timers))
            which = inputs[0] if draw.random() < 0.7 else draw.choice(inputs)
            machine.tick(which, tuple(draw.random() < 0.2 for _ in range(6)))
            found |= {p.words for p in differing(machine.places, self.base, whole(machine.places))}
            if draw.random() < 0.02:
                self.begin_again()
        self.begin_again()
        return found

    def begin_again(self) -> None:
        """As it was made: a car that stands by."""
        for place, value in zip(self.machine.places, self.base, strict=True):
            place.put(value)

    def _compile(self) -> None:
        places = self._varying_places()
        self.kept = [p for p in places if not is_left_out(p)]
        self.left_out = [p for p in places if is_left_out(p)]
        self.chunks = _in_chunks(self.kept)
        self._read = reader(self.chunks)
        self._writers = [writer(chunk) for chunk in self.chunks]
        self._reset = writer(self.left_out)
        self._left_out_values = tuple(p.get() for p in self.left_out)
        self._ids: list[dict[Any, int]] = [{} for _ in self.chunks]
        self._values: list[list[Any]] = [[] for _ in self.chunks]
        self.fixed = fixed_reader(self.machine.places, places)
        self.fixed_values = tuple(copy.copy(v) for v in self.fixed())

    def _varying_places(self) -> list[Place]:
        found = []
        for place in self.machine.places:
            if place.path in self.varying:
                found.append(place)
                continue
            if place.kind in ("list", "array"):
                at = [i for i in range(len(place.get())) if f"{place.path}[{i}]" in self.varying]
                found += [Place(place.path, place.owner, place.name, place.kind, i) for i in at]
        return found

    def key(self) -> tuple[int, ...]:
        """The state that it is in."""
        key = []
        for values, ids, held in zip(self._read(), self._ids, self._values, strict=True):
            number = ids.get(values)
            if number is None:
                number = ids[values] = len(held)
                held.append(values)
            key.append(number)
        return tuple(key)

    def go(self, key: Sequence[int]) -> None:
        """Into the state of this key."""
        self.restore(key)
        self._reset(self._left_out_values)

    def restore(self, key: Sequence[int]) -> None:
        """As ``go``, but what is left out stays as it is."""
        for number, held, write in zip(key, self._values, self._writers, strict=True):
            write(held[number])

    def named(self, key: Sequence[int]) -> dict[str, Any]:
        """What its places hold, by their names."""
        found: dict[str, Any] = {}
        for number, held, chunk in zip(key, self._values, self.chunks, strict=True):
            found |= {p.words: v for p, v in zip(chunk, held[number], strict=True)}
        return found

    def check_fixed(self) -> None:
        """Raise if a place varies that is taken to be fixed."""
        if self.fixed() != self.fixed_values:
            now = whole(self.machine.places)
            known = {p.words for p in self.kept} | {p.words for p in self.left_out}
            new = [
                p for p in differing(self.machine.places, self.base, now) if p.words not in known
            ]
            if new:
                raise VariesToo(new)

    # --- what may happen in a state

    def hear(self, word: Word) -> Edge:
        self.machine.hear(word)
        return Edge(word=word)

    def tick(self, inputs: Inputs, script: tuple[bool, ...]) -> Edge:
        self.machine.tick(inputs, script)
        return Edge(inputs=inputs, passes=tuple(n for n, is_over in self.machine.log if is_over))

    def edges(self, key: Sequence[int], with_time: bool) -> Iterator[tuple[Edge, bool]]:
        """Every edge out of this state, each walked as it is yielded; and whether a step has just
        begun after it, which is when time may have passed."""
        machine = self.machine
        self.go(key)
        timers = machine.promises.timers() if with_time else []
        for timer in timers:
            self.go(key)
            machine.time_is_over(timer)
            yield Edge(timer=timer), True
        for word in self.alphabet.words:
            self.go(key)
            yield self.hear(word), False
        for inputs in self.alphabet.inputs:
            todo: list[tuple[bool, ...]] = [()]
            while todo:
                script = todo.pop()
                self.go(key)
                edge = self.tick(inputs, script)
                answers = [is_over for _, is_over in machine.log]
                todo += [(*answers[:i], True) for i in range(len(script), len(answers))]
                yield edge, True


def _in_chunks(places: Sequence[Place]) -> list[list[Place]]:
    """What messages change, what steps change, and what the promises remember."""
    said = ("app.arbiter", "app.actions._open", "app.actions.nonce", "app.configuration")
    chunks: list[list[Place]] = [[], [], []]
    for place in places:
        if place.path.startswith("promises"):
            chunks[2].append(place)
        else:
            chunks[0 if place.path.startswith(said) else 1].append(place)
    return chunks


@dataclass
class Found:
    """A promise that was broken: the shortest way there."""

    promise: str
    steps: list[Edge]


@dataclass
class Result:
    """What a search has seen, so far."""

    alphabet: str
    states: int = 0
    edges: int = 0
    depth: int = 0
    seconds: float = 0.0
    is_fixed_point: bool = False
    why: str = ""  # it ended before
    found: list[Found] = field(default_factory=list)
    evidence: dict[str, int] = field(default_factory=dict)
    refusals: set[tuple[int, int]] = field(default_factory=set)  # of which action, which bits
    ways: set[tuple[int, int]] = field(default_factory=set)  # from a state to a state

    @property
    def verdict(self) -> str:
        if self.is_fixed_point:
            return "fixed point"
        return f"bounded to depth {self.depth}, not a proof ({self.why})"


class Search:
    """One search; ``run`` may be interrupted, and ``result`` then says how far it came."""

    def __init__(
        self,
        explorer: Explorer,
        says: Callable[[Result], None] | None = None,
        stops_at: Callable[[Result], str] | None = None,
        is_first_enough: bool = False,
    ) -> None:
        self.explorer = explorer
        self.result = Result(explorer.alphabet.name)
        self.seen: dict[tuple[int, ...], int] = {}
        self.order: list[tuple[int, ...]] = []
        self._parents, self._via = array("l"), array("l")
        self._edges: list[Edge] = []
        self._edge_ids: dict[Edge, int] = {}
        self._says, self._stops_at = says, stops_at
        self._is_first_enough = is_first_enough
        # states in which a step has just begun, each with how that came to be
        self._timed: dict[int, tuple[int, Edge]] = {}

    def run(self) -> Result:
        begun = time.monotonic()
        try:
            self._run(begun)
        except KeyboardInterrupt:
            self.result.why = "interrupted"
        self.result.seconds = time.monotonic() - begun
        self.result.states = len(self.order)
        rules = self.explorer.machine.rules
        self.result.evidence = dict(rules.evidence)
        self.result.refusals, self.result.ways = rules.refusals, rules.ways
        return self.result

    def _run(self, begun: float) -> None:
        explorer, result = self.explorer, self.result
        start = explorer.key()
        self._add(start, -1, Edge())
        level, later = [(0, True)], [(0, True)]
        self._timed[0] = (-1, Edge())
        while level:
            later = []
            for number, is_whole in level:
                self._expand(number, is_whole, later)
                if self._is_over(begun):
                    return
            result.depth += 1
            result.states, result.seconds = len(self.order), time.monotonic() - begun
            if self._says:
                self._says(result)
            level = later
        result.is_fixed_point = True

    def _is_over(self, begun: float) -> bool:
        result = self.result
        if result.found and self._is_first_enough:
            result.why = "a promise is broken"
        elif self._stops_at and not result.edges & 15:
            result.states, result.seconds = len(self.order), time.monotonic() - begun
            result.why = self._stops_at(result)
        return bool(result.why)

    def _expand(self, number: int, is_whole: bool, later: list[tuple[int, bool]]) -> None:
        """All edges of a state; or only those of time, where the others were walked before."""
        explorer, result, rules = self.explorer, self.result, self.explorer.machine.rules
        is_timed = number in self._timed
        for edge, begins in explorer.edges(self.order[number], is_timed):
            if not is_whole and not edge.timer:
                return
            result.edges += 1
            broken = rules.broken
            key = explorer.key()
            at = self.seen.get(key)
            if at is None:
                at = self._add(key, number, edge)
                if begins:
                    self._timed[at] = (number, edge)
                later.append((at, True))
                explorer.check_fixed()
            elif begins and at not in self._timed:
                self._timed[at] = (number, edge)
                later.append((at, False))
            if broken:
                self._note(broken, number, edge)
            if not result.edges % _EVERY:
                explorer.check_fixed()

    def _add(self, key: tuple[int, ...], parent: int, edge: Edge) -> int:
        at = self.seen[key] = len(self.order)
        self.order.append(key)
        self._parents.append(parent)
        number = self._edge_ids.get(edge)
        if number is None:
            number = self._edge_ids[edge] = len(self._edges)
            self._edges.append(edge)
        self._via.append(number)
        return at

    @property
    def timed_states(self) -> list[int]:
        """The states in which a step has just begun."""
        return list(self._timed)

    def _note(self, broken: Sequence[str], number: int, edge: Edge) -> None:
        known = {found.promise for found in self.result.found}
        for promise in broken:
            if promise not in known:
                known.add(promise)
                way = [*self.way_to(number, bool(edge.timer)), edge]
                self.result.found.append(Found(promise, way))

    def way_to(self, number: int, with_begin: bool = False) -> list[Edge]:
        """The shortest sequence from the start to this state; to where a step begins in it."""
        found: list[Edge] = []
        while number > 0 or with_begin:
            if with_begin:
                parent, edge = self._timed[number]
                if parent < 0:
                    break
            else:
                parent, edge = self._parents[number], self._edges[self._via[number]]
            found.append(edge)
            number, with_begin = parent, bool(edge.timer)
        return found[::-1]


def search(alphabet: Alphabet, plant: Any = None, **options: Any) -> Search:
    """Search this alphabet; begin again with what varies besides, until all is known."""
    varying: set[str] = set()
    while True:
        explorer = Explorer(alphabet, plant, tuple(varying))
        made = Search(explorer, **options)
        try:
            made.run()
        except VariesToo as more:
            varying = explorer.varying | {place.words for place in more.found}
            continue
        return made
