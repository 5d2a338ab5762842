"""Files of a run: what is wrong in them is said with file and line."""

import hashlib

import numpy as np
import pytest

from calibration.logs.run_csv import read_commands, read_odometry, read_run_csv
from host_bridge.core.errors import DataFileFault
from tests.calibration.drives import TRUTH, made_run, write_run

COMMANDS = "t_s,channel,value_norm\n1.0,throttle,1.0\n1.1,steering,0.2\n"
ODOMETRY = "t_s,header_t_s,x_m,y_m,yaw_rad\n0.3,0.1,0,0,3.1\n0.5,0.3,0.1,0.0,-3.1\n"

WRONG_COMMANDS = {
    "a column missing": (COMMANDS.replace("channel", "kanal"), "commands.csv:1"),
    "no rows": ("t_s,channel,value_norm\n", "commands.csv:1"),
    "an unknown channel": (COMMANDS.replace("steering", "horn"), "commands.csv:3"),
    "a value beyond full": (COMMANDS.replace("0.2", "1.2"), "commands.csv:3"),
    "no number": (COMMANDS.replace("1.1", "soon"), "commands.csv:3"),
    "not a finite number": (COMMANDS.replace("1.1", "nan"), "commands.csv:3"),
    "a row cut short": (COMMANDS + "1.2,throttle\n", "commands.csv:4"),
    "time runs backward": (COMMANDS.replace("1.1", "0.9"), "commands.csv:3"),
}


@pytest.mark.parametrize(("text", "where"), WRONG_COMMANDS.values(), ids=WRONG_COMMANDS)
def test_wrong_commands_are_refused_with_their_line(tmp_path, text, where):
    path = tmp_path / "commands.csv"
    path.write_text(text)
    with pytest.raises(DataFileFault) as fault:
        read_commands(path)
    assert fault.value.where == str(path.with_name(where))


def test_a_missing_file_is_a_fault_of_ours(tmp_path):
    with pytest.raises(DataFileFault, match="cannot be read\n  got: No such file"):
        read_odometry(tmp_path / "nothing.csv")


def test_an_odometry_without_poses_before_the_first_command_is_refused(tmp_path):
    commands, odometry = tmp_path / "c.csv", tmp_path / "o.csv"
    commands.write_text(COMMANDS.replace("1.0,throttle", "0.05,throttle"))
    odometry.write_text(ODOMETRY)
    with pytest.raises(DataFileFault, match="begins after the first command"):
        read_run_csv(commands, odometry)


def test_yaw_is_unwrapped_and_the_stamp_is_that_of_the_scan(tmp_path):
    path = tmp_path / "odometry.csv"
    path.write_text(ODOMETRY)
    read = read_odometry(path)
    assert read.t_s.tolist() == [0.1, 0.3]
    assert read.yaw_rad[1] == pytest.approx(2 * np.pi - 3.1)
    assert read.sha256 == hashlib.sha256(ODOMETRY.encode()).hexdigest()


def test_a_run_comes_back_as_it_was_written(tmp_path):
    run = made_run(0.3, TRUTH, seed=1, spread=0.0)
    read = read_run_csv(*write_run(run, tmp_path, "made"))
    assert read.odometry.x_m == pytest.approx(run.odometry.x_m, abs=1e-6)
    assert (read.commands.is_steering == run.commands.is_steering).all()
    assert read.start_pose() == pytest.approx(run.start_pose(), abs=1e-6)
