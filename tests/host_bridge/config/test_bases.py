"""A vehicle file may take over another one, and say only what differs."""

from pathlib import Path

import pytest

from host_bridge.config import load_vehicle, vehicle_names
from host_bridge.config.vehicle.bases import FOLDER, base_names
from host_bridge.core.errors import VehicleFileFault
from tests.support.evidence import every


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def written(name: str, text: str) -> str:
    path = Path(name)
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(text)
    return f"./{name}"


def refusal(text: str) -> VehicleFileFault:
    with pytest.raises(VehicleFileFault) as caught:
        load_vehicle(written("my_car.toml", text))
    return caught.value


def origin_of(vehicle, key: str) -> tuple[str, int]:
    value = next(value for value in vehicle.values if value.key == key)
    return Path(value.file).name, value.line


@pytest.mark.parametrize("name", vehicle_names())
def test_a_file_that_says_nothing_but_its_base_is_that_car(name):
    mine, its = load_vehicle(written("my_car.toml", f'base = "{name}"\n')), load_vehicle(name)
    assert mine.name == "my_car"
    assert (mine.parameters, mine.plant, mine.channels) == (its.parameters, its.plant, its.channels)
    assert mine.sources == its.sources
    assert mine.title == its.title


def test_what_a_file_says_itself_comes_before_its_base():
    text = 'base = "f1tenth"\ntitle = "Mine"\n\n[limits]\nspeed_max_mps = 5.0\n'
    mine, its = load_vehicle(written("my_car.toml", text)), load_vehicle("f1tenth")
    differ = [name for name in its.parameters if mine.parameters[name] != its.parameters[name]]
    assert differ == ["speed_max_mm_s"]
    assert mine.speed_max_mps == 5.0
    assert origin_of(mine, "limits.speed_max_mps") == ("my_car.toml", 5)
    assert origin_of(mine, "limits.accel_mps2")[0] == "f1tenth.toml"
    assert origin_of(mine, "stop.policies.runstop_loop")[0] == "car.toml"


def test_channels_are_taken_whole():
    esc = '\n[[channels]]\nname = "drive"\nkind = "esc"\nreverse_us = 1000\nneutral_us = 1500\n'
    mine = load_vehicle(written("my_car.toml", f'base = "f1tenth"\n{esc}forward_us = 2000\n'))
    assert [channel["kind"] for channel in mine.channels] == ["esc"]


def test_a_base_is_found_by_its_path_from_the_file_that_names_it():
    written("cars/shared/mine.toml", 'base = "f1tenth"\n[limits]\nspeed_max_mps = 5.0\n')
    path = written("cars/my_car.toml", 'base = "shared/mine.toml"\n[limits]\naccel_mps2 = 1.0\n')
    mine = load_vehicle(path)
    assert mine.speed_max_mps == 5.0
    assert mine.parameters["accel_mm_s2"] == [1000]


def test_a_file_without_its_bases_receiver():
    text = 'base = "f1tenth"\nwithout = ["rc", "sources.rc", "stop.sources.rc"]\n'
    mine = load_vehicle(written("my_car.toml", text))
    assert not mine.has_rc
    assert "rc" not in [source.name for source in (*mine.sources, *mine.stop_sources)]


def test_a_mistake_is_told_where_it_is_written():
    fault = refusal('base = "f1tenth"\n\n[limits]\nsteer_max_rad = 0.6\n')
    assert "f1tenth.toml:" in fault.where  # its points do not reach so far
    assert "my_car.toml:4" in fault.remedy
    fault = refusal('base = "f1tenth"\n\n[limits]\nspeed_max_kmh = 20\n')
    assert fault.where.endswith("my_car.toml:4, limits.speed_max_kmh")


def test_a_key_that_no_file_has_is_missed_in_the_one_that_was_asked_for():
    fault = refusal('base = "car"\ntitle = "Mine"\n\n[geometry]\nwheelbase_m = 0.3\n')
    assert "track_m is missing" in fault.what
    assert "my_car.toml:4, geometry.track_m" in fault.where


@pytest.mark.parametrize("name", ["f1tneth", "./nothing.toml", "x" * 300, "a/../b", ""])
def test_a_base_that_there_is_not_is_one_clear_error(name):
    fault = refusal(f'title = "Mine"\nbase = "{name}"\n')
    assert "my_car.toml:2, base" in fault.where
    assert fault.exit_code == 5
    assert "Mine" not in fault.expected
    if name == "f1tneth":
        assert fault.remedy == "did you mean f1tenth?"
        assert ", ".join(base_names()) in fault.expected


@pytest.mark.parametrize("base", ["3", "true", "[]", '["f1tenth"]'])
def test_a_base_that_is_no_name_is_refused(base):
    assert "base cannot be that" in refusal(f"base = {base}\n").what


def test_bases_that_lead_in_a_circle_are_one_clear_error():
    written("second.toml", 'base = "./third.toml"\n')
    written("third.toml", 'base = "./my_car.toml"\n')
    fault = refusal('base = "./second.toml"\n')
    assert fault.where.endswith("third.toml:1, base")
    assert fault.got == "my_car.toml -> second.toml -> third.toml -> my_car.toml"
    fault = refusal('base = "./my_car.toml"\n')
    assert fault.got == "my_car.toml -> my_car.toml"


def test_what_is_left_out_has_to_be_there():
    fault = refusal('base = "f1tenth"\nwithout = ["sources.rx"]\n')
    assert "my_car.toml:2, without" in fault.where
    assert fault.remedy == "did you mean sources.rc?"
    assert "without a base" in refusal('without = ["rc"]\n').what


def test_what_is_a_base_only_is_no_vehicle():
    with pytest.raises(VehicleFileFault) as caught:
        load_vehicle("rc_car")
    assert "no car by itself" in caught.value.remedy


def test_a_base_has_a_name_of_its_own():
    assert len(set(base_names())) == len(base_names())
    assert set(vehicle_names()) < set(base_names())


def test_the_readme_names_every_base():
    text = (FOLDER / "README.md").read_text()
    assert every(f"`{name}`" in text for name in base_names())
