"""Whose board is at the line: what passes meanwhile, and what becomes of what a log would hear."""

from __future__ import annotations

import pytest

from host_bridge.core.system.observers import Observers
from host_bridge.sharing.owner.board_verification import (
    DOWN,
    UP,
    BoardTrust,
    BoardVerification,
    RelayedFrames,
)
from host_bridge.sharing.owner.rights import ALL, ClientRight

SAID, HEARD = RelayedFrames(UP, b"said", 1), RelayedFrames(DOWN, b"heard", 2)
FEW = ClientRight.WATCH | ClientRight.STOP


@pytest.fixture
def taps():
    found = Observers()
    found.all = []
    found.subscribe(found.all.append)
    return found


@pytest.fixture
def verification(taps):
    made = BoardVerification(taps)
    made.confirm()
    return made


def test_nobody_is_doubted_before_somebody_was_met(taps):
    verification = BoardVerification(taps)
    verification.invalidate()
    verification.relay(HEARD)
    assert (verification.state, verification.rights, taps.all) == (BoardTrust.TRUSTED, ALL, [HEARD])


def test_what_is_heard_in_doubt_is_told_once_it_is_known_to_be_ours(verification, taps):
    verification.invalidate()
    verification.relay(SAID)
    verification.relay(HEARD)
    assert (verification.rights, taps.all) == (FEW, [])
    verification.confirm()
    assert (verification.rights, taps.all) == (ALL, [SAID, HEARD])


def test_what_a_stranger_said_is_told_to_nobody(verification, taps):
    verification.invalidate()
    verification.relay(HEARD)
    verification.reject()
    verification.relay(HEARD)
    assert verification.rights == FEW
    verification.invalidate()
    verification.confirm()
    verification.flush()
    assert taps.all == []


def test_a_second_loss_leaves_nothing_of_who_was_there_before(verification, taps):
    verification.invalidate()
    verification.relay(HEARD)
    verification.invalidate()
    verification.confirm()
    assert taps.all == []


def test_at_the_end_what_we_said_is_told_and_what_nobody_knows_is_not(verification, taps):
    verification.invalidate()
    verification.relay(SAID)
    verification.relay(HEARD)
    verification.flush()
    verification.flush()
    assert taps.all == [SAID]
