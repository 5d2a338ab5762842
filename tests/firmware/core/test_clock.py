"""The offset to each session's clock, and how sure it is."""

import pytest

from firmware.core.clock import OWN, UNKNOWN_US, Session, Sessions
from tests.firmware.core.desk import OWN_EPOCH

UNKNOWN = 65535
GRAIN = 100
PERIOD = 2**30


def sampled(trip_us=1000, offset_us=5000, held_us=0, now_us=1_000_000, session=None):
    """One Sync over a round trip of so long, from a host whose clock is ahead by the offset."""
    session = session or Session()
    board_us = (now_us - trip_us - held_us) % PERIOD
    received_us = (board_us + trip_us // 2 + offset_us) % PERIOD
    sent_us = (received_us + held_us) % PERIOD
    return session, session.sample(now_us % PERIOD, board_us, received_us, sent_us)


def test_a_session_knows_nothing_at_first():
    session = Session()
    assert (session.epoch, session.offset_us, session.bound_us) == (0, 0, UNKNOWN)
    assert (session.heard_us, session.is_stale, session.step_us) == (0, True, 0)
    assert (session.claim_crc, session.claim_count, session.claim_sequence) == (b"\0\0\0\0", 0, 0)


@pytest.mark.parametrize("held_us", [0, 40_000])
@pytest.mark.parametrize("offset_us", [-7000, 0, 123_456])
def test_the_offset_is_that_of_the_middle_of_the_round_trip_and_half_of_it_is_the_doubt(
    offset_us, held_us
):
    session, is_steady = sampled(1000, offset_us, held_us)
    assert is_steady is True
    assert session.offset_us == offset_us
    assert session.bound_us == 500 + GRAIN
    assert session.step_us == 0
    assert session.session_us(1_000_000) == 1_000_000 + offset_us


def test_a_clock_is_followed_across_the_wrap():
    session, _ = sampled(1000, 5000, 200, now_us=PERIOD + 100)
    assert session.offset_us == 5000
    assert session.session_us(PERIOD - 1000) == 4000


@pytest.mark.parametrize(
    "sync",
    [
        (1000, 0, 500, 499),  # answered before it came
        (1000, 2000, 500, 500),  # sent before now
        (1000, 0, 500, 1501),  # held for longer than it was away
    ],
)
def test_nonsense_teaches_nothing_and_is_no_step(sync):
    session = Session()
    assert session.sample(*sync) is True
    assert (session.offset_us, session.bound_us) == (0, UNKNOWN)


def test_a_round_trip_of_no_time_is_possible():
    session, _ = sampled(0)
    assert (session.offset_us, session.bound_us) == (5000, GRAIN)


def test_a_round_trip_too_slow_to_learn_from_teaches_nothing():
    slowest_us = 2 * (UNKNOWN - GRAIN - 1)
    assert sampled(slowest_us)[0].bound_us == UNKNOWN - 1
    session, is_steady = sampled(slowest_us + 1)
    assert (session.bound_us, session.offset_us, is_steady) == (UNKNOWN, 0, True)


def test_the_smallest_round_trip_wins():
    session, _ = sampled(1000, 5000)
    sampled(1200, 5050, session=session)
    assert (session.offset_us, session.bound_us) == (5000, 600)
    assert session.step_us == 50
    sampled(1000, 5010, session=session)
    assert (session.offset_us, session.bound_us) == (5010, 600)
    sampled(400, 5020, session=session)
    assert (session.offset_us, session.bound_us) == (5020, 300)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_clock_steps_when_it_is_further_off_than_both_doubts_together(sign):
    session, _ = sampled(1000, 5000)
    _, is_steady = sampled(1800, 5000 + sign * 1600, session=session)
    assert (is_steady, session.offset_us, session.bound_us) == (True, 5000, 600)
    _, is_steady = sampled(1800, 5000 + sign * 1601, session=session)
    assert (is_steady, session.step_us) == (False, sign * 1601)
    assert (session.offset_us, session.bound_us) == (5000 + sign * 1601, 1000)


def test_a_step_is_seen_even_from_the_worst_clock_that_is_known():
    session, _ = sampled(2 * (UNKNOWN - GRAIN - 1), 5000)
    _, is_steady = sampled(1000, 205_000, session=session)
    assert (is_steady, session.step_us, session.offset_us) == (False, 200_000, 205_000)


def test_the_first_sample_is_no_step_however_far_off():
    session, is_steady = sampled(1000, 300_000_000)
    assert (is_steady, session.step_us, session.offset_us) == (True, 0, 300_000_000)


def test_doubt_grows_by_a_microsecond_in_ten_milliseconds():
    session, _ = sampled(1000, now_us=1_000_000)
    for now_us, bound_us in (
        (1_000_000, 600),
        (1_009_999, 600),
        (1_010_000, 601),
        (3_000_000, 800),
    ):
        session.step(now_us)
        assert session.bound_us == bound_us
    sampled(1400, 5000, now_us=3_000_000, session=session)
    assert session.bound_us == 800  # 700 + 100 is as good, and newer
    session.step(3_010_000)
    assert session.bound_us == 801


def test_doubt_never_comes_to_nothing_nor_back_when_the_clock_comes_round():
    session, _ = sampled(2 * (UNKNOWN - GRAIN - 1), now_us=0)
    session.step(9_999)
    assert session.bound_us == UNKNOWN - 1
    session.step(10_000)
    assert session.bound_us == UNKNOWN
    session.step(0)
    assert session.bound_us == UNKNOWN
    session, _ = sampled(1000, now_us=1_000_000)
    session.step(2_000_000)
    session.step(1_500_000)  # nothing makes a sample younger: half a period went by unnoticed
    assert session.bound_us == UNKNOWN


def test_a_session_that_was_not_heard_for_three_seconds_is_stale():
    session = Session()
    session.hear(5)
    assert (session.heard_us, session.is_stale) == (5, False)
    session.step(3_000_005)
    assert session.is_stale is False
    session.step(3_000_006)
    assert session.is_stale is True
    session.hear(3_000_007)
    assert session.is_stale is False


def test_a_restart_of_the_same_epoch_keeps_its_clock_and_counts_claims_anew():
    sessions = Sessions(OWN_EPOCH)
    session = sessions.slots[sessions.bind(7, 0)]
    sampled(session=session)
    session.claim_count = 9
    session.claim_crc[:] = b"abcd"
    sessions.step(31_000_000)
    sessions.bind(7, 31_000_000)
    assert (session.epoch, session.offset_us) == (7, 5000)
    assert session.bound_us < UNKNOWN
    assert (session.claim_count, session.claim_crc) == (0, b"\0\0\0\0")
    assert (session.heard_us, session.is_stale) == (31_000_000, False)


def test_another_epoch_in_the_slot_knows_no_clock():
    session = Session()
    session.restart(7, 0)
    sampled(session=session)
    session.restart(8, 1_000_001)
    assert (session.epoch, session.bound_us) == (8, UNKNOWN)
    session.step(1_000_001)
    assert session.bound_us == UNKNOWN


def test_sessions_are_found_by_their_epoch_and_only_those_that_are_bound():
    sessions = Sessions(OWN_EPOCH)
    assert len(sessions.slots) == 5  # four for hosts, and the board's own
    assert sessions.find(5) == -1
    assert [sessions.bind(epoch, 0) for epoch in (5, 6, 7, 8, 6, 5)] == [0, 1, 2, 3, 1, 0]
    assert [sessions.find(epoch) for epoch in (5, 6, 7, 8, 9)] == [0, 1, 2, 3, -1]


def test_a_free_slot_is_taken_before_a_stale_one_and_the_last_like_any_other():
    sessions = Sessions(OWN_EPOCH)
    for slot, epoch in enumerate((5, 6, 7, 8)):
        sessions.step(31_000_000 * (slot + 1) % 2**30)
        assert sessions.bind(epoch, 31_000_000 * (slot + 1)) == slot
    for slot in (0, 1, 2):
        sessions.slots[slot].hear(158_000_000)
    sessions.step(160_000_000)
    assert sessions.bind(9, 160_000_000) == 3


def test_a_fifth_session_gets_a_stale_slot_or_none():
    sessions = Sessions(OWN_EPOCH)
    for epoch in (5, 6, 7, 8):
        sessions.bind(epoch, 0)
    assert sessions.bind(9, 1) == -1
    assert sessions.find(9) == -1
    for slot in (0, 1, 3):
        sessions.slots[slot].hear(2_000_000)
    sessions.step(3_000_001)
    assert sessions.bind(9, 3_000_001) == 2
    assert sessions.find(7) == -1
    sessions.step(5_000_001)
    assert sessions.bind(10, 5_000_001) == 0


def test_a_session_that_leaves_makes_room_at_once_and_nobody_else_goes_by_it():
    sessions = Sessions(OWN_EPOCH)
    for epoch in (5, 6, 7, 8):
        sessions.bind(epoch, 0)
    sessions.slots[1].bound_us = 500
    assert [sessions.leave(epoch, 0) for epoch in (9, OWN_EPOCH, 6, 6)] == [-1, -1, 1, -1]
    assert [sessions.find(epoch) for epoch in (5, 6, 7, 8)] == [0, -1, 2, 3]
    assert sessions.bind(10, 0) == 1
    assert sessions.slots[1].bound_us == UNKNOWN_US
    assert sessions.slots[OWN].epoch == OWN_EPOCH


def test_every_session_ages():
    sessions = Sessions(OWN_EPOCH)
    for epoch in (5, 6, 7, 8):
        sessions.bind(epoch, 0)
    sessions.step(3_000_001)
    assert [session.is_stale for session in sessions.slots[:4]] == [True] * 4


def test_the_boards_own_session_is_sure_of_its_clock_and_is_nobodys_to_bind():
    sessions = Sessions(OWN_EPOCH)
    own = sessions.slots[OWN]
    assert (OWN, own.epoch, own.bound_us, own.is_stale) == (4, OWN_EPOCH, 0, False)
    assert sessions.find(OWN_EPOCH) == -1
    assert sessions.bind(OWN_EPOCH, 0) == -1
    for now_us in range(0, 2**29, 2**27):
        sessions.step(now_us)
    assert (own.bound_us, own.is_stale) == (0, False)
    assert [sessions.bind(epoch, 0) for epoch in range(1, 6)] == [0, 1, 2, 3, -1]
    assert own.epoch == OWN_EPOCH


def test_a_status_leaves_at_the_end_of_its_step():
    sessions = Sessions(OWN_EPOCH)
    assert [sessions.left_us(it) for it in (7, 1, 0, -1)] == [7, 1, 0, -1]  # none was sent yet
    sessions.step(1000, 0)
    assert sessions.left_us(1000) == 1000  # its step is under way
    sessions.step(PERIOD - 1, 12_345)
    assert sessions.left_us(1000) == 13_345
    sessions.step(20_000, 2)
    assert sessions.left_us(PERIOD - 1) == 1
    assert sessions.left_us(1000) == 13_345


def test_of_a_step_of_which_nothing_is_said_its_status_left_at_once():
    sessions = Sessions(OWN_EPOCH)
    sessions.step(1000)
    sessions.step(2000)
    assert [sessions.left_us(it) for it in (0, 1000, 2000)] == [0, 1000, 2000]


def test_of_the_last_four_statuses_it_is_known_when_they_left():
    sessions = Sessions(OWN_EPOCH)
    for i in range(1, 8):
        sessions.step(1000 * i, i - 1)
    waits_us = [sessions.left_us(1000 * i) - 1000 * i for i in range(1, 8)]
    assert waits_us == [0, 0, 0, 4, 5, 6, 0]
    assert [sessions.left_us(wait_us) for wait_us in (4, 5, 6)] == [4, 5, 6]  # they are no stamps
