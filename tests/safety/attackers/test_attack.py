"""Attackers that do nothing, or die, are told of and are no evidence."""

from __future__ import annotations

import os
import time

import pytest

from tests.safety.attackers import attack as under_test
from tests.safety.attackers import logins
from tests.safety.attackers.attack import Look, attacking, idle_s
from tests.support import patience

pytestmark = [pytest.mark.process, logins.as_root]


def work(notes, lasts_s) -> None:
    done = 0
    ends_s = time.monotonic() + lasts_s
    while time.monotonic() < ends_s:
        done += 1
        notes.holds(7)
        notes.did(done)
        time.sleep(0.01)


def idle(notes) -> None:
    notes.did(1)
    time.sleep(600.0)


def test_two_that_work_are_counted():
    with attacking(2, work, 600.0) as attack:
        assert attack.beside(lambda: time.sleep(0.5) or "tried") == "tried"
    told = attack.told("deeds")
    assert told.startswith(f"2 process(es) of login {logins.ATTACKER}, 2 alive at the least of ")
    assert " 14 held at the least" in told


def test_one_that_ends_meanwhile_is_a_failure():
    with (
        attacking(2, work, 1.0) as attack,
        pytest.raises(AssertionError, match="0 alive at the least"),
    ):
        attack.beside(lambda: time.sleep(3.0))


def test_one_that_is_killed_meanwhile_is_a_failure():
    with attacking(2, work, 600.0) as attack:
        pid = attack._works[1].pid
        with pytest.raises(AssertionError, match="1 alive at the least"):
            attack.beside(lambda: os.kill(pid, 9) or time.sleep(1.0))


def test_one_that_does_nothing_is_a_failure(monkeypatch):
    monkeypatch.setattr(under_test, "_IDLE_S", 0.5)
    with attacking(1, idle) as attack, pytest.raises(AssertionError, match="0 deeds"):
        attack.beside(lambda: time.sleep(1.0))


def test_what_is_over_before_one_was_let_run_is_no_evidence_and_no_fault():
    with attacking(1, idle) as attack, pytest.raises(patience.NotMeasured, match="0 deeds"):
        attack.beside(lambda: None)


def test_for_how_long_one_did_nothing_is_counted_from_its_last_deed():
    looks = [Look(float(at_s), 2, (did, at_s), (0, 0)) for at_s, did in enumerate((1, 2, 2, 2, 3))]
    assert idle_s(looks, 0) == 3.0
    assert idle_s(looks, 1) == 1.0
    assert idle_s(looks[:4], 0) == 2.0
