"""What the self-test makes of a VESC that was left alone while its wheel turned."""

from dataclasses import replace

import pytest

from host_bridge.core import VescState
from host_bridge.deploy.selftest import vesc_rows

TURNING = VescState(True, False, False, None, 0.0)
ALONE = VescState(True, True, True, 0.12, 20.0)


def judged(turning=TURNING, **alone):
    return {row.what: row.is_good for row in vesc_rows(turning, replace(ALONE, **alone))}


@pytest.mark.parametrize(
    ("alone", "bad"),
    [
        ({}, []),
        ({"timeout_s": 0.2}, []),
        ({"timeout_s": 0.201}, ["VESC timeout"]),
        ({"timeout_s": None}, ["VESC timeout"]),
        ({"is_killed": False}, ["VESC kill switch"]),
        ({"brake_a": 0.9}, ["VESC brake"]),
    ],
)
def test_each_thing_that_was_not_set_up_is_found_and_has_a_remedy(alone, bad):
    assert [what for what, is_good in judged(**alone).items() if not is_good] == bad
    rows = vesc_rows(TURNING, replace(ALONE, **alone))
    assert not any(row.is_good is False and not row.remedy for row in rows)


def test_a_kill_switch_that_always_acts_is_none():
    assert judged(replace(TURNING, is_killed=True))["VESC kill switch"] is False


def test_an_older_one_that_does_not_tell_is_judged_by_its_brake_alone():
    assert judged(tells=False) == {"VESC status": None, "VESC brake": True}
