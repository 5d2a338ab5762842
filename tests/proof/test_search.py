"""The searches themselves: what ends, that it ends; that what was searched was put to the test."""

import ast
import json
from pathlib import Path

import pytest

from firmware.core.supervisor import TABLE
from firmware.protocol import codes
from tests.proof import __main__ as proof
from tests.proof import rules
from tests.proof.alphabets import ALL, BY_NAME, paired
from tests.proof.search import Explorer, search

_SHORT = ("capped", "two hosts", "rebind")
# Twice the largest of those, and three times; each is a part of the night, too
_NIGHTLY = pytest.mark.exhaustive(as_a_whole=True)
_CLAIMED = ("S1", "S2", "S3", "S4", "S6", "S9", "S10")
# Refusals that no alphabet asks for: an action or a profile that does not exist, a sender who may
# not in this car, a program that misses its beats
_NEVER = {
    codes.REFUSED_UNKNOWN_ACTION, codes.REFUSED_NOT_ALLOWED, codes.REFUSED_PROFILE,
    codes.REFUSED_OFF_BEAT,
}  # fmt: skip


def proven(alphabet):
    result = search(alphabet).result
    assert not result.found, [(f.promise, [e.words for e in f.steps]) for f in result.found]
    assert result.is_fixed_point
    assert result.verdict == "fixed point"
    return result


@pytest.mark.parametrize(
    "name",
    [*_SHORT, *(pytest.param(name, marks=_NIGHTLY) for name in ("guardian", "key", "paired box"))],
)
def test_no_sequence_breaks_a_promise(name):
    result = proven(BY_NAME[name])
    assert result.edges > result.states > 1000
    assert (rules.HOLD, rules.ACTIVE) in result.ways
    assert sum(promise in result.evidence for promise in rules.PROMISES) > 15


@pytest.mark.soak
def test_no_sequence_of_any_alphabet_breaks_a_promise():
    """All of them, and all that they are to meet: promises, refusals, rows of the supervisor."""
    results = [proven(alphabet) for alphabet in ALL]
    evidence = {promise for result in results for promise in result.evidence}
    assert evidence == set(rules.PROMISES)
    ways = {way for result in results for way in result.ways}
    starting = rules.STARTING
    rows = {(row[0], row[3]) for row in TABLE if starting not in (row[0], row[3])}
    assert rows <= ways, rows - ways
    refusals = {refusal for result in results for refusal in result.refusals}
    for action in (codes.ACTION_ARM, codes.ACTION_CLEAR, codes.ACTION_DISARM, codes.ACTION_CAP):
        assert (action, 0) in refusals
    met = {bit for _, bits in refusals for bit in range(bits.bit_length()) if bits >> bit & 1}
    every = {v for name, v in vars(codes).items() if name.startswith("REFUSED_")}
    assert met == every - _NEVER


@pytest.mark.parametrize("alphabet", ALL, ids=lambda alphabet: alphabet.name)
def test_a_state_of_each_alphabet_can_be_kept_and_gone_back_to(alphabet):
    explorer = Explorer(alphabet)  # which walks at random, and meets what the car keeps
    begun = explorer.key()
    for word in alphabet.words:
        explorer.machine.hear(word)
        explorer.machine.tick(alphabet.inputs[0], (False,) * 6)
    assert explorer.key() != begun
    explorer.go(begun)
    assert explorer.key() == begun


def test_each_check_is_among_the_promises_that_are_to_be_tested():
    """In the source: a check that is not in the list would be missed by nobody."""
    found = set()
    for name in ("rules.py", "promises.py", "car/machine.py"):
        tree = ast.parse((Path(__file__).parent / name).read_text(encoding="utf-8"))
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        checks = [call.args[0] for call in calls if getattr(call.func, "attr", "") == "check"]
        found |= {words.value for words in checks if isinstance(words, ast.Constant)}
    by_cause = {p for p in rules.PROMISES if p.endswith((" on its step", ", in every state"))}
    by_cause.discard("S9 silence is latched on its step")
    assert len(by_cause) == 2 * len(rules.CAUSES) + 1
    assert found == set(rules.PROMISES) - by_cause
    assert {promise.split()[0] for promise in rules.PROMISES} == set(_CLAIMED)


def test_a_search_that_ends_before_reads_as_no_proof(capsys, tmp_path):
    assert proof.main(["guardian", "--depth", "4", "--out", str(tmp_path)]) == proof.NO_PROOF
    said = capsys.readouterr().out
    assert "bounded to depth 4, not a proof" in said
    assert "not a proof: no fixed point in guardian" in said
    assert "fixed point;" not in said


def test_a_search_says_what_it_has_when_it_is_interrupted(monkeypatch, capsys, tmp_path):
    def interrupts(result):
        if result.depth == 3:
            raise KeyboardInterrupt

    monkeypatch.setattr(proof, "_progress", interrupts)
    assert proof.main(["guardian", "capped", "--json", "--out", str(tmp_path)]) == proof.NO_PROOF
    said = capsys.readouterr()
    (row,) = json.loads(said.out)
    assert row["verdict"] == "bounded to depth 3, not a proof (interrupted)"
    assert row["states"] > 10
    assert not row["fixed_point"]


def test_a_counterexample_is_a_file_that_plays_again(capsys, tmp_path):
    words = ["actions", "--fault", "row 1", "--out", str(tmp_path)]
    assert proof.main(words) == proof.BROKEN
    assert "BROKEN: S2 one thing takes effect in a step" in capsys.readouterr().out
    (path,) = tmp_path.glob("*.json")
    assert proof.main(["replay", str(path)]) == proof.OK
    assert "the promise is broken again" in capsys.readouterr().out


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"what": 3}', "\0"])
def test_a_file_that_is_none_is_one_clear_error(text, capsys, tmp_path):
    path = tmp_path / "other.json"
    path.write_text(text)
    assert proof.main(["replay", str(path)]) == proof.WRONG_USE
    assert "expected a counterexample" in capsys.readouterr().err


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "names", [("receiver", "box"), ("frozen", "guardian"), ("rebind", "kill switch")], ids=" ".join
)
def test_a_pair_keeps_its_promises_as_far_as_it_is_searched(names):
    pair = paired(*[BY_NAME[name] for name in names])
    result = search(pair, stops_at=lambda found: "depth" if found.depth >= 4 else "").result
    assert not result.found
    assert "not a proof" in result.verdict
