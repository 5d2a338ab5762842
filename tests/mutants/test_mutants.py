"""The driver tells a mutant that the tests notice from one that they do not, and lists honestly."""

import ast
import json
import subprocess
import sys

import pytest

from tests.mutants import equivalents, trials
from tests.mutants.core import PARTS, ROOT, tiers
from tests.mutants.mutations import mutants_of, mutated

SOURCE = '''"""A docstring is no code."""
LIMIT = 5


def over(value: int, is_on: bool) -> bool:
    """Nor is this."""
    if value > LIMIT and not is_on:
        value += 1
    return value == 2
'''


def made(operator: str) -> list[str]:
    return [m.after for m in mutants_of("a.py", SOURCE) if m.operator == operator]


@pytest.mark.parametrize(
    ("operator", "after"),
    [
        ("comparison", ["if value <= LIMIT and (not is_on):", "return value != 2"]),
        ("boundary", ["if value >= LIMIT and (not is_on):"]),
        ("boolean", ["if value > LIMIT or not is_on:"]),
        ("operand", ["if not is_on:", "if value > LIMIT:"]),
        ("in place", ["value -= 1"]),
        ("return value", ["return None"]),
        ("deletion", ["pass"] * 4),
        ("constant", ["LIMIT = 6", "LIMIT = 4", "value += 2", "value += 0",
                      "return value == 3", "return value == 1"]),
    ],
)  # fmt: skip
def test_each_operator_makes_its_mistakes_and_no_others(operator, after):
    assert made(operator) == after


def test_every_mutant_differs_from_its_source_and_from_every_other():
    mutants = mutants_of("a.py", SOURCE)
    texts = {ast.unparse(mutated(SOURCE, m.number)) for m in mutants}
    assert len(texts) == len(mutants) == len({m.key for m in mutants})
    assert ast.unparse(ast.parse(SOURCE)) not in texts


def test_a_scope_leaves_out_what_is_not_named():
    assert {m.where for m in mutants_of("a.py", SOURCE)} == {"", "over"}
    assert {m.where for m in mutants_of("a.py", SOURCE, ("over",))} == {"over"}
    with pytest.raises(ValueError, match="no mutant 999"):
        mutated(SOURCE, 999)


def test_a_scope_of_the_safety_core_names_what_there_is():
    for part in PARTS:
        source = trials.source_of(ROOT, part.file)
        assert set(part.scope) <= {m.where for m in mutants_of(part.file, source, part.scope)}
        for tier in tiers(part):
            assert all((ROOT / test).exists() for test in tier.tests)


TRY = """
import ast, os, sys
from tests.mutants import trials
test, sources = sys.argv[1], sys.argv[2:]
tiers = (trials.Tier((test,), 1),)
jobs = [lambda s=s: trials.start("firmware.core.latch", ast.parse(s), tiers) for s in sources]
print(dict(trials.trials(jobs, 2)))
"""


def test_mutants_are_killed_by_a_test_that_fails_or_an_import_and_time_out_in_an_endless_loop(
    tmp_path,
):
    test = tmp_path / "test_it.py"
    test.write_text(
        "from firmware.core.latch import one\n\n\ndef test_one():\n    assert one() == 1\n"
    )
    bodies = ["return 1", "return 2", "while True: pass"]
    sources = [f"def one():\n    {body}\n" for body in bodies] + ["def other(): pass"]
    done = subprocess.run(
        [sys.executable, "-c", TRY, str(test), *sources],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    verdicts = ast.literal_eval(done.stdout)
    assert [verdicts[i] for i in range(4)] == ["survived", "killed", "timed out", "killed"]


def entry(mutant) -> equivalents.Equivalent:
    return equivalents.Equivalent(mutant.key, "because")


def test_the_list_of_equivalents_has_to_be_true():
    first, second = mutants_of("a.py", SOURCE)[:2]
    gone = first._replace(before="x = 1")
    known = [first, second]
    survived, killed = {first.key: "survived"}, {first.key: "killed"}
    assert equivalents.errors([entry(first)], known, survived) == []
    assert equivalents.errors([entry(second)], known, survived) == []  # not tried this time
    assert "but killed" in equivalents.errors([entry(first)], known, killed)[0]
    assert "no such mutant" in equivalents.errors([entry(gone)], known, survived)[0]
    assert "listed twice" in equivalents.errors([entry(first)] * 2, known, survived)[0]


def test_an_entry_reads_back_and_one_without_a_reason_is_refused(tmp_path):
    path = tmp_path / "list.toml"
    mutant = mutants_of("a.py", SOURCE)[0]._replace(nth=2, before="""a["b"] = 'c'""")
    path.write_text(equivalents.written(mutant))
    with pytest.raises(ValueError, match="entry 1"):
        equivalents.read(path)
    path.write_text(equivalents.written(mutant).replace("reason = ''", "reason = 'why'"))
    assert equivalents.read(path) == [equivalents.Equivalent(mutant.key, "why")]


def test_the_command_gives_its_result_as_json_and_its_exit_code():
    """One function, so that it takes a moment: each of its mutants is killed."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutants", "--json", "--fast", "--only", "core/latch.py",
         "--where", "Latch.set"],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["survivors"] == []
    assert result["counts"]["killed"] >= 10
    assert done.returncode == (1 if result["wrong"] else 0)
