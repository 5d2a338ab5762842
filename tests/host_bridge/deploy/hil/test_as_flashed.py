"""A car measured by its own reports, one drive of which it does not finish."""

from types import SimpleNamespace

import pytest

from host_bridge.deploy.hil import as_flashed
from host_bridge.deploy.hil.host.paced_car import NotDriving, PacedCar
from host_bridge.deploy.hil.report.limits import LIMITS
from tests.host_bridge.deploy.hil.virtual_bench import VirtualBench


def rows_of_car_that_stops_with(sources, monkeypatch):
    drive_for = PacedCar.drive_for

    def driven(self, seconds, count):
        if count == sources:
            self.halt()
            raise NotDriving("it stopped by itself")
        return drive_for(self, seconds, count)

    monkeypatch.setattr(PacedCar, "drive_for", driven)
    with VirtualBench().car(0) as car:
        car.connect()
        rows = {row.what: row for row in as_flashed.measure(car, 0.5)}
        assert car.host.status.causes == 0  # cleared for the next part
    return {key: rows[LIMITS[key].what] for key in as_flashed.DRIVING_KEYS}


@pytest.mark.parametrize(
    ("sources", "lacking"),
    [
        (0, set()),
        (4, {"beats_4"}),
        (1, {"step_longest", "frames_damaged", "beats_1", "beats_4", "stop_driving"}),
    ],
)
def test_a_drive_that_a_car_does_not_finish_costs_only_the_rows_after_it(
    sources, lacking, monkeypatch
):
    rows = rows_of_car_that_stops_with(sources, monkeypatch)
    assert {key for key, row in rows.items() if not row.holds} == lacking
    assert {key for key, row in rows.items() if "it stopped by itself" in row.how} == lacking


def judged_with_four_sources(beat_ms, missed):
    found = {"seconds": 60.0, "missed": missed}
    car = SimpleNamespace(step_us=round(beat_ms * 1000), drive_for=lambda *_: found)
    (row,) = as_flashed._driven(car, 60.0, 4, "beats_4")
    return row


def test_a_period_below_20_ms_is_promised_for_one_source_and_told_for_four():
    told = judged_with_four_sources(10, 954)
    assert (told.holds, told.got, told.aim) == (True, "954 beats", "0 beats")
    assert told.must == "any number of beats"
    assert "for one source" in told.how
    assert judged_with_four_sources(20, 0).holds
    missed = judged_with_four_sources(20, 1)
    assert not missed.holds
    assert missed.must == "0 beats"
    assert "for one source" not in missed.how
