"""A sample is the same for the same seed, asks the tests that cover a file, and tells honestly."""

import os
import subprocess
import sys

import pytest

from tests.mutants import __main__ as command
from tests.mutants import covering, sample
from tests.mutants.core import ROOT, WHOLE_CAR
from tests.mutants.mistakes.mutations import mutants_of
from tests.mutants.trial import kept, trials
from tests.support.evidence import every

pytestmark = pytest.mark.process

SOURCE = '''"""A docstring."""


def over(value: int) -> bool:  # a remark
    return value > 5
'''
# What notices the boundary, and what notices whatever stands there without its remark
TEST = """from host_bridge.limits import over


def test_it():
    assert not over(5)
"""
OF_REMARKS = """from pathlib import Path


def test_it_is_explained():
    assert "# a remark" in Path("host_bridge/limits.py").read_text()
"""
OF_PROGRAM = """import subprocess
import sys

import pytest


@pytest.mark.process
def test_a_program_says_so():
    ask = "from host_bridge.limits import over; print(over(6))"
    said = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True)
    assert said.stdout == "True\\n"
"""


@pytest.fixture
def tree(tmp_path):
    """A small product with its tests, in git."""
    files = {
        "host_bridge/__init__.py": "", "host_bridge/limits.py": SOURCE,
        "host_bridge/user.py": "from host_bridge.limits import over\n",
        "tests/host_bridge/test_limits.py": TEST,
        "tests/host_bridge/test_limits_remarks.py": OF_REMARKS,
        "tests/other/test_user.py": "from host_bridge import user\n\n\ndef test_it(): pass\n",
        "tests/other/test_nothing.py": "def test_it(): pass\n",
        "pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['process: starts programs']\n",
    }  # fmt: skip
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    subprocess.run(("git", "init", "-q"), cwd=tmp_path, check=True)
    trials.source_of.cache_clear()
    yield tmp_path
    trials.source_of.cache_clear()


def nothing(mutant):
    """It is explained: none is."""
    return False


def drawn(mutant, *tests):
    return sample.Drawn(1, mutant, tests)


def mutant_of(operator, after=""):
    found = [it for it in mutants_of("host_bridge/limits.py", SOURCE) if it.operator == operator]
    return next(it for it in found if after in it.after)


def test_what_covers_a_file_are_the_nearest_tests_first(tree):
    found = covering.Covering(tree).of("host_bridge/limits.py")
    assert found == (
        "tests/host_bridge/test_limits.py", "tests/host_bridge/test_limits_remarks.py",
        "tests/other/test_user.py",
    )  # fmt: skip


def test_each_file_of_the_product_is_in_the_draw_and_has_tests():
    found = covering.Covering(ROOT)
    assert {file.partition("/")[0] for file in found.files} == set(trials.OURS)
    assert [file for file in found.files if not found.of(file)] == []
    tests = found.of("firmware/core/stops/latch.py")
    assert tests[0] == "tests/firmware/core/stops/test_latch.py"
    assert set(WHOLE_CAR) < set(tests)
    assert every((ROOT / test).exists() for test in tests)


def test_a_draw_follows_its_seed_and_leaves_out_what_is_explained(tree):
    few, more = (sample.draw(tree, many, 3, nothing) for many in (4, 100))
    assert more[:4] == few
    assert [it.mutant for it in sample.draw(tree, 4, 4, nothing)] != [it.mutant for it in few]
    assert {it.mutant for it in more} == set(mutants_of("host_bridge/limits.py", SOURCE))
    less = sample.draw(tree, 100, 3, lambda it: it == few[0].mutant)
    assert few[0].mutant not in {it.mutant for it in less}
    assert len(less) == len(more) - 1


def test_what_fails_without_a_mistake_too_notices_nothing(tree):
    copy = sample.Copy(tree, tree / "copy")
    boundary, more = mutant_of("boundary"), mutant_of("constant", "6")
    remarks, test = "tests/host_bridge/test_limits_remarks.py", "tests/host_bridge/test_limits.py"
    asked = {
        drawn(boundary, test): trials.KILLED, drawn(more, test): trials.SURVIVED,
        drawn(boundary, remarks): trials.SURVIVED, drawn(boundary, remarks, test): trials.KILLED,
        drawn(boundary): trials.SURVIVED,
    }  # fmt: skip
    assert {it: sample.verdict_of(copy, tree, it, sample.RUNGS[0]) for it in asked} == asked
    assert (copy.folder / "host_bridge/limits.py").read_text() == SOURCE


def test_a_program_that_a_test_starts_runs_the_mutant(tree):
    name = "tests/host_bridge/test_program.py"
    (tree / name).write_text(OF_PROGRAM)
    copy = sample.Copy(tree, tree / "copy")
    less, more = (drawn(mutant_of("constant", after), name) for after in ("4", "6"))
    nearest, _, programs = sample.RUNGS
    assert sample.verdict_of(copy, tree, more, programs) == trials.KILLED
    assert sample.verdict_of(copy, tree, less, programs) == trials.SURVIVED
    assert sample.verdict_of(copy, tree, more, nearest) == trials.SURVIVED  # it is not asked


def test_what_never_ends_is_noticed_if_it_ends_unchanged(tree, monkeypatch):
    monkeypatch.setattr(sample, "LIMIT_S", 5)
    name = "tests/host_bridge/test_long.py"
    (tree / name).write_text(
        "import time\nfrom host_bridge.limits import over\n\n\ndef test_it():\n"
        "    time.sleep(1000 * (not over(6)))\n"
    )
    copy = sample.Copy(tree, tree / "copy")
    one = drawn(mutant_of("constant", "6"), name)
    assert sample.verdict_of(copy, tree, one, sample.RUNGS[0]) == trials.TIMED_OUT


def test_a_sample_that_is_ended_goes_on_and_counts_what_was_tried(tree):
    def begun():
        return sample.Sample(tree, sample.draw(tree, 3, 1, nothing), kept.Kept(tree, tree / "kept"))

    begun().run(over_s=0)
    assert begun().verdicts() == []
    begun().run(over_s=None)
    assert len(begun().verdicts()) == 3
    rows = sample.table(begun().verdicts()).split("\n")
    assert rows[1].split()[:2] == ["host_bridge", "3"]


def test_the_command_says_its_seed_and_fails_where_nothing_was_tried(capsys):
    words = ["--sample", "2", "--seed", "5", "--minutes", "0", "--kept", os.devnull]
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutants", *words],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert "seed 5: 0 of 0 noticed, 2 drawn" in done.stdout
    assert done.returncode == 1
    assert command.main(["--sample", "2", "--seed", "5", "--list"]) == 0
    assert capsys.readouterr().out.count("asked: tests/") == 2
