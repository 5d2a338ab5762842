"""The table of stops: nothing that stops a car is missing from it, and what section of the safety
page and each vehicle file promise in metres holds on the virtual cars."""

import pytest

from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.config.vehicle.vehicle import vehicle_tables
from sim_mock.faults.bounds import stops
from sim_mock.faults.bounds.expectations import EXPECTATIONS, STOPS
from sim_mock.faults.cases import starts
from sim_mock.faults.cases.catalogue import CASES
from sim_mock.faults.running import run
from tests.support.evidence import some

VEHICLES = tuple(vehicle_names())
# Stops that are another case's with a detail changed: the table has that one
ALSO = {
    "stop-at-3": "stranger-stops",
    "stop-flat-out": "stranger-stops",
    "stop-and-clear": "stranger-stops",
    "board-wrap-silence": "total-silence",
    "session-wrap-silence": "total-silence",
    "host-stopped": "total-silence",
    "long-burst": "total-silence",
    "last-setpoint": "total-silence",
    "reverse-at-speed": "total-silence",
    "claims-from-future": "heartbeat-only",
    "claims-too-old": "heartbeat-only",
    "heap-crowded": "total-silence",
    "masquerade-alone": "total-silence",
    "tool-keeps-alive": "total-silence",
    "replay": "total-silence",
    "flood": "total-silence",
    "repeater": "total-silence",
    "too-late": "total-silence",
    "total-corruption": "total-silence",
    "cut-short": "total-silence",
    "deaf-car": "total-silence",
    "clock-jumps-back": "clock-jumps-ahead",
    "clock-unsure": "clock-jumps-ahead",
    "runstop-flickers": "runstop-opens",
    "delayed-hangs-first": "hangs-and-runstop",
    "delayed-hung-before": "program-ends",
    "delayed-bounces": "delayed-opens",
    "delayed-encoders-dead": "delayed-no-brake",
    "delayed-late": "delayed-no-brake",
    "delay-shorted": "delayed-opens",
    "delay-doubled": "delayed-opens",
    "delay-shorted-hangs": "delayed-then-hangs",
    "steering-pulse-stuck": "pulse-stuck",
    "rc-says-failsafe": "rc-silent",
    "rc-mode-stop": "stranger-stops",
    "rc-lets-go": "lets-go",
    "rc-lost-in-race": "rc-silent",
    "box-replayed": "box-silent",
    "box-too-late": "box-silent",
}
MOVING = (
    starts.driving,
    starts.by_rc,
    starts.racing,
    starts.racing_by_rc,
    starts.accelerating,
    starts.before_board_wraps,
    starts.before_session_wraps,
)


def test_every_case_that_stops_a_car_that_moves_is_in_the_table_or_is_one_of_its_kind():
    shown = {cause.case for cause in stops.CAUSES}
    moving = {
        case.id
        for case in CASES
        if case.start in MOVING and EXPECTATIONS[case.expects].does == STOPS
    }
    assert shown <= moving
    assert set(ALSO.values()) <= shown
    assert moving - shown == set(ALSO)


@pytest.mark.parametrize("name", VEHICLES)
def test_each_cause_is_shown_from_the_fastest_that_the_vehicle_may_be_driven_at(name):
    vehicle = load_vehicle(name)
    rows = [*stops.rows(vehicle)]
    caps = {row.case: row.speed_mps for row in rows if row.is_cap}
    fastest_mps = max(vehicle.parameters["profile_cap_mm_s"][1:]) * 1e-3
    assert caps["runstop-opens"] == caps["program-ends"] == fastest_mps
    assert {row.case for row in rows} == set(caps)
    for row in some(rows):
        assert row.speed_mps == stops.USUAL_MPS or row.is_cap


# Section 6 of the safety design, for cars whose drive can: vehicle, case, m/s, at most m
LIMITS = [
    ("f1tenth_vesc", "runstop-opens", 3.0, 1.2),
    ("f1tenth_vesc", "program-ends", 3.0, 2.0),
    ("f1tenth_vesc", "board-resets", 3.0, 4.0),
    ("autorally", "runstop-opens", 5.0, 4.2),
    ("autorally", "program-ends", 5.0, 8.0),
    ("autorally", "board-resets", 5.0, 8.0),
]


@pytest.mark.parametrize(("name", "case", "speed_mps", "most_m"), LIMITS)
def test_a_button_a_hang_and_a_reset_stop_a_car_whose_drive_can_within_metres(
    name, case, speed_mps, most_m
):
    for seed in range(2):
        result = run(case, load_vehicle(name), seed, speed_mps=speed_mps)
        assert result.wrong == ()
        assert result.speed_mps > 0.97 * speed_mps
        assert result.distance_m < most_m


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", ["runstop-opens", "program-ends", "contact-opens"])
@pytest.mark.parametrize("name", VEHICLES)
def test_a_cut_takes_no_more_than_the_vehicle_file_says(name, case):
    """From the cap: v²/2a by its cut_decel_mps2, after what the guard takes."""
    vehicle = load_vehicle(name)
    cap_mps = next(row.speed_mps for row in stops.rows(vehicle) if row.case == case and row.is_cap)
    result = run(case, vehicle, 0, speed_mps=cap_mps)
    assert result.wrong == ()
    stated_m = result.speed_mps**2 / (2.0 * vehicle_tables(name)[1]["stop"]["cut_decel_mps2"])
    assert 0.75 * stated_m < result.distance_m < stated_m + 0.05 * result.speed_mps


UNAIDED = {
    "runstop-opens": "button_m",
    "program-ends": "hang_m",
    "board-resets": "reset_m",
    "power-lost": "power_lost_m",
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", VEHICLES)
@pytest.mark.parametrize("case", UNAIDED)
def test_from_the_default_cap_no_car_goes_farther_than_is_computed_of_its_file(name, case):
    """What make check computes, and the cap follows from, holds on the virtual cars."""
    vehicle = load_vehicle(name)
    result = run(case, vehicle, 0, speed_mps=vehicle.profile_caps_mps[vehicle.profile])
    assert result.wrong == ()
    computed_m = getattr(vehicle.unaided.stop_from(result.speed_mps), UNAIDED[case])
    lag_m = 0.05 * result.speed_mps  # of what is read of the plant, and of K2 letting go
    assert 0.6 * computed_m < result.distance_m < computed_m + lag_m


@pytest.mark.parametrize("name", ["f1tenth", "autorally", "nigel"])
def test_an_encoder_that_dies_does_not_make_the_car_faster(name):
    vehicle = load_vehicle(name)
    row = next(row for row in stops.rows(vehicle) if row.case == "left-encoder-dead")
    result = run(row.case, vehicle, 1, speed_mps=row.speed_mps)
    assert result.wrong == ()
    assert result.fastest_mps < 1.15 * result.speed_mps


def test_without_any_power_every_car_rolls_out():
    """And after that it begins anew, disarmed."""
    result = run("power-lost", load_vehicle("autorally"), 0)
    assert result.wrong == ()
    assert result.distance_m > 8 * result.friction_m
