"""The study of made cars: one of them whole, the faults, and what the shares are shares of."""

import numpy as np
import pytest

from calibration.backlog import Change
from tests.bench.calibration_cars import FAULTS, UNSEEN, car, drives, spoilt
from tests.bench.calibration_study import Case, study, summary

TODO = [Change(0.0, 1.0, 0.2), Change(1.0, 1.0, 0.4), Change(2.0, 1.0, 0.3), Change(3.0, 0.0, 0.0)]


@pytest.mark.timeout(900)
def test_a_sound_car_is_found_and_its_unseen_run_is_in_the_band():
    case = study(0, "")
    assert max(abs(off) for off in case.off.values()) < 4.0
    assert {"steer_trim_norm", "steer_gain", "speed_mps", "queue_delay_s"} <= {*case.told}
    assert case.is_held
    assert 0.01 < case.band_m < 0.6


def test_the_same_seed_is_the_same_car_and_the_same_drive():
    one, again = car(5), car(5)
    assert one.values == again.values
    assert car(6).values != one.values
    last, other = drives(one, 5)[-UNSEEN], drives(again, 5)[-UNSEEN]
    assert last.odometry.x_m.tolist() == other.odometry.x_m.tolist()


def test_each_fault_does_what_it_is_named_for():
    assert spoilt(car(0), TODO) == TODO
    play = car(0, FAULTS[0])
    steering = [one.steering_norm for one in spoilt(play, TODO)]
    size = play.size
    assert steering == pytest.approx([0.2 - size, 0.4 - size, 0.3 + size, size])
    lagging = spoilt(car(0, FAULTS[1]), TODO)
    assert lagging[0].steering_norm == 0.0
    assert 0.2 < max(one.steering_norm for one in lagging) < 0.4
    slipping = spoilt(car(0, FAULTS[2]), TODO)
    assert min(one.throttle_norm for one in slipping[:3]) < 1.0


def case_of(fault, off, p, is_held):
    return Case(0, fault, 0.0, dict.fromkeys(car(0).values, off), ("speed_mps",), p, "", is_held,
                float(is_held), 0.1, 0.2)  # fmt: skip


def test_shares_are_of_their_own_kind_of_car():
    sound = [case_of("", 0.0, 0.5, True), case_of("", 1.8, 0.01, False)]
    found = summary([*sound, case_of("lag", 9.0, 0.001, True)])
    assert found["sound"]["intervals_90_hold"] == 0.5  # 1.8 deviations: out of 90 %, in 95 %
    assert found["sound"]["intervals_95_hold"] == 1.0
    assert (found["sound"]["flagged"], found["sound"]["unseen_runs_in_band"]) == (0.5, 0.5)
    assert (found["cars"], found["faulty_cars"]) == (2, 1)
    assert found["faulty"]["flagged_by_fault"] == {"lag": 1.0}
    assert np.isclose(found["faulty"]["unseen_runs_in_band"], 1.0)
