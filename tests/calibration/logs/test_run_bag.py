"""A bag as a run: what its commands ask for beyond the vehicle is told."""

import pytest

from calibration.logs.run_bag import read_run_bag
from host_bridge.cli.main import main
from host_bridge.config import load_vehicle


@pytest.fixture(scope="module")
def bag(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bag")
    words = ["sim://f1tenth", "--lockstep", "--input", "script:slalom", "--seconds", "2"]
    assert main(["drive", *words, "--speed", "1.5", "--record", str(folder / "d.mcap")]) == 0
    assert main(["log", str(folder / "d.mcap"), "--ros", str(folder / "bag.mcap")]) == 0
    return folder / "bag.mcap"


def test_commands_beyond_the_vehicle_are_told_and_those_within_are_not(bag, capsys):
    capsys.readouterr()
    read_run_bag(bag, load_vehicle("f1tenth"))
    assert capsys.readouterr().err == ""
    slow = load_vehicle("nigel")  # whose top speed is a fraction of that
    assert slow.speed_max_mps < 1.5
    run = read_run_bag(bag, slow)
    told = capsys.readouterr().err
    assert "commands in bag.mcap ask for more than" in told
    assert "the most of nigel; they are taken as that" in told
    assert run.commands.value_norm.max() == 1.0
