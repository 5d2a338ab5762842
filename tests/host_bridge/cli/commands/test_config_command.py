"""``tandem vehicles`` shows what the files say, and refuses a wrong one as loading does."""

import argparse
import json
import re
from pathlib import Path

import pytest

from host_bridge import config
from host_bridge.cli.commands import vehicles
from host_bridge.core import Cause
from host_bridge.core.errors import VehicleFileFault
from host_bridge.core.texts.table import stop_source_word
from host_bridge.sharing.services import make_host


def printed(capsys, *arguments):
    parser = argparse.ArgumentParser()
    vehicles.add_arguments(parser)
    assert vehicles.run(parser.parse_args(arguments), make_host()) == 0
    return capsys.readouterr().out


def test_the_list_names_each_type_with_its_speed_and_sources(capsys):
    lines = printed(capsys).splitlines()
    assert len(lines) == 1 + len(config.vehicle_names())
    nigel = next(line for line in lines if line.strip().startswith("nigel"))
    assert "Nigel 4WD4WS" in nigel
    assert "0.44 m/s" in nigel
    assert "pad, driver's seat, terminal, program, ROS 2, Devkit script, guest" in nigel


def test_one_in_full_shows_every_source_channel_and_stop_cause_with_units(capsys):
    text = printed(capsys, "f1tenth")
    vehicle = config.load_vehicle("f1tenth")
    for word in (
        *(Cause[name.upper()].word for name in vehicle.stop_policies),
        *(stop_source_word(source.name) for source in vehicle.stop_sources),
        *(source.name for source in vehicle.stop_sources),
        *(source.name for source in vehicle.sources),
        vehicle.path,
    ):
        assert word in text
    for source in vehicle.sources:
        assert f"{source.lease_s * 1e3:g} ms" in text
        assert f"{source.speed_cap_mps:g} m/s" in text
    assert "1686 us full right to 1184 us full left" in text
    assert "that of seat" in text


def test_sources_are_shown_with_the_winner_first(capsys):
    text = printed(capsys, "nigel")
    assert (
        text.index("gamepad ") < text.index("seat ") < text.index("script ") < text.index("ros2 ")
    )


def test_json_is_the_whole_vehicle(capsys):
    shown = json.loads(printed(capsys, "nigel", "--json"))
    assert shown["wheelbase_m"] == 0.14155
    assert shown["parameters"]["step_us"] == [10_000]
    assert shown["sources"][1]["name"] == "seat"
    names = [v["name"] for v in json.loads(printed(capsys, "--json"))]
    assert names == list(config.vehicle_names())


def test_one_in_full_is_a_file_of_its_own_that_says_where_each_value_is_from(capsys, tmp_path):
    text = printed(capsys, "f1tenth")
    lines = text.splitlines()
    assert any(
        line.split() == ["speed_max_mps", "=", "7.0", "#", "f1tenth.toml:14"] for line in lines
    )
    assert any(re.fullmatch(r"frozen_s = 0.2 +# car.toml:\d+", line) for line in lines)
    assert any(line.endswith("hardware/vehicles/bases/rc_car.toml") for line in lines)
    path = tmp_path / "copied.toml"
    path.write_text(text[text.index("# the vehicle file") :])
    copied, its = config.load_vehicle(str(path)), config.load_vehicle("f1tenth")
    assert (copied.parameters, copied.plant) == (its.parameters, its.plant)


def test_json_says_where_each_value_is_from(capsys):
    values = json.loads(printed(capsys, "f1tenth", "--json"))["values"]
    found = {value["key"]: (Path(value["file"]).name, value["value"]) for value in values}
    assert found["limits.speed_max_mps"] == ("f1tenth.toml", 7.0)
    assert found["stop.frozen_s"] == ("car.toml", 0.2)
    assert found["channels.1.kind"] == ("f1tenth.toml", "esc")


def test_a_file_with_a_mistake_is_refused_with_its_line(capsys, tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text("[geometry]\nwheelbase = 0.3\n")
    with pytest.raises(VehicleFileFault):
        printed(capsys, str(path))
    assert capsys.readouterr().out == ""
