"""A car that was configured from a file of one's own stays known to this host, from any folder."""

import json
from pathlib import Path

import pytest

from host_bridge.cli.main import main
from host_bridge.config import load_vehicle, vehicle_word
from host_bridge.config.store.origins import Origins
from host_bridge.core.errors import DataFileFault, VehicleFileFault
from tests.host_bridge.cli.programs import serving, tandem, until, virtual_car

SLASH = 'base = "f1tenth"\ntitle = "Our Slash"\n\n[limits]\nspeed_max_mps = 4.0\n'
BOARD = bytes(range(8))


@pytest.fixture
def slash(tmp_path, monkeypatch):
    """A vehicle file of one's own, named from its folder as people do."""
    folder = tmp_path / "mine"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    Path("slash.toml").write_text(SLASH)
    return folder / "slash.toml"


def test_a_file_is_found_by_its_path_unless_tandem_brings_that_very_file_along(slash):
    assert vehicle_word(load_vehicle("./slash.toml")) == str(slash)
    assert vehicle_word(load_vehicle("f1tenth")) == "f1tenth"
    assert vehicle_word(load_vehicle(load_vehicle("f1tenth").path)) == "f1tenth"
    Path("f1tenth.toml").write_text(Path(load_vehicle("f1tenth").path).read_text())
    assert vehicle_word(load_vehicle("./f1tenth.toml")) == str(slash.with_name("f1tenth.toml"))


def test_the_newest_configurations_of_a_board_are_kept(tmp_path):
    origins = Origins(tmp_path)
    for number in range(20):
        origins.keep(BOARD, bytes([number, 0, 0, 0]), f"/cars/{number}.toml")
    kept = json.loads((tmp_path / f"{BOARD.hex()}.json").read_text())
    assert list(kept.values()) == [f"/cars/{number}.toml" for number in range(4, 20)]


@pytest.mark.parametrize("text", ["[1]", '{"00000000": 5}', "nonsense"])
def test_what_cannot_be_read_is_named(tmp_path, text):
    (tmp_path / f"{BOARD.hex()}.json").write_text(text)
    with pytest.raises(DataFileFault, match=BOARD.hex()):
        Origins(tmp_path).keep(BOARD, bytes(4), "/cars/slash.toml")


def test_an_origin_that_cannot_be_kept_leaves_the_car_as_it_was(slash, monkeypatch, capsys):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(slash / "data"))  # within a file
    words = ["config", "write", "sim://nigel", "--vehicle", "./slash.toml"]
    assert main(words) == DataFileFault.exit_code
    assert "cannot be kept; the car is as it was" in capsys.readouterr().err


@pytest.mark.process
def test_what_was_written_by_a_relative_path_is_known_in_every_folder(slash, tmp_path, monkeypatch):
    port = tmp_path / "port"
    with virtual_car("f1tenth", port):
        uri = f"serial://{port}"
        written = tandem("config", "write", uri, "--vehicle", "./slash.toml", "--name", "red")
        assert written.returncode == 0, written.stderr
        monkeypatch.chdir(tmp_path)
        trimmed = tandem("trim", "--car", uri, "steering=5")
        assert trimmed.returncode == 0, trimmed.stderr
        kept = tandem("backup", "--car", uri, "red.json")
        assert kept.returncode == 0, kept.stderr
        assert json.loads(Path("red.json").read_text())["vehicle_file"] == str(slash)
        restored = tandem("restore", "--car", uri, "red.json")
        assert restored.returncode == 0, restored.stderr
        shown = json.loads(tandem("config", "show", uri, "--json").stdout)
        assert shown["vehicle"] == "slash"
        slash.write_text(SLASH.replace("4.0", "3.0"))
        changed = tandem("trim", "--car", uri)
        assert changed.returncode == VehicleFileFault.exit_code
        assert "has changed since" in changed.stderr
        assert f"config write {uri} --vehicle {slash}" in changed.stderr
        slash.unlink()
        assert "is gone" in tandem("trim", "--car", uri).stderr


def states() -> dict[str, str]:
    listed = tandem("cars", "--json")
    assert listed.returncode == 0, listed.stderr
    return {row["name"]: row["state"] for row in json.loads(listed.stdout)}


@pytest.mark.process
def test_a_served_car_whose_file_is_gone_blinds_nobody(slash, tmp_path, monkeypatch):
    port = tmp_path / "port"
    with (
        virtual_car("f1tenth", port),
        serving(f"serial://{port}", "ours", "--vehicle", "./slash.toml"),
        serving("sim://nigel", "theirs"),
    ):
        monkeypatch.chdir(tmp_path)
        rows = {row["name"]: row for row in json.loads(tandem("cars", "--json").stdout)}
        assert rows["ours"]["vehicle"] == str(slash)
        slash.unlink()
        until(lambda: states() == {"ours": "STANDBY", "theirs": "STANDBY"}, "both cars to stand by")
        assert tandem("stop", "ours").returncode == 0
