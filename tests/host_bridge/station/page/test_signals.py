"""The signals that plots may show: each is a number of a car's row, in words and with a unit."""

from __future__ import annotations

import csv
import io
from types import SimpleNamespace

from host_bridge.cars.car import ConnectedCar
from host_bridge.core.errors import DeviceFault
from host_bridge.link.protocol.connection import Connection
from host_bridge.link.protocol.wire import own_protocol_hash
from host_bridge.sharing.open_car import OpenCar
from host_bridge.station.views import charts
from host_bridge.station.views.car_row import car_row
from host_bridge.station.views.signals import SIGNALS, board_row, signal_row
from tests.host_bridge.drive.drives import Drive, Rig
from tests.support.evidence import every

FROM_THE_VIEW = {"age_ms", "loss_percent", "clock_bound_ms"}  # known to who watches, not to the car


def unheard() -> ConnectedCar:
    return ConnectedCar("car", Connection(own_protocol_hash(), None), None)


def test_each_signal_is_in_the_row_of_a_car_that_reports():
    drive = Drive(Rig("a"))
    drive.bind()
    drive.advance(0.5)
    car = drive.rigs[0].car
    row = car_row(car, 0, 0, "")
    told = {**row, **row["signals"]}
    assert every(it.key in told for it in SIGNALS if it.key not in FROM_THE_VIEW)
    assert every(isinstance(told[it.key], int | float | None) for it in SIGNALS if it.key in told)


def test_of_a_car_that_is_away_its_tile_says_why_without_its_address():
    fault = DeviceFault("nobody serves it", where="tandem:///red", remedy="see: tandem cars")
    away = SimpleNamespace(is_online=lambda: False, stranger="", mismatch=None)
    opened = SimpleNamespace(car=away, line_fault=fault)
    opened._why_offline = lambda: OpenCar._why_offline(opened)
    assert OpenCar.why_offline.fget(opened).startswith("tandem:///red: nobody serves it\n")
    why = OpenCar.offline_sentences.fget(opened)
    assert car_row(unheard(), None, 0, why)["why"] == "Nobody serves it. See: tandem cars."
    away.is_online = lambda: True
    assert OpenCar.offline_sentences.fget(opened) == OpenCar.why_offline.fget(opened) == ""


def test_what_a_board_says_of_its_parts_and_nothing_of_those_that_it_has_not():
    drive = Drive(Rig("a"))
    drive.bind()
    drive.advance(2.0)
    parts = board_row(drive.rigs[0].car)
    assert (parts["has_imu"], parts["rc"], parts["vesc"]) == (True, None, None)
    assert parts["beat_ms"] == 10.0
    assert set(
        board_row(ConnectedCar("car", Connection(own_protocol_hash(), None), None)).values()
    ) == {None}


def test_each_has_words_and_a_unit_of_its_own():
    assert len({(it.words, it.unit) for it in SIGNALS}) == len(SIGNALS) > 20
    assert every(it.words and it.unit for it in SIGNALS)


def test_what_a_car_does_not_report_is_not_known():
    assert set(
        signal_row(ConnectedCar("car", Connection(own_protocol_hash(), None), None)).values()
    ) == {None}


def test_the_csv_of_plots_has_a_row_for_each_point_that_is_drawn():
    plot = charts.options("speed", "m/s", charts.NIGHT)
    plot["series"] = [charts.line("red, its twin", [[-0.1, 1.5], [0.0, 1.6]], "#fff", "solid")]
    rows = list(
        csv.reader(io.StringIO(charts.csv([plot, charts.options("battery", "V", charts.NIGHT)])))
    )
    assert rows == [
        ["plot", "line", "t_s", "value"],
        ["speed, m/s", "red, its twin", "-0.1", "1.5"],
        ["speed, m/s", "red, its twin", "0.0", "1.6"],
    ]


def test_a_map_is_not_zoomed_along_one_of_its_axes():
    assert "dataZoom" in charts.options("speed", "m/s", charts.NIGHT)
    assert "dataZoom" not in charts.options("map", "m", charts.NIGHT, is_map=True)


def test_a_legend_shows_strokes_without_discs():
    """What tells a car from its twin, and a speed from what was asked, is how they are dashed."""
    legend = charts.options("speed", "m/s", charts.NIGHT)["legend"]
    assert legend["itemStyle"] == {"opacity": 0}
    assert legend["itemWidth"] >= 24, "two dashes of a stroke of 2 pixels"
