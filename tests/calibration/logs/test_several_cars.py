"""A calibration is of one car, and a car is its board: logs of two are not put together."""

from __future__ import annotations

import io

import pytest

from calibration.logs.trace import DriveTrace, refuse_several_cars
from calibration.logs.trace_tandem import read_tandem_log
from host_bridge.config import load_vehicle
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.clock import ManualClock
from host_bridge.logs.recorder import Recorder

ONE, OTHER = "01" * 8, "02" * 8


def trace_of(file, board_id):
    return DriveTrace(file, "", "", "nigel", board_id=board_id)


def test_logs_of_two_boards_are_refused_and_each_is_named():
    with pytest.raises(UsageFault) as wrong:
        refuse_several_cars([trace_of("a", ONE), trace_of("b", ""), trace_of("c", OTHER)])
    assert wrong.value.got == f"a: board {ONE}, c: board {OTHER}"


def test_logs_of_one_board_and_those_that_do_not_say_are_put_together():
    refuse_several_cars([trace_of("a", ONE), trace_of("b", ""), trace_of("c", ONE)])
    refuse_several_cars([])


@pytest.mark.parametrize("facts", [{"board_id": ONE}, {}])
def test_a_log_says_of_which_board_it_is(tmp_path, facts):
    path = tmp_path / "drive.mcap"
    stream = io.BytesIO()
    log = Recorder(stream, ManualClock(), 0, {})
    log.car("red", {"vehicle": "nigel", **facts})
    status = {"state": "ACTIVE", "brake": 0, "steer_rad": 0.0, "target_mps": 0.5}
    motion = {"count_left": 0, "count_right": 0, "accel_x_mps2": 0.0, "accel_y_mps2": 0.0}
    for time_us in (1000, 2000):
        log.message("red", "status", {"time_us": time_us, **status}, time_us)
        moved = {"captured_us": time_us, "yaw_rate_radps": 0.0, **motion}
        log.message("red", "motion", moved, time_us)
    stream.close = lambda: None
    log.close()
    path.write_bytes(stream.getvalue())
    assert read_tandem_log(path, "red", load_vehicle("nigel")).board_id == facts.get("board_id", "")
