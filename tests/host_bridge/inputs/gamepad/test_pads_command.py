"""``tandem pads``, with SDL's virtual joystick as the pad and a thread as the hand."""

from __future__ import annotations

import argparse
import io
import json
import sys
import time

import pytest

from host_bridge.cli.commands import pads
from host_bridge.core.errors import DeviceFault, NotHeldFault
from host_bridge.inputs.gamepad import LivenessCheck, OpenPad, PadMappings, Sdl, VirtualPad
from tests.host_bridge.cli.programs import tandem
from tests.support.meanwhile import meanwhile


@pytest.fixture
def virtual(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path))
    sdl = Sdl()
    pad = VirtualPad(sdl, "Wheel, of a kind")
    yield pad
    if pad._joystick:
        pad.unplug()
    sdl.close()


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    pads.add_arguments(parser)
    return pads.run(parser.parse_args(words), None)


def hand(work):
    """A hand at the pad, meanwhile."""
    return meanwhile(work, 0.005)


def test_they_are_listed(virtual, capsys):
    assert run("list", "--json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["name"], row["is_mapped"], row["life"]) == (
        "Wheel, of a kind",
        True,
        "not tested",
    )


@pytest.mark.process
def test_without_a_pad_that_is_said_by_the_program_itself():
    shown = tandem("pads")
    assert (shown.returncode, "no gamepad is plugged in" in shown.stdout) == (0, True)
    assert tandem("pads", "live").returncode == DeviceFault.exit_code


def test_live_shows_what_is_moved(virtual, capsys):
    with hand(lambda: (virtual.tremble(), virtual.press("a"), virtual.move("leftx", 0.5))):
        assert run("live", "--seconds", "0.5") == 0
    assert "leftx +0.50" in capsys.readouterr().out


def test_a_steady_hand_whose_pad_trembles_shows_that_it_lives(virtual, capsys):
    with hand(virtual.tremble):
        assert run("test", "--seconds", "0.5", "--json") == 0
    assert json.loads(capsys.readouterr().out)["life"] == "reports"
    guid = virtual._sdl.pads()[0].guid
    assert PadMappings().of(guid).liveness is LivenessCheck.REPORTS


def test_a_pad_that_says_changes_alone_is_told_to_and_kept_as_such(virtual, capsys):
    virtual.press("leftshoulder")
    with pytest.raises(NotHeldFault, match="cannot be told from a frozen pad"):
        run("test", "--seconds", "0.3")
    output = capsys.readouterr().out
    assert "falls silent, or repeats its last values: LB still counts as held" in output
    assert "life = presses" in output


class Answers:
    """Does what is asked, once it is asked: the virtual pad's inputs, crosswise."""

    def __init__(self, output, moves):
        self.output = output
        self.moves = list(moves)
        self.given = 0

    def __call__(self):
        if self.given < min(self.output.getvalue().count(" ... "), len(self.moves)):
            move, back = self.moves[self.given]
            self.given += 1
            move()
            time.sleep(0.05)
            back()


def test_a_mapping_is_made_of_what_is_pressed_and_drives_by_it(virtual, monkeypatch):
    output = io.StringIO()
    monkeypatch.setattr(sys, "stdout", output)

    def button(number):
        return (lambda: virtual.press(number), lambda: virtual.press(number, False))

    def axis(name, value, rest=0.0):
        return (lambda: virtual.move(name, value), lambda: virtual.move(name, rest))

    answers = Answers(
        output,
        [button(0), button(1), axis("righttrigger", 1.0), axis("lefttrigger", 1.0),
         axis("rightx", -1.0), axis("righty", 1.0), button(2), button(3), button(4)],
    )  # fmt: skip
    with hand(answers):
        assert run("map", "--seconds", "5") == 0
    sdl = virtual._sdl
    line = PadMappings().of(sdl.pads()[0].guid).sdl
    assert (
        "Wheel  of a kind,leftshoulder:b0,rightshoulder:b1,righttrigger:a5,lefttrigger:a4" in line
    )
    assert "leftx:a2~,lefty:a3,start:b2,back:b3,b:b4" in line
    pad = OpenPad(sdl, 0)
    virtual.press(0)
    virtual.move("rightx", -1.0)
    list(sdl.poll())
    assert pad.value("leftshoulder") == 1.0
    assert pad.value("leftx") == pytest.approx(1.0, abs=1e-3)
    pad.close()
