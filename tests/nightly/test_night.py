"""A night by a fake clock and a fake runner: what is kept, what fits, what is told."""

from __future__ import annotations

import json
import subprocess

import pytest

from tests.nightly import keeping, reading, report
from tests.nightly.keeping import Store
from tests.nightly.night import Night, exit_code
from tests.nightly.parts import LOG, MINUTES, Part
from tests.nightly.running import Ended

FINE = "===== 3 passed, 1 skipped in 7.00s =====\n"
BAD = (
    "FAILED tests/a/test_a.py::test_b[a - b] - assert 0\n"
    "ERROR tests/a/test_a.py::test_c\n"
    "== 1 failed, 2 passed, 1 error in 61.00s (0:01:01) ==\n"
)
ONE, TWO = Part("one", ("run", "one"), 1.0), Part("two", ("run", "two"), 2.0)
REST = Part("rest", ("run", "rest", MINUTES, f"--into={LOG}.xml"), 4.0)


class World:
    """What the commands answer, in which time; and what was run."""

    def __init__(self, folder) -> None:
        self.store = Store(folder)
        self.now_s, self.code = 0.0, "code"
        self.ran: list[list[str]] = []
        self.answers: dict[str, tuple[int | None, float, str]] = {}

    def run(self, words, part, limit_s, expected_s) -> Ended:
        self.ran.append(list(words))
        code, hours, text = self.answers.get(part.name, (0, part.hours, FINE))
        if code == 130:
            raise KeyboardInterrupt
        is_over = 3600 * hours > limit_s
        self.now_s += min(3600 * hours, limit_s)
        return Ended(None if is_over else code, min(3600 * hours, limit_s), text)

    def night(self, *parts, hours=10.0, again_failed=False):
        self.ran = []
        night = Night(
            self.store, self.run, lambda: self.now_s, lambda _: self.code, "commit", lambda _: None,
            hours, again_failed,
        )  # fmt: skip
        verdicts = night.go(parts)
        return {it.part: it for it in verdicts}, night

    def names(self) -> list[str]:
        return [words[1] for words in self.ran]


@pytest.fixture
def world(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LIST", tmp_path / "not_measured")
    return World(tmp_path / "kept")


def test_each_part_is_run_once_and_told_from_then_on(world):
    first, _ = world.night(ONE, TWO)
    assert world.names() == ["one", "two"]
    assert first["one"].counts == {"passed": 3, "skipped": 1}
    again, _ = world.night(ONE, TWO)
    assert world.ran == []
    assert again == first
    assert exit_code([*again.values()]) == 0


@pytest.mark.parametrize("change", ["code", "command"])
def test_other_code_or_another_command_is_run_again(world, change):
    world.night(ONE)
    world.code = "changed" if change == "code" else "code"
    world.night(ONE._replace(command=("run", "one", "more")) if change == "command" else ONE)
    assert world.names() == ["one"]


def test_what_failed_is_told_again_and_run_again_only_if_asked_for(world):
    world.answers["one"] = (1, 0.5, BAD)
    for _ in range(2):
        found, _ = world.night(ONE, TWO)
    assert world.ran == []
    assert found["one"].counts == {"failed": 2, "passed": 2}
    assert [command.partition("-n 0 ")[2] for command in found["one"].again] == [
        "'tests/a/test_a.py::test_b[a - b]'",
        "tests/a/test_a.py::test_c",
    ]
    assert exit_code([*found.values()]) == 1
    world.answers.clear()
    found, _ = world.night(ONE, TWO, again_failed=True)
    assert world.names() == ["one"]
    assert exit_code([*found.values()]) == 0


def test_what_was_not_measured_is_counted_fails_nothing_and_is_measured_the_next_time(world):
    def measured_little(*_):
        reading.LIST.write_text(json.dumps(["tests/a.py::t", "tests/a.py::u"]))
        return Ended(75, 60.0, FINE)

    whole, world.run = world.run, measured_little
    found, _ = world.night(ONE)
    assert (found["one"].verdict, found["one"].counts["not measured"]) == ("not measured", 2)
    assert exit_code([*found.values()]) == 75
    world.run = whole
    found, _ = world.night(ONE)
    assert "not measured" not in found["one"].counts, "it is of an earlier run"
    assert exit_code([*found.values()]) == 0


def test_what_was_measured_when_it_was_run_again_counts(world):
    again = "== 792 passed, 8 skipped, 2 not measured in 320.33s ==\n== 2 passed in 3.00s ==\n"
    world.answers["one"] = (0, 0.1, again)
    found, _ = world.night(ONE)
    assert found["one"].counts == {"passed": 794, "skipped": 8}


def test_what_does_not_fit_is_told_and_comes_first_the_next_time(world):
    world.night(ONE, TWO)
    world.now_s, world.code = 1e6, "changed"
    found, _ = world.night(ONE, TWO, hours=1.5)
    assert world.names() == ["one"]
    assert found["two"].verdict == keeping.NOT_BEGUN
    assert exit_code([*found.values()]) == 75
    world.now_s, world.code = 2e6, "changed again"
    world.night(ONE, TWO, hours=2.5)
    assert world.names() == ["two"]


def test_what_it_took_the_last_time_is_what_is_expected(world):
    world.answers["one"] = (0, 3.0, FINE)
    world.night(ONE)
    world.code = "changed"
    found, _ = world.night(ONE, hours=2.9)
    assert found["one"].verdict == keeping.NOT_BEGUN


def test_a_part_that_hangs_fails_and_the_next_one_has_its_turn(world):
    world.answers["one"] = (0, 100.0, "")
    found, _ = world.night(ONE, TWO)
    assert found["one"].verdict == keeping.FAILED
    assert found["two"].verdict == keeping.PASSED


def test_the_hours_cut_what_takes_longer_and_it_is_run_again(world):
    world.answers["one"] = (0, 1.6, "")
    found, night = world.night(ONE, hours=1.5)
    assert found["one"].verdict == keeping.NOT_FINISHED
    assert night.rest_s() == 0
    world.answers.clear()
    found, _ = world.night(ONE)
    assert found["one"].verdict == keeping.PASSED


LEFT = (
    "900 mutants: 880 killed, 0 timed out, 20 equivalent, 0 survived; 5 s\n"
    "of 11124: the time was over; what\n"
)


def test_mutants_are_last_take_the_rest_and_go_on_the_next_night(world):
    world.answers["rest"] = (0, 6.5, LEFT)
    found, _ = world.night(REST, ONE, TWO)
    assert world.names() == ["one", "two", "rest"]
    assert world.ran[-1][2:] == ["405", f"--into={world.store.folder}/rest.xml"]
    assert (found["rest"].verdict, found["rest"].note) == (
        "not finished", "900 of 11124 mutants tried",
    )  # fmt: skip
    world.answers.clear()
    found, _ = world.night(REST, ONE, TWO)
    assert world.names() == ["rest"]
    assert exit_code([*found.values()]) == 0


def test_mutants_that_survive_fail_at_once_and_the_others_are_tried_the_next_night(world):
    world.answers["rest"] = (1, 6.5, LEFT)
    found, _ = world.night(REST)
    assert found["rest"].verdict == keeping.FAILED
    world.night(REST)
    assert world.names() == ["rest"]


def test_an_interrupted_night_keeps_what_was_done_and_goes_on(world):
    world.answers["two"] = (130, 0.0, "")
    found, night = world.night(ONE, TWO)
    assert night.is_interrupted
    assert [it.verdict for it in found.values()] == [keeping.PASSED, keeping.NOT_BEGUN]
    world.answers.clear()
    world.night(ONE, TWO)
    assert world.names() == ["two"]


def test_a_verdict_on_files_that_changed_meanwhile_is_none(world):
    def changing(*words):
        world.code = "changed"
        return Ended(0, 1.0, FINE)

    world.run = changing
    found, _ = world.night(ONE)
    assert found["one"].verdict == keeping.NOT_FINISHED
    assert not keeping.is_kept(found["one"], ONE, "changed", False)


def test_half_a_verdict_is_none(world):
    world.night(ONE)
    file = world.store.log("one").with_suffix(".json")
    file.write_text(file.read_text()[:100])
    world.night(ONE)
    assert world.names() == ["one"]


def test_no_test_at_all_is_a_failure(world):
    world.answers["one"] = (5, 0.1, "no tests ran in 0.01s\n")
    found, _ = world.night(ONE)
    assert exit_code([*found.values()]) == 1
    assert exit_code([]) == 75


def test_the_report_has_a_row_for_each_and_says_how_to_run_again_what_failed(world, tmp_path):
    world.answers["one"] = (1, 0.5, BAD)
    found, _ = world.night(ONE, TWO)
    text = report.written([*found.values()], "c" * 40, tmp_path, False)
    assert "2 parts in 2.50 h: 1 passed, 1 failed" in text
    assert "| one | failed | 0.50 | 2 | 2 |  |  | exit code 1 |" in text
    assert "-m pytest -n 0 tests/a/test_a.py::test_c" in text
    rows = json.loads((tmp_path / "report.json").read_text())["parts"]
    assert [row["verdict"] for row in rows] == ["failed", "passed"]


@pytest.mark.process
def test_a_hash_is_of_the_files_as_they_lie_there(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True, timeout=60)
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "a.py").write_text("1\n")
    one = keeping.code_of(tmp_path)
    (tmp_path / "b.log").write_text("ignored\n")
    assert keeping.code_of(tmp_path) == one
    (tmp_path / "b.py").write_text("2\n")
    assert keeping.code_of(tmp_path) != one, "a new file counts, committed or not"
    of_a = keeping.code_of(tmp_path, ("a.*",))
    (tmp_path / "b.py").write_text("3\n")
    assert keeping.code_of(tmp_path, ("a.*",)) == of_a
    with pytest.raises(ValueError, match="nothing to hash"):
        keeping.code_of(tmp_path, ("c.*",))
