"""``tandem serve --install-unit`` and ``--remove-unit``: shown, asked, written, removed.

systemctl is a stand-in: a program in one test, a function in the others. ``systemd-analyze verify``
reads the units where it is there.
"""

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from host_bridge.cli.main import main
from host_bridge.core.errors import DeviceFault, RefusedFault, UsageFault
from host_bridge.deploy.autostart import installing
from host_bridge.deploy.autostart.unit import Login, lasting_port, make_unit

INSTALL = ["serve", "--car", "sim://nigel", "--name", "red", "--install-unit", "--yes"]
REMOVE = ["serve", "--name", "red", "--remove-unit", "--yes"]


@pytest.fixture(autouse=True)
def own_folders(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "with % and $HOME"))


@pytest.fixture
def asked(monkeypatch):
    """What systemctl was asked for."""
    kept = []
    monkeypatch.setattr(installing, "_run", lambda words: kept.append(" ".join(words[1:])))
    return lambda: kept


def unit_file():
    return Path(os.environ["XDG_CONFIG_HOME"]) / "systemd/user/tandem-red.service"


def test_a_unit_is_shown_written_begun_and_removed_again(asked, capsys):
    assert main(INSTALL) == 0
    told = capsys.readouterr().out
    text = unit_file().read_text()
    assert text in told
    assert " serve --car sim://nigel --name red\n" in text
    assert "KillSignal=SIGINT" in text
    assert "with %% and $$HOME" in text
    assert stat.S_IMODE(unit_file().stat().st_mode) == 0o644
    begun = ["--user daemon-reload", "--user enable --now tandem-red.service"]
    assert asked() == begun
    assert main(INSTALL) == 0  # its own file may be written anew
    assert main(REMOVE) == 0
    assert not unit_file().exists()
    assert asked()[4:] == ["--user disable --now tandem-red.service", "--user daemon-reload"]


@pytest.mark.parametrize(("answer", "code"), [("n", RefusedFault.exit_code), ("y", 0)])
def test_a_person_is_asked(asked, monkeypatch, answer, code):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda _question: answer)
    assert main(INSTALL[:-1]) == code
    assert unit_file().exists() == (code == 0)
    assert bool(asked()) == (code == 0)


def test_nobody_to_ask_is_no_agreement(asked, monkeypatch, capsys):
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    assert main(INSTALL[:-1]) == UsageFault.exit_code
    assert "--yes" in capsys.readouterr().err
    assert not unit_file().exists()
    assert asked() == []


@pytest.mark.parametrize("words", [INSTALL, REMOVE])
def test_a_unit_that_somebody_else_wrote_is_left_alone(asked, words, capsys):
    unit_file().parent.mkdir(parents=True)
    unit_file().write_text("[Service]\nExecStart=/bin/true\n")
    assert main(words) == DeviceFault.exit_code
    assert "did not write it" in capsys.readouterr().err
    assert unit_file().read_text().startswith("[Service]")
    assert asked() == []


@pytest.mark.process
def test_a_manager_is_run_and_one_that_refuses_is_told_with_the_command(
    tmp_path, monkeypatch, capsys
):
    programs, kept = tmp_path / "bin", tmp_path / "asked"
    programs.mkdir()
    systemctl = programs / "systemctl"
    systemctl.write_text(f'#!/bin/sh\necho "$@" >> {kept}\ntest ! -e {tmp_path}/refuse\n')
    systemctl.chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    assert main(INSTALL) == 0
    begun = ["--user daemon-reload", "--user enable --now tandem-red.service"]
    assert kept.read_text().splitlines() == begun
    (tmp_path / "refuse").touch()
    assert main(INSTALL) == DeviceFault.exit_code
    assert "systemctl --user daemon-reload failed" in capsys.readouterr().err
    assert unit_file().exists()
    monkeypatch.setenv("PATH", str(tmp_path))
    assert main(REMOVE) == DeviceFault.exit_code
    assert "no systemctl" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("serve --car sim://nigel --install-unit --yes", "needs the name of the car"),
        ("serve --car sim://nigel --name ../red --install-unit --yes", "needs the name of the car"),
        ("serve --name red --install-unit --yes", "no car to serve is named"),
        ("serve --car sim://nigel --name red --install-unit --yes --record a.mcap", "in the way"),
        ("serve --car sim://nigel --yes", "belong to --install-unit"),
    ],
)
def test_what_cannot_be_a_service_is_refused(asked, words, told, capsys):
    assert main(words.split()) == UsageFault.exit_code
    assert told in capsys.readouterr().err
    assert asked() == []


def test_nothing_to_remove_is_an_error(asked):
    assert main(REMOVE) == DeviceFault.exit_code
    assert asked() == []


def test_a_vehicle_file_of_ones_own_is_named_absolutely(asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("slash.toml").write_text('base = "f1tenth"\ntitle = "Our Slash"\n')
    assert main([*INSTALL, "--vehicle", "./slash.toml", "--board", "e6614103e7452a2f"]) == 0
    assert f"--vehicle {tmp_path}/slash.toml --board e6614103e7452a2f\n" in unit_file().read_text()


def test_a_port_is_named_as_a_replug_leaves_it(tmp_path):
    port = tmp_path / "ttyACM0"
    port.touch()
    by_id = tmp_path / "by-id"
    assert lasting_port(f"serial://{port}", by_id) == f"serial://{port}"
    by_id.mkdir()
    (by_id / "usb-Raspberry_Pi_Pico_E66-if00").symlink_to("../ttyACM0")
    lasting = f"serial://{by_id}/usb-Raspberry_Pi_Pico_E66-if00"
    assert lasting_port(f"serial://{port}?baud=57600", by_id) == f"{lasting}?baud=57600"
    assert lasting_port("serial:///dev/ttyTHS1", by_id) == "serial:///dev/ttyTHS1"
    assert lasting_port("sim://nigel", by_id) == "sim://nigel"


@pytest.mark.process
@pytest.mark.parametrize("is_system", [False, True])
@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not on this machine")
def test_systemd_understands_the_unit(tmp_path, is_system):
    login = Login("root", 0, tmp_path)
    words = ["serve", "--car", "serial:///dev/serial/by-id/a b%c", "--name", "red"]
    unit = make_unit("red", words, is_system=is_system, login=login, environment={})
    path = tmp_path / unit.name
    path.write_text(unit.text)
    manager = "--system" if is_system else "--user"
    done = subprocess.run(
        ["systemd-analyze", "verify", manager, "--man=no", str(path)],
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    complaints = [line for line in done.stderr.splitlines() if unit.name in line]
    assert complaints == []
