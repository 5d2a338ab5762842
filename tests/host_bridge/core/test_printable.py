"""Nothing that others wrote reaches a terminal as anything but text."""

from __future__ import annotations

import io
import json
import os
import pty
import select
import subprocess
import sys
from types import SimpleNamespace

import pytest

from firmware.protocol.messages import Stop
from host_bridge.cli import main as cli
from host_bridge.cli.commands import stop as quick_stop
from host_bridge.cli.output.status_line import LiveLines
from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.printable import Printable, one_line, printable, styled
from host_bridge.drive.display.screen import _styled
from host_bridge.link.protocol import wire
from host_bridge.link.protocol.units import text_of
from tests.host_bridge.cli.programs import TANDEM, program, serving, tandem, until
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.sharing.stop.connected import connect_all

# clear the screen, colour, a title, a clipboard, backspaces, C1, bidi, a line that says all is well
EVIL = "\x1b[2J\x1b]0;x\x07\x08\r\x9b31m\u202e\u2066ok\x00"
SHORT = b"\x1b[2J\rok\x9b\x07\n".ljust(16, b"\0")  # in 16 bytes of a Stop
CONTROLS = {chr(code) for code in (*range(32), *range(127, 160))} - {"\n", "\t"}


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def is_clean(text):
    return not CONTROLS & set(text) and "\u202e" not in text


def test_what_is_no_text_is_shown_as_what_it_is():
    assert printable("Grüße, 字, 3 m/s² → ok\n\tx") == "Grüße, 字, 3 m/s² → ok\n\tx"
    assert printable("a\x1b[2Jb\rc\udc80") == "a\\x1b[2Jb\\rc\\udc80"
    assert one_line("a\nb") == "a\\nb"
    assert is_clean(printable(EVIL))
    for code in range(0x110000):
        if not chr(code).isprintable() and chr(code) not in "\n\t":
            assert printable(chr(code)).isprintable()


@pytest.mark.parametrize("name", [command.name for command in cli.COMMANDS])
def test_every_command_prints_through_it(name, monkeypatch, capsys):
    """Whatever a command prints, says as an error, or warns of."""
    command = cli.find(name)

    def run(args, context):
        print(EVIL)
        print(EVIL, file=sys.stderr)
        sys.stdout.writelines([EVIL])
        raise DataFileFault(EVIL, where=EVIL, got=EVIL, remedy=EVIL)

    module = SimpleNamespace(__doc__="x", add_arguments=lambda parser: None, run=run)
    monkeypatch.setattr(cli, "import_module", lambda _: module)
    monkeypatch.setattr(cli, "_host", lambda: None)
    before = sys.stdout, sys.stderr
    monkeypatch.setattr(quick_stop, "stop_all", lambda: run(None, None))
    assert cli.main([command.name]) == DataFileFault.exit_code
    assert (sys.stdout, sys.stderr) == before
    shown = capsys.readouterr()
    assert "\\x1b[2J" in shown.out
    assert "\\x1b[2J" in shown.err
    assert is_clean(shown.out + shown.err)


def test_who_draws_makes_its_texts_printable_and_keeps_its_own_escapes():
    out = io.StringIO()
    out.isatty = lambda: True
    LiveLines(Printable(out)).draw([EVIL, "two"], 200)
    assert "\x1b[2J" not in out.getvalue()
    assert "\x1b[K\n" in out.getvalue()
    assert "\x1b[2J" not in _styled([(EVIL, "bad")], 100, {"bad": "\x1b[31m"})
    assert styled(Printable(out)) is out
    assert styled(out) is out


def test_a_name_from_the_wire_stays_on_its_line():
    assert text_of(SHORT) == "\\x1b[2J\\rok\ufffd\\x07\\n"
    assert text_of("Grüße".encode().ljust(16, b"\0")) == "Grüße"


def stop_with_escapes():
    (it,) = connect_all()
    it.end.send(wire.encode(wire.new(Stop, token=1, sender=4, sender_name=SHORT)))
    return it


@pytest.mark.process(drives=True)
def test_escapes_in_a_stop_reach_no_monitor_no_terminal_and_no_log(folder):
    log = folder / "log.mcap"
    with serving("sim://nigel", "car", "--record", str(log)), program("monitor", "car") as monitor:
        until(lambda: bool(select.select([monitor.stdout], [], [], 0)[0]), "the monitor")
        until(lambda: json.loads(tandem("cars", "--json").stdout)[0]["state"] == "STANDBY", "it")
        end = stop_with_escapes()
        heard = ""
        for line in monitor.stdout:
            heard += line
            if "because somebody at" in line:
                break
        looked = on_a_terminal("monitor", "car", "--seconds", "1")
        end.close()
        monitor.terminate()
        heard += monitor.communicate()[0]
    assert "\\x1b[2J" in heard
    assert is_clean(heard)
    assert b"because somebody at" in looked
    assert b"\x1b[2J" not in looked
    assert b"\x07" not in looked
    summary = tandem("log", str(log))
    assert summary.returncode == 0, summary.stderr
    assert is_clean(summary.stdout)


def on_a_terminal(*words):
    """What a command writes to a terminal of its own."""
    near, far = pty.openpty()
    with subprocess.Popen([*TANDEM, *words], stdout=far, stderr=far, stdin=far) as process:
        os.close(far)
        shown = b""
        try:
            while data := os.read(near, 4096):
                shown += data
        except OSError:  # closed at the far end
            pass
        process.wait()
    os.close(near)
    return shown


@pytest.mark.process(drives=True)
def test_a_file_with_escapes_is_refused_without_them(folder):
    path = folder / "x\x1b[2J.csv"
    path.write_text("time_s,speed_mps\x1b[2J\n0,\x1b[31m\n")
    refused = tandem("drive", "--car", "sim://nigel", "--input", f"csv:{path}")
    assert refused.returncode != 0
    assert is_clean(refused.stdout + refused.stderr)
    assert "\\x1b" in refused.stderr
