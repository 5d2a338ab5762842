"""Commands of another time, under a real rclpy: latched ones, clocks that jump, and no clock."""

from __future__ import annotations

from tests.ros.real_ros import IN_REAL_TIME

pytestmark = IN_REAL_TIME
DRIVE = ("drive", "1.0", "0.0", "40")


def is_fast(row):
    return row.get("speed_mps", 0.0) > 0.7


def is_ready(row):
    return row.get("phase") == "driving"


def is_stopped(row):
    return row.get("phase") == "stopped"


def stands(ros, words: str, rows: int = 15) -> bool:
    """Whether the program says this and the car stands through so many rows."""
    row = ros.until(lambda row: is_stopped(row) or (is_ready(row) and words in row["program"]))
    assert not is_stopped(row), row  # a starved machine lets a lease run out: no hang, then
    return {ros.until(is_ready)["speed_mps"] for _ in range(rows)} == {0.0}


def test_what_was_latched_before_the_start_is_not_heard(nodes, started):
    nodes("talker", *DRIVE, "latched", "once")
    assert stands(started(), "Nothing comes on")


def test_a_latched_command_that_is_heard_counts_for_nothing_until_a_second_one(nodes, started):
    ros = started()
    ros.until(is_ready)
    nodes("talker", *DRIVE, "latched", "once", "found")
    assert stands(ros, "One command came on drive; the second one counts.")
    nodes("talker", *DRIVE, "latched", "found")  # as Autoware's gate does it, over and over
    ros.until_it_drives(is_fast, nodes)


def test_latched_commands_of_two_that_come_at_once_move_nothing(nodes, started):
    """Each waits for late comers with a command of its own: together they are no second one."""
    for topic in ("drive", "teleop"):
        nodes("talker", topic, "1.0", "0.0", "40", "latched", "once")
    assert stands(started(), "Nothing comes on")


def test_use_sim_time_without_a_clock_drives_by_receipt_alone(nodes, started):
    """Such a node's stamps are 0: they say nothing, and silence is a stop all the same."""
    ros = started()
    talker = nodes("talker", *DRIVE, "sim_time")
    ros.until_it_drives(is_fast, nodes)
    talker.kill()
    ros.until(lambda row: row.get("state") == "STOPPED")


def test_a_clock_that_begins_while_a_node_drives_stops_the_car(nodes, started):
    """From then on its stamps are of another time than the machine's."""
    ros = started()
    nodes("talker", *DRIVE, "sim_time")
    ros.until_it_drives(is_fast, nodes)
    nodes("clock", "100", "1000", "0")
    row = ros.until(lambda row: row.get("state") == "STOPPED")
    assert row["speed_mps"] < 1.2
    row = ros.until(lambda row: row.get("speed_mps") == 0.0)


def test_a_clock_that_jumps_moves_nothing(nodes, started):
    ros = started()
    nodes("clock", "100", "0.5", "50")
    nodes("talker", *DRIVE, "sim_time", "found")
    assert stands(ros, "A command on drive was refused: it was", rows=30)


def test_somebody_else_s_clock_changes_nothing_for_a_node_that_has_the_machine_s(nodes, started):
    ros = started()
    nodes("clock", "100", "0.2", "50")
    nodes("talker", *DRIVE)
    ros.until_it_drives(is_fast, nodes)
