"""Which pad is taken, whose reports count, and what its loss is: an SDL of this test's making."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from host_bridge.core import DriveCommand, Observed, OperatorRequest, State
from host_bridge.core.errors import DeviceFault
from host_bridge.inputs.gamepad import gamepad_input
from host_bridge.inputs.gamepad.gamepad_input import (
    GAMEPAD,
    SLOW_SEAT,
    GamepadInput,
    choose_pad,
    load_mappings,
)
from host_bridge.inputs.gamepad.mapping import LivenessCheck, PadMapping, PadMappings, Roles
from host_bridge.inputs.gamepad.sdl import BUTTONS, PadFacts, PadReport, ReportKind
from host_bridge.inputs.gamepad.seat import DeadmanButtons
from tests.host_bridge.drive.drives import vehicle
from tests.host_bridge.inputs.made_inputs import DRIVING, STANDING, context

ONE = PadFacts(0, "Xbox pad", "0300aa", "")
OTHER = PadFacts(1, "Wheel", "0300bb", "")
DEVICE = 7


class Sdl:
    """Only what is plugged in, and what comes of it."""

    made: list[Sdl]
    plugged: list[PadFacts]

    def __init__(self) -> None:
        self.made.append(self)
        self.reports: list[PadReport] = [
            PadReport(DEVICE, ReportKind.BUTTON, BUTTONS.index("a"), 1.0)
        ]
        self.lines: list[str] = []
        self.has_speaker = self.is_closed = False
        self.beeps = 0

    def pads(self) -> list[PadFacts]:
        return list(self.plugged)

    def facts(self, index: int) -> PadFacts:
        return self.plugged[index]

    def add_mapping(self, line: str) -> None:
        self.lines.append(line)

    def open_speaker(self) -> None:
        self.has_speaker = True

    def beep(self) -> None:
        self.beeps += 1

    def close(self) -> None:
        self.is_closed = True

    def poll(self):
        reports, self.reports = self.reports, []
        yield from reports


class OpenPad:
    has_sensor = True
    fault: Exception | None = None

    def __init__(self, sdl: Sdl, index: int) -> None:
        if self.fault:
            raise self.fault
        self.facts = sdl.facts(index)
        self.device = DEVICE
        self.values: dict[str, float] = {}
        self.rumbled_s: list[float] = []
        self.is_closed = False

    def value(self, name: str) -> float:
        return self.values.get(name, 0.0)

    def button_name(self, number: int) -> str:
        return BUTTONS[number]

    def axis_number(self, name: str) -> int:
        return 4

    def rumble(self, seconds: float) -> None:
        self.rumbled_s.append(seconds)

    def close(self) -> None:
        self.is_closed = True


class Table:
    def __init__(self, folder, wanted: str = "") -> None:
        self.mappings = PadMappings(folder)
        self.input = GamepadInput(wanted, self.mappings)
        self.now_us = 0

    def open(self) -> Table:
        asyncio.run(self.input.open(context([vehicle()])))
        return self

    @property
    def sdl(self) -> Sdl:
        (it,) = Sdl.made
        return it

    def step(self, *reports: PadReport, observed: Observed = DRIVING) -> DriveCommand:
        self.sdl.reports += reports
        return self.input.step(self.now_us, observed)

    def hold(self, held: float = 1.0) -> DriveCommand:
        self.input.pad.values["leftshoulder"] = held
        return self.step()


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.setattr(gamepad_input, "Sdl", Sdl)
    monkeypatch.setattr(gamepad_input, "OpenPad", OpenPad)
    monkeypatch.setattr(Sdl, "made", [], raising=False)
    monkeypatch.setattr(Sdl, "plugged", [ONE], raising=False)
    return Table(tmp_path)


def pressed(name: str, device: int = DEVICE) -> PadReport:
    return PadReport(device, ReportKind.BUTTON, BUTTONS.index(name), 1.0)


LOST = PadReport(DEVICE, ReportKind.REMOVED)


# --- which one


@pytest.mark.parametrize("wanted", ["xbox", "XBOX", "pad", "0300aa", "0300AA"])
def test_it_is_the_one_that_is_named(wanted):
    assert choose_pad([ONE, OTHER], wanted) is ONE


def test_or_the_only_one():
    assert choose_pad(iter([OTHER]), "") is OTHER


@pytest.mark.parametrize(
    ("pads", "wanted", "what", "got"),
    [
        ([], "", "no such gamepad is plugged in", "none"),
        ([ONE], "wheel", "no such gamepad is plugged in", "Xbox pad (0300aa...)"),
        ([ONE], "00aa", "no such gamepad is plugged in", "Xbox pad (0300aa...)"),
        ([ONE, OTHER], "", "which gamepad?", "Xbox pad (0300aa...), Wheel (0300bb...)"),
    ],
)
def test_none_and_several_are_refused_with_what_there_is(pads, wanted, what, got):
    with pytest.raises(DeviceFault) as raised:
        choose_pad(pads, wanted)
    fault = raised.value
    assert (fault.what, fault.got, fault.remedy) == (what, got, "tandem pads lists them")
    assert fault.expected is not None
    assert "--input gamepad:xbox" in fault.expected


def test_of_a_guid_its_first_eight_digits_are_told():
    with pytest.raises(DeviceFault, match=r"pad \(01234567\.\.\.\)"):
        choose_pad([PadFacts(0, "pad", "0123456789", "")], "none")


def test_sdl_is_told_what_is_kept_of_each(table):
    table.mappings.keep(PadMapping(OTHER.guid, "Wheel", "a line"))
    sdl = Sdl()
    sdl.plugged = [ONE, OTHER]
    assert load_mappings(sdl, table.mappings) == [ONE, OTHER]
    assert sdl.lines == ["a line"]


# --- opened and closed


def test_before_it_is_opened_it_wishes_nothing(table):
    it = table.input
    assert (it.source, it.liveness, it.seat, it.pad) == (GAMEPAD, LivenessCheck.PRESSES, None, None)
    assert it.step(0, DRIVING) == DriveCommand()
    assert it.requests() == ()
    it.let_go()
    assert (it.status_text(0), it.hint(0)) == ("", "")
    asyncio.run(it.close())


def test_opened_it_has_forgotten_what_came_before(table):
    it = table.open().input
    assert it.source == GAMEPAD == "gamepad"
    assert it.liveness is LivenessCheck.REPORTS
    assert table.sdl.has_speaker
    assert table.sdl.reports == []
    table.step()
    assert list(it.requests()) == []
    assert it.status_text(0) == ""


def test_one_without_a_gyro_is_slow_and_says_so(table, monkeypatch):
    monkeypatch.setattr(OpenPad, "has_sensor", False)
    it = table.open().input
    assert it.source == SLOW_SEAT == "seat_slow"
    assert it.liveness is LivenessCheck.PRESSES
    assert it.status_text(0).startswith("This pad does not show that it lives")
    assert it.status_text(0).endswith("once a second; 0.3 m/s at most.")


@pytest.mark.parametrize(
    ("liveness", "source"),
    [
        (LivenessCheck.REPORTS, GAMEPAD),
        (LivenessCheck.TRIGGER, GAMEPAD),
        (LivenessCheck.PRESSES, SLOW_SEAT),
    ],
)
def test_what_is_kept_of_its_kind_counts(table, monkeypatch, liveness, source):
    monkeypatch.setattr(OpenPad, "has_sensor", liveness is LivenessCheck.PRESSES)
    roles = Roles(hand="lefttrigger", reverse="", arm="guide")
    table.mappings.keep(PadMapping(ONE.guid, "Xbox pad", "", liveness, roles))
    it = table.open().input
    assert (it.liveness, it.source) == (liveness, source)
    table.step(pressed("guide"))
    assert list(it.requests()) == [OperatorRequest.ARM]


def test_what_fails_while_it_is_opened_closes_all(table, monkeypatch):
    Sdl.plugged = []
    with pytest.raises(DeviceFault):
        table.open()
    assert table.sdl.is_closed
    assert table.input._sdl is None


def test_a_pad_that_is_open_already_is_closed_then(table, monkeypatch):
    monkeypatch.setattr(Sdl, "open_speaker", lambda sdl: 1 / 0)
    made = []
    monkeypatch.setattr(
        gamepad_input, "OpenPad", lambda *given: made.append(OpenPad(*given)) or made[-1]
    )
    with pytest.raises(ZeroDivisionError):
        table.open()
    assert (made[0].is_closed, table.input.pad) == (True, None)


def test_closed_it_holds_nothing(table):
    it = table.open().input
    pad = it.pad
    asyncio.run(it.close())
    assert pad.is_closed
    assert table.sdl.is_closed
    assert (it.pad, it._sdl) == (None, None)


# --- whose reports count


def test_it_drives_and_is_let_go_of(table):
    table.open()
    table.hold(0.0)
    assert table.hold().is_held
    table.input.let_go()
    assert not table.step().is_held


def test_orders_are_given_once(table):
    it = table.open().input
    table.step(pressed("start"), pressed("b"))
    assert list(it.requests()) == [OperatorRequest.ARM, OperatorRequest.STOP]
    assert list(it.requests()) == []


def test_another_pad_has_no_say(table):
    it = table.open().input
    table.step(pressed("start", DEVICE + 1), PadReport(DEVICE + 1, ReportKind.REMOVED))
    assert list(it.requests()) == []
    assert it.pad is not None
    assert it.seat.reports.count == 0


def test_reports_are_of_the_time_of_the_step(table):
    table.open()
    table.now_us = 77
    table.step(PadReport(DEVICE, ReportKind.AXIS, 0, 0.5))
    assert table.input.seat.reports.heard_us == 77


# --- lost, and found again


def test_unplugged_it_says_so_until_it_is_back(table):
    it = table.open().input
    pad = it.pad
    table.hold(0.0)
    table.hold()
    lost_text = "Gamepad is gone: Xbox pad, unplugged or switched off"
    assert table.step(LOST) == DriveCommand(lost=lost_text)
    assert (it.pad, it.seat, pad.is_closed) == (None, None, True)
    assert it.hint(0) == lost_text
    assert table.step(pressed("start")) == DriveCommand(lost=lost_text)
    assert it.requests() == ()
    it.let_go()
    back = table.step(PadReport(0, ReportKind.ADDED))
    assert back == DriveCommand()
    assert it.pad is not None
    assert it.pad is not pad
    assert it.seat.deadman is not DeadmanButtons.HAND
    table.hold(0.0)
    assert table.hold().is_held


def test_another_kind_does_not_take_its_place(table):
    it = table.open().input
    table.step(LOST)
    Sdl.plugged = [ONE, OTHER]
    assert table.step(PadReport(1, ReportKind.ADDED)).lost
    assert it.pad is None


def test_one_that_is_gone_again_already_is_none(table, monkeypatch):
    table.open()
    table.step(LOST)
    monkeypatch.setattr(OpenPad, "fault", DeviceFault("gone"))
    assert table.step(PadReport(0, ReportKind.ADDED)).lost
    assert table.input.pad is None


def test_while_one_is_there_another_of_its_kind_is_nothing(table):
    it = table.open().input
    pad = it.pad
    table.step(PadReport(0, ReportKind.ADDED))
    assert it.pad is pad


def test_what_was_never_lost_is_not_found(table):
    it = table.open().input
    it.pad = None
    table.step(PadReport(0, ReportKind.ADDED))
    assert it.pad is None


def test_a_loss_after_it_was_closed_finds_nobody(table):
    it = table.open().input
    table.step(LOST)
    it._sdl = None
    it._reconnect(0)
    assert it.pad is None


# --- what is told


def test_it_tells_what_to_do_next(table, monkeypatch):
    it = table.open().input
    assert it.hint(0) == "hold LB to drive"
    table.hold(0.0)
    assert it.hint(0) == "hold LB to drive"
    it.pad.values["righttrigger"] = 1.0
    table.hold()
    assert it.hint(0) == "let go, bring the triggers to rest, then hold LB"
    it.pad.values["righttrigger"] = 0.0
    table.hold(0.0)
    table.hold()
    assert it.hint(0) == ""


def test_on_a_slow_one_it_counts_the_seconds(table, monkeypatch):
    monkeypatch.setattr(OpenPad, "has_sensor", False)
    it = table.open().input
    table.step(pressed("leftshoulder"))
    table.hold()
    assert it.hint(300_000) == "move something within 0.7 s"
    it.pad.values["leftshoulder"] = 0.0
    table.step()
    assert it.hint(300_000) == "hold LB to drive"


def seen(*states: State | None, is_driving: bool = False) -> Observed:
    cars = [SimpleNamespace(status=it and SimpleNamespace(state=it)) for it in states]
    return Observed(tuple(cars), is_driving=is_driving, is_permitted=True)


@pytest.mark.parametrize("state", [State.STOPPING, State.STOPPED, State.FAULT])
def test_a_stop_is_felt_and_heard_once(table, state):
    it = table.open().input
    table.step(observed=seen(State.ACTIVE, is_driving=True))
    assert (it.pad.rumbled_s, table.sdl.beeps) == ([], 0)
    for _ in range(3):
        table.step(observed=seen(None, state))
    assert (it.pad.rumbled_s, table.sdl.beeps) == ([0.6], 1)
    table.step(observed=seen(state, is_driving=True))
    table.step(observed=seen(state))
    assert table.sdl.beeps == 2


@pytest.mark.parametrize("before", [(), (State.STANDBY,), (State.STANDBY, State.STANDBY)])
def test_a_stop_before_it_ever_drove_is_not_felt(table, before):
    it = table.open().input
    for state in (*before, State.STOPPED):
        table.step(observed=seen(state))
    assert (it.pad.rumbled_s, table.sdl.beeps) == ([], 0)


def test_before_it_drove_and_at_rest_nothing_is_felt(table):
    it = table.open().input
    for state in (State.STOPPED, State.STANDBY, State.STANDBY, State.STOPPED):
        table.step(observed=seen(state))
    table.step(observed=seen(State.HOLD, is_driving=True))
    table.step(observed=seen(State.STANDBY, None))
    table.step(observed=STANDING)
    assert (it.pad.rumbled_s, table.sdl.beeps) == ([], 0)
    table.step(observed=seen(State.STOPPED))  # it had driven, and comes to a halt later
    assert (it.pad.rumbled_s, table.sdl.beeps) == ([0.6], 1)


def test_a_lost_pad_is_heard_when_the_cars_are_let_go(table):
    it = table.open().input
    table.step(observed=seen(State.ACTIVE, is_driving=True))
    table.step(LOST, observed=seen(State.ACTIVE, is_driving=True))
    assert table.sdl.beeps == 0
    table.step(observed=seen(State.HOLD))
    assert table.sdl.beeps == 1
    assert it.pad is None


def test_by_name_on_the_command_line():
    made = gamepad_input.make("xbox", {}, lambda: 0)
    assert made._wanted == "xbox"
    assert made.is_person
    assert made.has_separate_enable
