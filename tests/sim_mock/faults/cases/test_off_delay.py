"""Braked first, then cut: shorter where the brake acts, and never worse than a cut by much."""

from dataclasses import replace

import pytest

from host_bridge.config import load_vehicle, vehicle_names
from sim_mock.faults.cases.catalogue import CASES, case_of
from sim_mock.faults.running import run, run_case

DELAYED = [case for case in CASES if case.needs == "off-delay"]
VEHICLES = [name for name in vehicle_names() if DELAYED[0].fits(load_vehicle(name))]
WORSE_S = 0.15  # of the speed that it had
BRAKED_SHARE = 0.35  # of a cut's metres


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", DELAYED, ids=[case.id for case in DELAYED])
@pytest.mark.parametrize("name", VEHICLES)
def test_no_row_is_worse_than_a_cut_by_more_than_a_moment(name, case):
    vehicle = load_vehicle(name)
    delayed = run_case(case, vehicle, 0)
    cut = run_case(replace(case, changes={}, coasts=True), vehicle, 0)
    assert delayed.wrong == cut.wrong == ()
    assert delayed.speed_mps == cut.speed_mps
    assert delayed.distance_m < cut.distance_m + WORSE_S * cut.speed_mps + 0.002
    if not case.coasts:
        assert delayed.distance_m < BRAKED_SHARE * cut.distance_m


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("case_id", ["delayed-no-brake", "delayed-then-hangs", "delayed-bounces"])
def test_whatever_the_moment_it_is_no_worse(case_id, seed):
    case, vehicle = case_of(case_id), load_vehicle("f1tenth")
    delayed = run_case(case, vehicle, seed)
    cut = run_case(replace(case, changes={}, coasts=True), vehicle, seed)
    assert delayed.wrong == cut.wrong == ()
    assert delayed.distance_m < cut.distance_m + WORSE_S * cut.speed_mps


def test_no_vehicle_file_brakes_before_it_is_cut_until_somebody_has_measured_it():
    names = vehicle_names()
    assert len(names) > 5
    assert {load_vehicle(name).parameters["loop_brake_ms"][0] for name in names} == {0}


def test_a_file_of_its_own_may(tmp_path):
    cap = "[profiles.track]\nspeed_cap_mps = 4.0\n"
    accepted = '[accepted_coast]\ndistance_m = 15.5\nreason = "an empty hall"\n'
    delayed, plain = tmp_path / "mine.toml", tmp_path / "plain.toml"
    plain.write_text(f'base = "f1tenth"\n{cap}{accepted}')
    delayed.write_text('base = "./plain.toml"\n[stop]\nloop_brake_s = 0.6\n')
    mine = load_vehicle(str(delayed))
    assert mine.parameters["loop_brake_ms"] == [600]
    result = run_case(replace(case_of("delayed-opens"), changes={}), mine, 0)
    assert result.wrong == ()
    assert 0.5 < result.distance_m < 1.2
    assert run("runstop-opens", load_vehicle(str(plain)), 0).distance_m > 8.0
