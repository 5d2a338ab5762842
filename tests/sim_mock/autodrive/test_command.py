"""Every scene finds what it reads, in its language; nothing moves before that is known."""

from math import cos, sin

import pytest

from sim_mock.autodrive import wire
from sim_mock.autodrive.command import (
    Scenery,
    ScriptCommand,
    VehicleAnswer,
    VehicleCommand,
    decimal,
    read_script_command,
    write_answer,
    write_command,
)
from tests.sim_mock.autodrive.unity import READS, Unity

COMMAND = VehicleCommand(0.05, -0.25, 1.5, -0.5)


def told(unity, command=COMMAND, mark=".", is_reset=False):
    unity.on_text(
        wire.write_bridge(write_answer({1: VehicleAnswer(command, is_reset)}, mark, Scenery()))
    )
    assert unity.swallowed == []
    return unity.told


@pytest.mark.parametrize("mark", [".", ","])
@pytest.mark.parametrize("vehicle", READS)
def test_every_scene_finds_all_its_keys_and_reads_what_was_meant(vehicle, mark):
    read = told(Unity(vehicle, mark), mark=mark)
    expected = {
        "V1 Throttle": 0.05, "V1 Steering": -0.25, "V1 Brake": 0.0, "V1 Handbrake": 0.0,
        "V1 Linear Velocity": 1.5, "V1 Angular Velocity": -0.5, "V1 CoSim": 0, "V1 Reset": False,
        "Weather": 1, "Time": 720.0,
    }  # fmt: skip
    assert {key: expected[key] for key in read if key in expected} == {
        key: read[key] for key in read if key in expected
    }


@pytest.mark.parametrize("missing", READS["opencav"])
def test_a_key_less_and_the_scene_stalls(missing):
    keys = write_answer({1: VehicleAnswer(COMMAND)}, ".", Scenery())
    del keys[missing]
    unity = Unity("opencav")
    assert unity.on_text(wire.write_bridge(keys)) is None
    assert len(unity.swallowed) == 1


def test_a_point_would_be_read_as_thousands_where_a_comma_is_meant():
    """Why the mark matters: 5 % of throttle would be all of it."""
    assert told(Unity("nigel", ","), mark=".")["V1 Throttle"] == 500.0


@pytest.mark.parametrize("mark", [".", ","])
def test_until_the_mark_is_known_nothing_moves_and_the_brake_is_on(mark):
    read = told(Unity("opencav", mark), VehicleCommand(1.0, 1.0, 9.0, 9.0), mark=None)
    assert (read["V1 Throttle"], read["V1 Steering"], read["V1 Brake"]) == (0.0, 0.0, 1.0)
    assert set(told(Unity("hunter_se_twist", mark), COMMAND, mark=None).values()) <= {0}


def test_the_brake_is_on_when_the_throttle_is_not():
    assert told(Unity("opencav"), VehicleCommand(0.0, 0.5))["V1 Brake"] == 1.0
    assert told(Unity("opencav"), VehicleCommand(-0.1, 0.5))["V1 Brake"] == 0.0


def test_a_reset_is_a_word():
    assert told(Unity("f1tenth"), is_reset=True)["V1 Reset"] is True


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (-0.0, "0"), (-1e-9, "0"), (1.0, "1.0000"), (-0.25, "-0.2500")]
)
def test_decimals_are_plain(value, text):
    assert decimal(value, ".") == text


def test_what_is_written_is_read_again():
    assert read_script_command(
        write_command(VehicleCommand(0.05, -0.25), ".", False)
    ) == ScriptCommand(0.05, -0.25)
    assert read_script_command(write_command(VehicleCommand(0.0, 1.0), ".", True)) == ScriptCommand(
        0.0, 1.0, 1.0, 1.0, is_reset=True
    )


def test_a_share_is_cut_as_the_simulator_cuts_it():
    keys = {"V1 Throttle": "-7", "V1 Steering": 1e9, "V1 Brake": "-1", "V1 Handbrake": "3"}
    asked = read_script_command(keys)
    assert asked == ScriptCommand(-1.0, 1.0, 0.0, 1.0)
    assert asked.pulled == 1.0


STILL = {"V1 Throttle": "0", "V1 Steering": "0"}


@pytest.mark.parametrize(("word", "is_reset"), [("True", True), ("true", True), ("False", False),
                                                ("1", False), ("", False)])  # fmt: skip
def test_a_reset_is_asked_for_by_the_word_that_the_simulator_reads(word, is_reset):
    assert read_script_command({**STILL, "V1 Reset": word}).is_reset is is_reset
    assert read_script_command(STILL).is_reset is False


def test_a_script_that_moves_the_vehicle_itself_says_where():
    half = 0.5 * 0.6
    place = {
        "V1 PosX": "1.5", "V1 PosY": "-2", "V1 PosZ": "0", "V1 RotX": "0", "V1 RotY": "0",
        "V1 RotZ": f"{sin(half)}", "V1 RotW": f"{cos(half)}",
    }  # fmt: skip
    assert read_script_command({**STILL, **place, "V1 CoSim": "1"}).pose == pytest.approx(
        (1.5, -2.0, 0.6)
    )
    assert read_script_command({**STILL, **place, "V1 CoSim": "0"}).pose is None
    assert read_script_command({**STILL, **place, "V1 CoSim": "1", "V1 PosX": "nan"}).pose is None
    assert read_script_command({**STILL, "V1 CoSim": "1"}).pose is None


def test_the_states_of_signals_are_whole_numbers():
    asked = read_script_command({**STILL, "TL1 State": "2", "TL2 State": "red", "TL5 State": "1"})
    assert asked.signals == {"TL1 State": "2"}
