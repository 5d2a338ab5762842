"""A gamepad as an input: SDL itself, and its virtual joystick as the pad."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from host_bridge.core import DriveCommand, OperatorRequest
from host_bridge.core.errors import DataFileFault, DeviceFault, UsageFault
from host_bridge.drive.controls import make_input
from host_bridge.drive.options import DriveOptions
from host_bridge.drive.run import _person
from host_bridge.inputs import gamepad
from host_bridge.inputs.gamepad import (
    DeadmanButtons,
    GamepadInput,
    LivenessCheck,
    PadMapping,
    PadMappings,
    Roles,
    Sdl,
    VirtualPad,
)
from tests.host_bridge.drive.drives import vehicle
from tests.host_bridge.inputs.made_inputs import DRIVING, STANDING, Person, context, taken
from tests.support.evidence import some

TICK_US = 10_000


@pytest.fixture
def sdl():
    it = Sdl()
    yield it
    it.close()


@pytest.fixture
def virtual(sdl):
    pad = VirtualPad(sdl, "Test pad")
    yield pad
    if pad._joystick:
        pad.unplug()


class Table:
    """A pad on a table: time, the input that reads it, and how its kind is mapped."""

    def __init__(
        self, virtual: VirtualPad, folder, liveness: LivenessCheck | None, wanted: str = "", **roles
    ):
        self.now_us = 0
        self.virtual = virtual
        self.mappings = PadMappings(folder)
        self.input = GamepadInput(wanted, self.mappings)
        if liveness or roles:
            self.keep(liveness, **roles)
        asyncio.run(self.input.open(context([vehicle()])))

    def keep(self, liveness, **roles):
        facts = next(it for it in self.virtual._sdl.pads() if it.name == "Test pad")
        self.mappings.keep(PadMapping(facts.guid, facts.name, "", liveness, Roles(**roles)))

    def step(self, ticks: int = 1, observed=DRIVING) -> DriveCommand:
        for _ in range(ticks):
            self.now_us += TICK_US
            self.virtual.tremble()
            command = self.input.step(self.now_us, observed)
        return command

    def hold(self, button: str = "leftshoulder") -> DriveCommand:
        self.step()
        self.virtual.press(button)
        return self.step()


@pytest.fixture
def table(virtual, tmp_path):
    made = []

    def make(
        liveness: LivenessCheck | None = LivenessCheck.REPORTS, wanted: str = "", **roles
    ) -> Table:
        made.append(Table(virtual, tmp_path, liveness, wanted, **roles))
        return made[-1]

    yield make
    for it in made:
        asyncio.run(it.input.close())


def test_nothing_is_wished_for_with_the_hands_off(table):
    assert not table().step().is_held


def test_lb_held_drives_by_the_triggers_and_the_stick(table, virtual):
    it = table()
    assert it.hold().is_held
    virtual.move("righttrigger", 1.0)
    virtual.move("leftx", -1.0)
    command = it.step()
    assert command.speed_mps == pytest.approx(2.0)  # an F1TENTH's gamepad on the track
    assert command.steer_rad == pytest.approx(0.4189, abs=1e-3)
    assert not command.permits_autonomy
    virtual.move("righttrigger", 0.0)
    virtual.move("lefttrigger", 1.0)
    assert it.step().speed_mps == pytest.approx(-1.0)


def test_lb_released_lets_go(table, virtual):
    it = table()
    it.hold()
    virtual.press("leftshoulder", False)
    assert not it.step().is_held


def test_rb_lets_a_program_drive_and_drives_nothing_itself(table, virtual):
    it = table()
    virtual.move("leftx", 1.0)
    command = it.hold("rightshoulder")
    assert (command.is_held, command.permits_autonomy) == (True, True)
    assert (command.speed_mps, command.steer_rad) == (0.0, 0.0)


@pytest.mark.parametrize("trigger", ["lefttrigger", "righttrigger"])
def test_a_grip_with_a_trigger_pressed_is_none_until_it_is_released_and_begun_anew(
    table, virtual, trigger
):
    it = table()
    virtual.move(trigger, 0.3)
    assert not it.hold().is_held
    assert "triggers to rest" in it.input.hint(it.now_us)
    virtual.move(trigger, 0.0)
    assert not it.step().is_held
    virtual.press("leftshoulder", False)
    it.step()
    assert it.hold().is_held


def test_a_button_that_is_held_when_it_is_opened_counts_only_after_a_release(table, virtual):
    virtual.press("leftshoulder")
    it = table()
    assert not it.step(5).is_held
    virtual.press("leftshoulder", False)
    it.step()
    assert it.hold().is_held


def test_taking_over_from_a_program_begins_with_the_triggers_at_rest(table, virtual):
    it = table()
    it.hold("rightshoulder")
    virtual.press("leftshoulder")
    command = it.step()
    assert (command.is_held, command.permits_autonomy) == (True, False)


@pytest.mark.parametrize("button", ["b", "a", 2, 3, 5, 7, 8, 11, 14])
def test_each_button_without_a_role_stops(table, virtual, button):
    it = table()
    it.hold()
    virtual.press(button)
    assert not it.step().is_held
    assert list(it.input.requests()) == [OperatorRequest.STOP]
    assert it.input.requests() == []


@pytest.mark.parametrize(
    ("button", "expected"), [("start", OperatorRequest.ARM), ("back", OperatorRequest.QUIT)]
)
def test_start_arms_and_back_ends(table, virtual, button, expected):
    it = table()
    it.step()
    virtual.press(button)
    it.step()
    assert list(it.input.requests()) == [expected]


def test_the_roles_are_data(table, virtual):
    it = table(forward="-lefty", reverse="+lefty", steer="-rightx", stop="x")
    it.hold()
    virtual.move("lefty", -1.0)
    assert it.step().speed_mps == pytest.approx(2.0)
    virtual.move("lefty", 1.0)
    assert it.step().speed_mps == pytest.approx(-1.0)


# --- steady or frozen


def test_the_count_advances_on_reports_alone(table, virtual):
    virtual.is_noisy = False
    it = table()
    it.hold()
    count = it.step().input_count
    assert it.step(50).input_count == count
    virtual.move("leftx", 0.5)
    assert it.step().input_count == count + 1
    virtual.move("leftx", 0.5)  # a dongle that repeats its last values
    assert it.step(50).input_count == count + 1


def test_a_pad_that_trembles_counts_all_the_time(table):
    it = table()
    count = it.hold().input_count
    assert it.step(50).input_count >= count + 45


def test_a_pad_that_shows_no_life_drives_slowly_and_lets_go_after_a_second(table, virtual):
    virtual.is_noisy = False
    it = table(liveness=None)
    assert it.input.source == "seat_slow"
    assert "once a second" in it.input.status_text(0)
    assert it.hold().is_held
    virtual.move("righttrigger", 1.0)
    assert it.step().speed_mps == pytest.approx(0.3)
    assert it.step(98).is_held
    assert not it.step(3).is_held
    virtual.move("leftx", 0.5)
    assert not it.step().is_held, "held anew only after a release"


def test_what_is_moved_each_second_keeps_a_slow_grip(table, virtual):
    virtual.is_noisy = False
    it = table(liveness=None)
    it.hold()
    for turn in range(5):
        virtual.move("leftx", 0.1 * turn)
        assert it.step(80).is_held


def test_a_trigger_as_the_deadman_is_held_between_its_ends_and_counts_its_own_noise(table, virtual):
    it = table(liveness=LivenessCheck.TRIGGER, hand="lefttrigger", reverse="")
    assert it.input.source == "gamepad"
    it.step()
    virtual.move("lefttrigger", 0.5)
    count = it.step().input_count
    assert it.step(20).input_count == count, "the other axes tremble: that is no hand"
    virtual.move("lefttrigger", 0.51)
    assert it.step().input_count == count + 1
    assert it.step().is_held
    virtual.move("lefttrigger", 1.0)
    assert not it.step().is_held, "a cramp"


# --- unplugged, plugged in again


def test_unplugged_it_says_so_and_plugged_in_again_it_needs_a_release(table, virtual):
    it = table()
    it.hold()
    virtual.unplug()
    lost = it.step()
    assert "Test pad, unplugged" in lost.lost
    assert not lost.is_held
    virtual.plug()
    virtual.press("leftshoulder")
    back = it.step(3)
    assert (back.lost, back.is_held) == ("", False)
    virtual.press("leftshoulder", False)
    it.step()
    assert it.hold().is_held


def test_another_pad_has_no_say(table, virtual, sdl):
    it = table(wanted="test")
    other = VirtualPad(sdl, "Other pad")
    it.hold()
    other.press("b")
    assert it.step().is_held
    assert it.input.requests() == []
    other.unplug()
    assert it.step().is_held


# --- which pad, and what is kept of it


def test_without_a_pad_it_is_refused_and_told_what_to_do(sdl, tmp_path):
    with pytest.raises(DeviceFault, match="no such gamepad") as raised:
        asyncio.run(GamepadInput("", PadMappings(tmp_path)).open(context([vehicle()])))
    assert raised.value.remedy == "tandem pads lists them"


def test_of_several_one_has_to_be_named(virtual, sdl, tmp_path):
    other = VirtualPad(sdl, "Other pad")
    with pytest.raises(DeviceFault, match="which gamepad"):
        asyncio.run(GamepadInput("", PadMappings(tmp_path)).open(context([vehicle()])))
    other.unplug()


def test_a_mapping_that_is_broken_is_named_with_its_file(table, virtual, sdl, tmp_path):
    guid = sdl.pads()[0].guid
    for text in ("{", '{"guid": 1}', '{"guid":"x","name":"","sdl":"","life":"no","roles":{}}',
                 '{"guid":"x","name":"","sdl":"","life":"","roles":{"hand":"lever"}}'):  # fmt: skip
        (tmp_path / f"{guid}.json").write_text(text)
        with pytest.raises(DataFileFault, match=guid):
            PadMappings(tmp_path).of(guid)


def test_a_mapping_comes_back_as_it_was_kept(tmp_path):
    kept = PadMapping(
        "ff00", "Wheel", "ff00,Wheel,a:b0", LivenessCheck.TRIGGER, Roles(hand="lefttrigger")
    )
    PadMappings(tmp_path).keep(kept)
    assert PadMappings(tmp_path).of("ff00") == kept


# --- felt and heard


def test_it_rumbles_once_when_a_car_stops(table, virtual, mocker):
    it = table()
    it.step()
    stopped = mocker.Mock(is_driving=False, cars=[_car(mocker)])
    it.step(3, stopped)
    assert virtual.rumbled_ms == [0xFFFF]
    it.step(1, STANDING)
    assert virtual.rumbled_ms == [0xFFFF]


def _car(mocker):
    from host_bridge.core import State

    return mocker.Mock(status=mocker.Mock(state=State.STOPPED))


BEEP = """
from host_bridge.inputs.gamepad import Sdl
sdl = Sdl()
print(sdl.open_speaker())
sdl.beep()
sdl.lib.SDL_Delay(300)
sdl.close()
"""


@pytest.mark.process
def test_a_stop_is_heard_where_there_is_a_speaker(tmp_path):
    """SDL's own driver that writes what would be heard into a file."""
    sound = tmp_path / "sound.raw"
    speaker = {"SDL_AUDIODRIVER": "disk", "SDL_DISKAUDIOFILE": str(sound)}
    done = subprocess.run(
        [sys.executable, "-c", BEEP], check=True, capture_output=True, text=True,
        env={**os.environ, **speaker},
    )  # fmt: skip
    assert done.stdout == "True\n"
    assert any(sound.read_bytes())


@pytest.mark.process
def test_a_machine_without_a_speaker_is_no_fault_and_makes_no_noise():
    done = subprocess.run(
        [sys.executable, "-c", BEEP], check=True, capture_output=True, text=True,
        env={**os.environ, "SDL_AUDIODRIVER": "none-such"},
    )  # fmt: skip
    assert (done.stdout, done.stderr) == ("False\n", "")


def test_the_grip_is_told_in_words(table):
    it = table()
    it.step()
    assert it.input.seat.deadman is DeadmanButtons.OPEN
    assert it.input.hint(0) == "hold LB to drive"


# --- as the hand of a program


@pytest.mark.parametrize(
    ("chosen", "hand"), [("keyboard", "gamepad"), ("script:straight", "csv:x.csv")]
)
def test_a_hand_is_a_persons_and_for_a_program(chosen, hand):
    given = make_input(chosen, {}, lambda: 0) if chosen != "keyboard" else Person()
    options = DriveOptions(("car",), input=given, hand=hand)
    with pytest.raises(UsageFault, match="who holds whose deadman"):
        _person(options, given, lambda: 0)


def test_a_pad_is_no_guardian_of_what_needs_the_seat(table):
    it = table()
    program = make_input("devkit:127.0.0.1:1", {}, lambda: 0)
    it.input.source = "gamepad"
    with pytest.raises(UsageFault, match="the pad holds it") as raised:
        taken(program, [vehicle()], is_virtual=False, person=it.input)
    assert 'needs = "gamepad"' in raised.value.expected


CALLED = {
    "hand": ("leftshoulder", "LB held:"),
    "autonomy": ("rightshoulder", "RB held:"),
    "arm": ("start", "START: clear and arm"),
    "quit": ("back", "BACK: rest, and end"),
    "stop": ("b", "B: STOP"),
    "forward": ("righttrigger", "RT: forward"),
    "reverse": ("lefttrigger", "LT: backward"),
    "brake": ("", ""),
    "steer": ("-leftx", "left stick: steers"),
}


def test_the_picture_of_a_pad_says_the_roles_that_there_are():
    picture = Path(gamepad.__file__).with_name("pad.svg").read_text(encoding="utf-8")
    assert asdict(Roles()) == {role: control for role, (control, _) in CALLED.items()}
    for _, words in some(CALLED.values()):
        assert f">{words}<" in picture or not words
