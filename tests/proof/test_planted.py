"""Each planted fault is found, by the shortest way, and shows again in the real car."""

import json

import pytest

from tests.proof import replay
from tests.proof.alphabets import BY_NAME
from tests.proof.car import faults
from tests.proof.search import search

# found after minutes
_LONG = ("wrong brake", "kept gates")
_FIRST = "rebind"  # the smallest, of which one is in `make test`


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(fault, marks=pytest.mark.soak) if fault.name in _LONG else fault
        for fault in sorted(faults.ALL, key=lambda it: it.alphabet != _FIRST)
    ],
    ids=lambda fault: fault.name,
)
def test_it_is_found_and_plays_again(fault, tmp_path):
    alphabet = BY_NAME[fault.alphabet]
    made = search(alphabet, fault.plant, is_first_enough=True)
    assert made.result.found, made.result.verdict
    assert "not a proof" in made.result.verdict
    found = made.result.found[0]
    path = tmp_path / "counterexample.json"
    path.write_text(json.dumps(replay.as_file(made.explorer, found, fault.name)))
    data, said = replay.read(path), []
    assert data["steps"], "no real car can take this way"
    assert replay.replay(data, said.append), said
    sound = data | {"fault": ""}
    assert not replay.replay(sound, said.append)
