"""The study of made cars: one of them whole, the faults, and what the shares are shares of."""

import numpy as np
import pytest

from calibration.simulation.command_queue import CommandChange
from tests.studies.calibration_cars import FAULTS, UNSEEN, car, drives, spoilt
from tests.studies.calibration_study import Case, Kept, Row, main, sources, study, summary

SCHEDULE = [
    CommandChange(0.0, 1.0, 0.2),
    CommandChange(1.0, 1.0, 0.4),
    CommandChange(2.0, 1.0, 0.3),
    CommandChange(3.0, 0.0, 0.0),
]


@pytest.mark.fit
@pytest.mark.timeout(900)
def test_a_sound_car_is_found_and_its_unseen_run_is_in_the_band():
    case = study(2, "")
    assert max(row.level for row in case.rows.values()) < 0.999
    told = {name for name, row in case.rows.items() if row.is_fitted}
    assert {"steer_trim_norm", "steer_gain", "full_effort_mps", "queue_delay_s"} <= told
    assert case.is_held
    assert 0.01 < case.band_m < 0.6


@pytest.mark.fit
@pytest.mark.timeout(900)
def test_a_car_that_no_parameter_describes_is_found_near_by_and_its_band_is_wide_enough():
    """Its steering lags, and in a minute it would turn many times. With all that pieces of runs may
    explain, the fit walked off to another car, at the edge of three ranges."""
    case = study(20007, FAULTS[1])
    assert case.p < 1e-3
    assert case.rows["steer_gain"].found == pytest.approx(case.rows["steer_gain"].true, rel=0.2)
    assert case.is_held


def test_the_same_seed_is_the_same_car_and_the_same_drive():
    one, again = car(5), car(5)
    assert one.values == again.values
    assert car(6).values != one.values
    last, other = drives(one, 5)[-UNSEEN], drives(again, 5)[-UNSEEN]
    assert last.odometry.x_m.tolist() == other.odometry.x_m.tolist()


def test_each_fault_does_what_it_is_named_for():
    assert spoilt(car(0), SCHEDULE) == SCHEDULE
    play = car(0, FAULTS[0])
    steering = [one.steering_norm for one in spoilt(play, SCHEDULE)]
    size = play.size
    assert steering == pytest.approx([0.2 - size, 0.4 - size, 0.3 + size, size])
    lagging = spoilt(car(0, FAULTS[1]), SCHEDULE)
    assert lagging[0].steering_norm == 0.0
    assert 0.2 < max(one.steering_norm for one in lagging) < 0.4
    slipping = spoilt(car(0, FAULTS[2]), SCHEDULE)
    assert min(one.throttle_norm for one in slipping[:3]) < 1.0


def case_of(fault, level, p, is_held, seed=0):
    row = Row(0.0, 0.0, 0.0, 0.0, 0.0, level, is_fitted=True)
    rows = dict.fromkeys(car(0).values, row)
    return Case(seed, fault, 0.0, rows, p, "", is_held, float(is_held), 0.1, 0.2, 5.0)


def test_shares_are_of_their_own_kind_of_car():
    sound = [case_of("", 0.1, 0.5, True), case_of("", 0.93, 0.01, False)]
    found = summary([*sound, case_of("lag", 1.0, 0.001, True)])
    good, bad = found["sound"], found["faulty"]
    assert good["intervals_90_hold"].share == 0.5  # 0.93: out of 90 %, in 95 %
    assert good["intervals_95_hold"].share == 1.0
    assert (good["flagged"].share, good["unseen_runs_in_band"].share) == (0.5, 0.5)
    assert (found["cars"], found["faulty_cars"]) == (2, 1)
    assert bad["flagged_by_fault"]["lag"].share == 1.0
    assert np.isclose(bad["unseen_runs_in_band"].share, 1.0)


def test_a_share_says_how_sure_it_is_and_parameters_of_a_car_stand_together():
    found = summary([case_of("", 0.1 if seed % 10 else 0.95, 0.5, True) for seed in range(100)])
    held = found["sound"]["intervals_90_hold"]
    assert held.of == 1200
    assert (held.share, held.low, held.high) == pytest.approx((0.9, 0.84, 0.96), abs=0.002)
    few = found["sound"]["flagged"]  # 0 of 100: by Clopper and Pearson 1 - 0.025^(1/100)
    assert (few.share, few.low, few.high) == pytest.approx((0.0, 0.0, 0.0362), abs=1e-4)


def test_what_was_studied_is_kept_and_other_sources_are_not_mixed_in(tmp_path):
    path = tmp_path / "cars.jsonl"
    Kept(path).keep(case_of("", 0.1, 0.5, True, seed=3))
    Kept(path).keep(case_of("lag", 0.2, 0.5, False, seed=4))
    with path.open("a") as file:
        file.write('{"seed": 5, "fau')  # the plug was pulled
    Kept(path).keep(case_of("slip", 0.2, 0.5, True, seed=6))
    again = Kept(path)
    assert [*again.cases] == [(3, ""), (4, "lag"), (6, "slip")]
    assert again.cases[3, ""] == case_of("", 0.1, 0.5, True, seed=3)
    path.write_text(path.read_text().replace(sources(), "c0ffee", 1))
    other = Kept(path)
    assert [*other.cases] == [(4, "lag"), (6, "slip")]
    assert other.others == 1


@pytest.mark.timeout(900)
def test_the_command_goes_on_where_it_was_stopped(tmp_path, capsys):
    path = tmp_path / "cars.jsonl"
    Kept(path).keep(case_of("", 0.1, 0.5, True, seed=3))
    words = ["--cars", "1", "--faulty", "0", "--first", "3", "--into", str(path)]
    assert main(words) == 0
    shown = capsys.readouterr()
    assert "1 cars are there" in shown.err
    assert "intervals_90_hold" in shown.out
    assert len(path.read_text().splitlines()) == 1
