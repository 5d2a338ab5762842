"""What was not measured is asked again alone, and is never taken for passed or failed."""

import json
import sys
from pathlib import Path

import pytest

from tests.support import kinds, patience
from tests.support.kinds import ERRORS_KEPT_AS, EXIT_NOT_MEASURED, KEPT_AS
from tests.tools.running import measured


class Pytest:
    """Runs that end as they are told, each with what it leaves unmeasured."""

    def __init__(self, root, *runs):
        self.kept = root / ".pytest_cache" / "v" / KEPT_AS
        self.kept.parent.mkdir(parents=True)
        self.runs = list(runs)
        self.asked = []

    def __call__(self, words):
        code, left, *errors = self.runs.pop(0)
        self.kept.with_name(Path(ERRORS_KEPT_AS).name).write_text(json.dumps(dict(*errors)))
        named = [word[1:] for word in words if word.startswith("@")]
        self.asked.append([Path(name).read_text().split() for name in named] or list(words))
        self.kept.write_text(json.dumps(left))
        return code


N = EXIT_NOT_MEASURED


@pytest.mark.parametrize(
    ("runs", "code", "asked"),
    [
        ([(0, [])], 0, 1),
        ([(1, [])], 1, 1),
        ([(4, [])], 4, 1),
        ([(N, ["a"]), (0, [])], 0, 2),
        ([(N, ["a"]), (1, [])], 1, 2),
        ([(N, ["a"]), (N, ["a"]), (0, [])], 0, 3),
        ([(N, ["a"]), (N, ["a"]), (N, ["a"])], N, 3),
        ([(N, ["a"]), (4, [])], 4, 2),
        ([(1, ["a"]), (0, [])], 1, 2),
        ([(1, ["a"]), (N, ["a"]), (0, [])], 1, 3),
    ],
)
def test_it_asks_again_only_what_was_not_measured(tmp_path, capsys, runs, code, asked):
    pytests = Pytest(tmp_path, *runs)
    assert measured.main(["-x"], pytests, tmp_path) == code
    assert len(pytests.asked) == asked
    assert pytests.asked[0] == ["-x"]
    assert [it for it in pytests.asked[1:] if it != [["a"]]] == []
    told = capsys.readouterr().out
    was_run = runs[-1][0] != 4
    assert ("still not measured: a" in told) == bool(runs[-1][1] if was_run else runs[0][1])
    is_measured = len(runs) > 1 and was_run and not runs[-1][1]
    assert ("measured when run again, alone: a" in told) == is_measured


@pytest.mark.parametrize(
    ("errors", "code"),
    [
        ([{"a": "E: x"}] * 3, 1),
        ([{"a": "E: x"}, {"a": "E: x"}, {"a": "E: y"}], N),
        ([{"a": ""}] * 3, N),  # it says itself that the machine gave too little
        ([{}] * 3, N),
        ([{"a": "E: x"}, {"a": "E: x"}], 0),  # passed in the last round
    ],
)
def test_what_fails_each_time_in_the_same_words_has_failed(tmp_path, capsys, errors, code):
    runs = [(N, ["a"], error) for error in errors] + [(0, [])] * (3 - len(errors))
    assert measured.main([], Pytest(tmp_path, *runs), tmp_path) == code
    assert ("FAILED each time in the same words" in capsys.readouterr().out) == (code == 1)


def test_two_errors_that_differ_in_figures_only_are_one():
    first, second, other = (
        kinds._without_figures(AssertionError(text))
        for text in ("car 3f2a at 0.91 m/s", "car 99 at 1.2 m/s", "no car at 1.2 m/s")
    )
    assert first == second != other
    assert kinds._without_figures(patience.NotMeasured("84 ms late")) == ""


# --- by pytest itself

TESTS = """
import subprocess, sys, time
import pytest
from tests.support import kinds, patience

@pytest.fixture
def late(monkeypatch):
    monkeypatch.setattr(kinds, "_late_within_a_lease_s", lambda begun_s: 0.084)

@pytest.fixture
def in_time(monkeypatch):
    monkeypatch.setattr(kinds, "_late_within_a_lease_s", lambda begun_s: 0.0)

def test_that_passes():
    pass

@pytest.mark.process
@pytest.mark.xdist_group("a group")
def test_that_says_so():
    raise patience.NotMeasured("the machine was 84 ms late")

def test_that_starts_a_program_and_does_not_say_so():
    subprocess.run([sys.executable, "-c", "pass"])

@pytest.mark.process
def test_that_starts_one_and_says_so():
    subprocess.run([sys.executable, "-c", "pass"], check=True)

@pytest.mark.process(drives=True)
def test_of_a_car_on_a_machine_that_is_late(late):
    assert "the car" == "stopped"

@pytest.mark.process(drives=True)
def test_that_hangs_on_a_machine_that_is_late(late):
    patience.until(lambda: False, "what never comes", 0.2)

@pytest.mark.process(drives=True)
def test_of_a_car_on_a_machine_that_is_not_late(in_time):
    assert "the car" == "stopped"

@pytest.mark.process
def test_that_is_late_by_its_own_fault():
    begun_s = time.monotonic()
    time.sleep(1.0)
    patience.took(begun_s, 0.3, "a stop", cpu_s=0.01)

@pytest.mark.process
def test_that_is_late_on_a_machine_that_gave_too_little():
    now_s = time.monotonic()
    patience.took(now_s - 1.0, 0.3, "a stop", cpu_s=1e6)
"""

CONFTEST = """
from tests.support.kinds import Kinds

def pytest_configure(config):
    config.pluginmanager.register(Kinds(config))
"""


@pytest.mark.process
@pytest.mark.smoke
def test_each_outcome_is_told_apart_and_has_its_exit_code(tmp_path):
    file = tmp_path / "test_kinds_of_outcome.py"
    file.write_text(TESTS)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    words = [sys.executable, "-m", "pytest", "-c", str(measured.ROOT / "pyproject.toml"), "-n", "0"]
    words += ["-rA", "-p", "no:cacheprovider", str(file)]
    grouped = [*words, "-n", "1", "--dist", "loadgroup", "-k", "that_says_so"]
    done = patience.run(words, text=True, within_s=60, cwd=measured.ROOT)
    only = patience.run(
        [*words, "-k", "passes or that_says_so"], text=True, within_s=60, cwd=measured.ROOT
    )
    by_group = patience.run(grouped, text=True, within_s=60, cwd=measured.ROOT)
    assert "::test_that_says_so: the machine" in by_group.stdout, by_group.stdout
    assert done.returncode == 1, done.stdout
    closing = done.stdout.splitlines()[-1]
    assert "3 failed, 3 passed, 1 error, 3 not measured" in closing, done.stdout
    assert "test_that_says_so: the machine was 84 ms late" in done.stdout
    assert "has none of the markers process" in done.stdout
    assert "waited in vain: what never comes" in done.stdout
    assert only.returncode == EXIT_NOT_MEASURED, only.stdout


@pytest.mark.process
def test_the_bare_process_beside_a_test_is_no_program_of_its_own(tmp_path):
    """Where no test has a limit of time, as under the mutants' driver, the first who waits asks for
    it."""
    (tmp_path / "test_it.py").write_text(
        "from tests.support import patience\n\n\n"
        "def test_that_waits():\n    patience.until(lambda: True, 'what is there', 1.0)\n"
    )
    (tmp_path / "conftest.py").write_text(CONFTEST)
    words = [sys.executable, "-m", "pytest", "-c", str(measured.ROOT / "pyproject.toml")]
    words += ["-o", "addopts=", "-p", "no:timeout", "-p", "no:cacheprovider", str(tmp_path)]
    done = patience.run(words, text=True, within_s=60, cwd=measured.ROOT)
    assert "1 passed" in done.stdout, done.stdout
    assert done.returncode == 0, done.stdout


@pytest.mark.xdist_group("groups")
def test_workers_hear_of_groups(request):
    """A release of pytest once kept them from it, and tests that share a port ran side by side."""
    if not request.config.getoption("loadgroup", False):
        pytest.skip("asked where several workers share the tests")
    assert request.node.nodeid.endswith("@groups")
