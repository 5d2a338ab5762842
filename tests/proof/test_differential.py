"""The machine of the search against the unmodified ``App.step``: same inputs and times."""

import random

import pytest

from tests.proof.alphabets import ALL, BY_NAME
from tests.proof.car.real import WORDS_MAX, Lockstep
from tests.proof.search import Explorer, search

_AFTER_US = (10_000, 10_000, 10_000, 20_000, 45_000, 60_000, 320_000)
_RUNS, _STEPS = 12, 60
# What brings a car on, where its alphabet has such words, in this order and a step each: random
# words alone would seldom drive
_WISHES = (
    ("box says run", "A lets go", "P drives", "ask arm track", "confirm arm track",
     "A holds in neutral", "A holds and permits", "P drives", "A drives"),
    ("box says run", "A lets go", "ask arm race", "confirm arm race", "A holds in neutral"),
    ("box says run", "A lets go", "ask clear", "confirm clear"),
    ("box says run", "C lets go", "K drives", "ask arm track", "confirm arm track",
     "C holds in neutral", "C drives", "C drives, unmoved"),
    ("another car's box says run", "its box says run", "A lets go", "ask arm race",
     "its box says run", "confirm arm race", "A holds in neutral",
     "its box's last word again, says run", "its box's old answer, says run",
     "its box, begun anew, says run"),
    ("its box says run", "its box answers before it was asked, says run", "A lets go",
     "its box says run", "ask arm race", "confirm arm race",
     "an answer to its earlier start, says run", "A holds in neutral",
     "its box's old answer, says stop"),
    ("another car's box says run", "its box says run", "A lets go", "ask arm track",
     "its box says run", "confirm arm track", "A holds in neutral"),
    ("A lets go", "ask arm stand", "confirm arm stand", "A holds in neutral"),
    ("A lets go", "ask clear by host 1", "confirm clear by host 1", "ask arm track by host 1",
     "confirm arm track by host 1", "A holds in neutral"),
)  # fmt: skip
_GESTURE = [*["RC frame: rest"] * 26, *["RC frame: held"] * 3, "RC frame: throttle"]
_WAIT = [""] * 12  # of 300 ms each


def _wished(draw: random.Random, alphabet, number: int = -1) -> list[tuple[int, str, str]]:
    """Steps that somebody might take on purpose: after how long, what is said, the inputs."""
    said = {word.name for word in alphabet.words}
    quiet = alphabet.inputs[0].name
    frames = {inputs.name for inputs in alphabet.inputs}
    if alphabet.has_rc and draw.random() < 0.5:
        return [(45_000, "", frame) for frame in _GESTURE if frame in frames]
    if number < 0 and draw.random() < 0.15:
        return [(300_000, word, quiet) for word in _WAIT]
    after_us = draw.choice((10_000, 20_000))
    number = draw.randrange(len(_WISHES)) if number < 0 else number % len(_WISHES)
    return [(after_us, word, quiet) for word in _WISHES[number] if word in said]


def run_at_random(lockstep: Lockstep, draw: random.Random, number: int):
    """A session with a real clock, some of it to a purpose and some at random; its states."""
    alphabet = lockstep.explorer.alphabet
    inputs_named = {inputs.name: inputs for inputs in alphabet.inputs}
    words_named = {word.name: word for word in alphabet.words}
    wished = _wished(draw, alphabet, number)
    for _ in range(_STEPS):
        if not wished and draw.random() < 0.1:
            wished = _wished(draw, alphabet)
        if wished:
            after_us, said, name = wished.pop(0)
            words, inputs = [words_named[said]] if said else [], inputs_named[name]
        else:
            words = draw.choices(alphabet.words, k=draw.choice((0, 1, 1, 1, 2, WORDS_MAX)))
            after_us = draw.choice(_AFTER_US)
            inputs = alphabet.inputs[0] if draw.random() < 0.6 else draw.choice(alphabet.inputs)
        differences = lockstep.step(after_us, words, inputs)
        assert not differences, (after_us, [w.name for w in words], inputs.name, differences)
        assert not lockstep.broken
        yield lockstep.real.app.supervisor.state


@pytest.mark.exhaustive
@pytest.mark.parametrize("alphabet", ALL, ids=lambda alphabet: alphabet.name)
def test_the_machine_does_what_the_program_does(alphabet):
    explorer = Explorer(alphabet)
    draw, states = random.Random(1), set()
    for number in range(_RUNS):
        explorer.begin_again()
        states |= set(run_at_random(Lockstep(explorer), draw, number))
    assert len(states) >= 3, states


@pytest.mark.exhaustive(as_a_whole=True)  # a search each; those of test_search are in make test
@pytest.mark.parametrize("name", ["guardian", "two hosts"])
def test_real_runs_are_among_the_states_that_were_searched(name):
    """Each step of a session with a real clock leads from a state of the search to another one."""
    found = search(BY_NAME[name])
    assert found.result.is_fixed_point
    explorer, draw, met = found.explorer, random.Random(2), set()
    for number in range(_RUNS):
        explorer.begin_again()
        for _ in run_at_random(Lockstep(explorer), draw, number):
            key = explorer.key()
            assert key in found.seen, explorer.named(key)
            met.add(key)
    assert len(met) > 50
