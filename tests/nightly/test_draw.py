"""What is drawn by a seed is run until the minutes are over, by a fake clock."""

from __future__ import annotations

import pytest

from tests.nightly import draw, reading
from tests.nightly.running import Ended

FILES = [f"tests/test_{letter}.py" for letter in "abcdefgh"]


class Runs:
    def __init__(self, seconds: float = 60.0, code: int = 0) -> None:
        self.now_s, self.seconds, self.code = 0.0, seconds, code
        self.files: list[str] = []
        self.limits: list[float] = []
        self.said: list[str] = []

    def run(self, words, file, limit_s) -> Ended:
        self.files.append(file)
        self.limits.append(limit_s)
        took_s = min(self.seconds, limit_s)
        self.now_s += took_s
        line = "=== 1 failed, 2 passed in 3.0s ===" if self.code == 1 else "== 2 passed in 3.0s =="
        return Ended(self.code if took_s == self.seconds else None, took_s, line)

    def draw(self, minutes=4.0, seed=1, known=None) -> int:
        return draw.drawn(
            FILES, known or {}, "process", minutes, seed, self.run, lambda: self.now_s,
            self.said.append,
        )  # fmt: skip


@pytest.fixture(autouse=True)
def nothing_missed(tmp_path, monkeypatch):
    monkeypatch.setattr(reading, "LIST", tmp_path / "not_measured")


def test_one_seed_is_one_draw_and_another_seed_another():
    drawn = [Runs() for _ in range(3)]
    codes = [runs.draw(seed=seed) for runs, seed in zip(drawn, (1, 1, 2), strict=True)]
    assert codes == [0, 0, 0]
    assert drawn[0].files == drawn[1].files != drawn[2].files
    assert len(drawn[0].files) == 4
    assert drawn[0].said[-2:] == [
        "seed 1: 4 of 8 files in 4.0 min", "8 passed, 0 failed, 0 skipped, 0 not measured",
    ]  # fmt: skip


def test_one_that_fails_fails_the_draw_and_says_all_that_it_said():
    runs = Runs(code=1)
    assert runs.draw() == 1
    assert runs.said[-1].startswith("8 passed, 4 failed")
    assert runs.said[1] == "=== 1 failed, 2 passed in 3.0s ==="


def test_a_slower_one_is_killed_at_one_and_a_half_times_the_minutes():
    runs = Runs(seconds=1000.0)
    assert runs.draw() == 75
    assert (runs.limits, runs.now_s) == ([360.0], 360.0)
    assert runs.said[-1].endswith("1 file not finished")


def test_what_is_known_to_take_longer_than_is_left_is_passed_over():
    first = Runs()
    first.draw()
    runs = Runs()
    runs.draw(known={first.files[0]: 241.0})
    assert first.files[0] not in runs.files
    assert len(runs.files) == 4


def test_without_a_minute_nothing_was_shown():
    assert Runs().draw(minutes=0.0) == 75


def test_not_measured_is_no_failure():
    assert Runs(code=75).draw() == 75


def test_seconds_are_known_from_the_parts_of_a_night(tmp_path):
    (tmp_path / "a.xml").write_text(
        '<testsuites><testsuite><testcase classname="tests.a.test_a.TestIt" name="t" time="3"/>'
        '<testcase classname="tests.a.test_a" name="u[1.5]" time="5"/></testsuite></testsuites>'
    )
    assert draw.known_s(tmp_path) == {"tests/a/test_a.py": 4.0}
