"""Where nothing can be kept: one error that says whether the car has the value."""

from argparse import Namespace

import pytest

from host_bridge.cli.main import main
from host_bridge.config.store import Pairings
from host_bridge.config.store.pairings import Pairing
from host_bridge.core.errors import DataFileFault
from host_bridge.demo.whole import run_whole
from host_bridge.inputs.gamepad.mapping import PadMapping, PadMappings
from host_bridge.sharing.services import make_host


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A data folder that nobody can make, not root either: it would lie in a file."""
    file = tmp_path / "file"
    file.write_text("")
    monkeypatch.setenv("TANDEM_DATA_DIR", str(file / "data"))
    return file / "data"


def test_a_trim_that_cannot_be_kept_does_not_change_the_car(nowhere, capsys):
    assert main(["trim", "--car", "sim://nigel", "steering=5"]) == DataFileFault.exit_code
    told = capsys.readouterr().err
    assert "what is kept of this car cannot be written; the car is as it was" in told
    assert "Not a directory" in told
    assert "set TANDEM_DATA_DIR" in told
    assert main(["trim", "--car", "sim://nigel"]) == 0
    assert "+5.0" not in capsys.readouterr().out


def test_what_the_car_has_already_is_said(nowhere):
    pairing = Pairing("00" * 8, "red", "nigel", "00" * 16, {}, {})
    with pytest.raises(DataFileFault, match="cannot be written; the car has the new values"):
        Pairings().keep(pairing, is_on_car=True)


def test_a_pad_and_a_demo_that_cannot_be_written(nowhere):
    with pytest.raises(DataFileFault, match="the mapping of this pad cannot be written"):
        PadMappings().keep(PadMapping("03"))
    with pytest.raises(DataFileFault, match="the demo's folder cannot be written"):
        run_whole(Namespace(out=nowhere), make_host())


def test_a_backup_that_is_there_is_not_overwritten(tmp_path, capsys):
    file = tmp_path / "red.json"
    file.write_text("the only copy of a key")
    assert main(["backup", "--car", "sim://nigel", str(file)]) == DataFileFault.exit_code
    assert "none is overwritten" in capsys.readouterr().err
    assert file.read_text() == "the only copy of a key"
