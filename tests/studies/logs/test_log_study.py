"""The study of logs: one car whole, what the shares are shares of, and what is kept."""

import numpy as np
import pytest

from tests.studies.logs.log_cars import KINDS, drive_logs, logged_car
from tests.studies.logs.log_study import NAMES, Kept, LogCase, Told, lines, main, plain, summary


@pytest.mark.fit
def test_a_car_that_cameras_saw_is_found(capsys):
    assert main(["--cars", "1", "--kinds", "motion capture", "--show"]) == 0
    shown = capsys.readouterr().out
    assert "steer_gain_left" in shown
    assert "not told: no gyro, and how late its poses are told is not in it" in shown
    assert "motion capture (1)" in shown


@pytest.mark.fit
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_log_has_what_it_is_named_for(kind):
    made = logged_car(3, kind)
    traces = drive_logs(made, 3, 4.0)
    assert len(traces) == KINDS[kind].floors
    for trace in traces:
        assert trace.inertial.is_present == KINDS[kind].has_gyro
        assert trace.places.is_present != KINDS[kind].has_gyro
        assert trace.travel.is_present == KINDS[kind].has_wheels
        assert np.ptp(trace.steering.values[0]) > 0.05
    assert len(made.truths("understeer_s2_per_m2")) == KINDS[kind].floors
    assert made.vehicle().plant["drive"]["driven"] == KINDS[kind].driven


def case_of(seed, kind, level, told=NAMES):
    rows = {name: Told([0.0], 0.0, 0.0, 0.0, level) for name in told}
    silent = {name: "no gyro" for name in NAMES if name not in told}
    return LogCase(seed, kind, rows, silent, 1.0)


def test_silence_counts_as_wrong_only_where_the_drive_suffices():
    kind = "motion capture"
    needed = [name for name in NAMES if name in KINDS[kind].tells]
    cases = [case_of(0, kind, 0.5, needed), case_of(1, kind, 0.5, needed[1:])]
    row = summary(cases)[kind]
    assert row["hold"].share == 1.0
    assert row["told"].share == row["right"].share == pytest.approx(1 - 0.5 / len(needed))
    bad = summary([case_of(0, kind, 0.5), case_of(1, kind, 0.95)])
    assert bad[kind]["hold"].share == 0.5
    assert any(kind in line for line in lines(bad))


def test_what_was_studied_is_kept_and_goes_on(tmp_path, capsys):
    path = tmp_path / "logs.jsonl"
    Kept(path).add(plain(case_of(3, "no gyro", 0.2)))
    assert Kept(path).cases[3, "no gyro"] == case_of(3, "no gyro", 0.2)
    assert main(["--cars", "1", "--first", "3", "--kinds", "no gyro", "--into", str(path)]) == 0
    assert "1 logs are there" in capsys.readouterr().err
    assert len(path.read_text().splitlines()) == 1
