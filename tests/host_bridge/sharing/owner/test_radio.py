"""A runstop box on a radio: the real box program behind a pseudo-terminal, the real owner."""

from __future__ import annotations

import json
import subprocess

import pytest

from firmware.protocol import messages
from firmware.protocol.boxes import BoxHeard, BoxWord
from host_bridge.core.system.clock import MonotonicClock
from host_bridge.link.transports import loopback
from host_bridge.sharing.owner.radio import RadioEndpoint
from host_bridge.sharing.owner.radio_filter import RadioFilter
from sim_mock.faults.trial.host import framed
from tests.host_bridge.cli.programs import program, serving, tandem, until
from tests.host_bridge.sharing.desk import Ear, owner_and_car, run
from tests.host_bridge.sharing.desk import until as soon
from tests.host_bridge.sharing.owner.test_required import is_active, wait_for

MAY = (BoxWord, messages.Stop)


def frame_of(kind) -> bytes:
    message = kind()
    for name, _, low, _, _ in kind.FIELDS:
        if isinstance(low, int) and not isinstance(getattr(message, name), bytearray):
            setattr(message, name, max(low, 0))
    return framed(message)


@pytest.mark.parametrize("kind", [*messages.TO_BOARD, BoxWord], ids=lambda kind: kind.__name__)
def test_by_radio_a_car_can_be_stopped_and_nothing_else(kind):
    radio = RadioFilter()
    frame = frame_of(kind)
    assert radio.incoming(frame) == (frame if kind in MAY else b"")
    assert radio.refused == (kind not in MAY)


def test_frames_between_others_are_judged_one_by_one():
    radio = RadioFilter()
    stop, claim = frame_of(messages.Stop), frame_of(messages.Claim)
    assert radio.incoming(claim + stop + claim + b"\0\0" + stop) == stop + stop
    assert radio.refused == 2


def test_noise_and_the_empty_frame_stay_out():
    radio = RadioFilter()
    assert radio.incoming(b"\0\x01\0\0\x02\0noise\0") == b""


def test_back_go_challenges_and_what_saw_a_stop():
    radio = RadioFilter()
    needed = frame_of(BoxHeard) + frame_of(messages.StopSeen)
    assert radio.outgoing(frame_of(messages.Status) + needed + frame_of(messages.Motion)) == needed


@pytest.mark.process(drives=True)
def test_a_rim_passes_what_may_both_ways_and_ends_with_its_owner():
    async def main():
        owner, car = await owner_and_car()
        ours, boxes = loopback.pair("loopback://radio")
        endpoint = RadioEndpoint(ours, MonotonicClock())
        await endpoint.start()
        box = await Ear(boxes).open()
        endpoint.open(owner)
        stop, heard = frame_of(messages.Stop), frame_of(BoxHeard)
        boxes.send(frame_of(messages.Claim) + stop)
        await soon(lambda: bool(car.data))
        assert car.data == stop
        car.transport.send(heard + frame_of(messages.Motion))
        await soon(lambda: bool(box.data))
        assert box.data == heard
        endpoint.close()
        await soon(lambda: bool(box.closed))
        owner.close()

    run(main())


@pytest.fixture
def box(tmp_path, monkeypatch):
    monkeypatch.setenv("TANDEM_RUNTIME_DIR", str(tmp_path / "run"))
    key = str(tmp_path / "box.key")
    assert tandem("pair", "--virtual", key).returncode == 0
    link = ("--link", str(tmp_path / "radio"))
    with program("sim", "runstop_box", "--key", key, *link, "--json") as process:
        until((tmp_path / "radio").exists, "the box's radio")
        yield process


def leds(box: subprocess.Popen[str], wanted: list[str]) -> None:
    for line in box.stdout:
        if json.loads(line).get("leds") == wanted:
            return
    raise AssertionError("the box ended")


@pytest.mark.process(drives=True)
def test_its_button_stops_a_race_that_needs_it_and_its_silence_does_too(box, tmp_path):
    drive = ("drive", "--car", "car", "--input", "script:straight", "--seconds", "60",
             "--speed", "0.3", "--profile", "race", "--json")  # fmt: skip
    with (
        serving(
            f"sim://nigel?key={tmp_path / 'box.key'}",
            "car",
            "--radio",
            f"serial://{tmp_path / 'radio'}",
        ),
        program("monitor", "car", "--json") as monitor,
    ):
        leds(box, ["green"])
        for line, words in (
            ("press", "the stop box"),
            ("unplug", "the stop box, which it needs"),
        ):
            with program(*drive):
                wait_for(monitor, "status", is_active)
                box.stdin.write(line + "\n")
                box.stdin.flush()
                wait_for(monitor, "why_stopped", lambda row, words=words: words in row["text"])
            box.stdin.write("release\n")
            box.stdin.flush()
            until(lambda: tandem("clear", "car").returncode == 0, "the car to be cleared")
