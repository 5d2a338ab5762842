"""What a state leaves out changes nothing: each such place is given other values, in states that
were searched, and the same comes of every edge. There is no exemption.

Left out are three kinds: places that vary and are named in ``LEFT_OUT``; values that are put to one
constant where nobody reads them (``Machine.forget_the_dead``); and places that vary in real runs
only. Values to put there are those that were seen there.
"""

import random
from collections import defaultdict

import pytest

from tests.proof.alphabets import BY_NAME
from tests.proof.car.places import Place, differing, whole
from tests.proof.search import LEFT_OUT, Explorer, search

_STATES = 150
_LONGER = (
    "actions",
    "rolling",
    "off-delay",
    "numbers",
    "hand",
    "hand and switch",
    "kill switch",
    "receiver",
    "manual",
    "box",
    "key",
    "frozen",
    "silent",
)
_NAMES = (
    "rebind", "guardian", "paired box", "far",
    *[pytest.param(n, marks=pytest.mark.soak) for n in _LONGER],
)  # fmt: skip


def seen_values(explorer: Explorer) -> tuple[list[Place], dict[tuple[str, int], list]]:
    """What each place held in a drive at random, by the state of the car, before anything was
    forgotten."""
    machine, draw = explorer.machine, random.Random(3)
    machine.forget_the_dead = lambda: None
    explorer.begin_again()
    base = whole(machine.places)
    places: dict[str, Place] = {}
    values = defaultdict(dict)
    varied = []
    for number in range(1500):
        if number % 50 == 0:
            explorer.begin_again()
        for _ in range(draw.randrange(4)):
            machine.hear(draw.choice(explorer.alphabet.words))
        timers = machine.promises.timers()
        if timers and draw.random() < 0.3:
            machine.time_is_over(draw.choice(timers))
        inputs = draw.choice(explorer.alphabet.inputs)
        machine.tick(inputs, tuple(draw.random() < 0.2 for _ in range(6)))
        for place in differing(machine.places, base, whole(machine.places)):
            places[place.words] = place
        state = machine.app.supervisor.state
        varied.append((state, whole(list(places.values()))))
    for state, held in varied:
        for words, value in zip(places, held, strict=False):
            values[words, state][value] = True
    del machine.forget_the_dead
    explorer.begin_again()
    return list(places.values()), {at: list(held) for at, held in values.items()}


def test_a_place_that_matters_is_not_left_out_unnoticed(monkeypatch):
    """The same test, where the state leaves out what it may not: whether a source is engaged."""
    monkeypatch.setitem(LEFT_OUT, ".gate", "it is not so")
    with pytest.raises(AssertionError, match="it matters"):
        test_what_is_left_out_by_name_changes_nothing("guardian")


def same_frame(some: dict[Place, object]) -> None:
    """A receiver's frame is new when the board's number of it is not the program's: without one
    both hold the same, whatever it is."""
    numbers = [place for place in some if place.path.endswith(("rc._frames", ".rc_frames"))]
    for place in numbers[1:]:
        some[place] = some[numbers[0]]


def outcomes(explorer: Explorer, key, draw: random.Random, change=lambda: None) -> list:
    """What comes of some of the edges out of a state, if it is changed before each."""
    machine, found = explorer.machine, []
    steps = [(one, ()) for one in draw.choices(explorer.alphabet.words, k=5)]
    for inputs in draw.choices(explorer.alphabet.inputs, k=3):
        steps.append((None, (inputs, {n for n in machine.times if draw.random() < 0.3})))
    for word, tick in steps:
        explorer.go(key)
        change()
        if word is not None:
            machine.hear(word)
        else:
            machine.due = set(tick[1])
            machine.tick(tick[0])
            machine.due = None
        found.append((explorer.key(), tuple(machine.rules.broken)))
    return found


# In make test it is called by the test above, with what may not be left out
@pytest.mark.exhaustive(as_a_whole=True)
@pytest.mark.parametrize("name", _NAMES)
def test_what_is_left_out_by_name_changes_nothing(name):
    explorer = search(BY_NAME[name], stops_at=lambda result: "enough" if result.depth > 9 else "")
    order, explorer = explorer.order, explorer.explorer
    places, values = seen_values(explorer)
    kept = {place.words for place in explorer.kept}
    apart = [p for p in places if p.words not in kept and not p.path.startswith("promises")]
    assert len(apart) > 8, [p.words for p in apart]
    draw, changed = random.Random(4), set()
    for _ in range(_STATES):
        key, seed = draw.choice(order), draw.random()
        state = explorer.named(key)["app.supervisor.state"]
        held = [(p, values.get((p.words, state))) for p in apart]
        some = {place: draw.choice(those) for place, those in held if those}
        same_frame(some)

        def change(some=some):
            for place, value in some.items():
                place.put(value)

        want = outcomes(explorer, key, random.Random(seed))
        got = outcomes(explorer, key, random.Random(seed), change)
        if got != want:
            guilty = [
                place.words
                for place, value in some.items()
                if outcomes(explorer, key, random.Random(seed), lambda p=place, v=value: p.put(v))
                != want
            ]
            raise AssertionError(f"left out, and it matters: {guilty}")
        changed |= {place.words for place in some}
    assert changed == {place.words for place in apart}


@pytest.mark.exhaustive(as_a_whole=True)  # as long as all searches of make test
@pytest.mark.parametrize("name", _NAMES)
def test_what_is_forgotten_where_it_is_dead_changes_nothing(name):
    """A place that is kept gets another value; where forgetting brings the same state back, that
    value was dead there, and nothing may come of it."""
    made = search(BY_NAME[name], stops_at=lambda result: "enough" if result.depth > 9 else "")
    explorer, order = made.explorer, made.order
    places, values = seen_values(explorer)
    kept = {place.words for place in explorer.kept}
    mine = [p for p in places if p.words in kept and not p.path.startswith("promises")]
    draw, dead = random.Random(5), set()
    ticked = [order[number] for number in made.timed_states]
    for _ in range(30 * _STATES):
        key, place = draw.choice(ticked), draw.choice(mine)
        explorer.go(key)
        those = values.get((place.words, explorer.machine.app.supervisor.state))
        value, seed = draw.choice(those or [place.get()]), draw.random()
        if place.get() == value:
            continue
        place.put(value)
        explorer.machine.forget_the_dead()
        if explorer.key() != key:
            continue
        want = outcomes(explorer, key, random.Random(seed))
        got = outcomes(explorer, key, random.Random(seed), lambda p=place, v=value: p.put(v))
        after = [_forgotten(explorer, one) for one in got]
        assert after == [_forgotten(explorer, one) for one in want], (place.words, value)
        dead.add(place.words)
    assert len(dead) > 5, dead


def _forgotten(explorer: Explorer, outcome):
    """The same, once what is dead is forgotten: a message alone forgets nothing."""
    key, broken = outcome
    explorer.restore(key)
    explorer.machine.forget_the_dead()
    return explorer.key(), broken
