"""Whose board is at the line: what passes meanwhile, and what becomes of what a log would hear."""

from __future__ import annotations

import pytest

from host_bridge.core.system.observers import Observers
from host_bridge.sharing.owner.doubt import DOWN, UP, Doubt, Relayed, Whose
from host_bridge.sharing.owner.rights import ALL, Right

SAID, HEARD = Relayed(UP, b"said", 1), Relayed(DOWN, b"heard", 2)
FEW = Right.WATCH | Right.STOP


@pytest.fixture
def taps():
    found = Observers()
    found.all = []
    found.subscribe(found.all.append)
    return found


@pytest.fixture
def doubt(taps):
    made = Doubt(taps)
    made.trust()
    return made


def test_nobody_is_doubted_before_somebody_was_met(taps):
    doubt = Doubt(taps)
    doubt.doubt()
    doubt.tell(HEARD)
    assert (doubt.whose, doubt.rights, taps.all) == (Whose.OURS, ALL, [HEARD])


def test_what_is_heard_in_doubt_is_told_once_it_is_known_to_be_ours(doubt, taps):
    doubt.doubt()
    doubt.tell(SAID)
    doubt.tell(HEARD)
    assert (doubt.rights, taps.all) == (FEW, [])
    doubt.trust()
    assert (doubt.rights, taps.all) == (ALL, [SAID, HEARD])


def test_what_a_stranger_said_is_told_to_nobody(doubt, taps):
    doubt.doubt()
    doubt.tell(HEARD)
    doubt.refuse()
    doubt.tell(HEARD)
    assert doubt.rights == FEW
    doubt.doubt()
    doubt.trust()
    doubt.end()
    assert taps.all == []


def test_a_second_loss_leaves_nothing_of_who_was_there_before(doubt, taps):
    doubt.doubt()
    doubt.tell(HEARD)
    doubt.doubt()
    doubt.trust()
    assert taps.all == []


def test_at_the_end_what_we_said_is_told_and_what_nobody_knows_is_not(doubt, taps):
    doubt.doubt()
    doubt.tell(SAID)
    doubt.tell(HEARD)
    doubt.end()
    doubt.end()
    assert taps.all == [SAID]
