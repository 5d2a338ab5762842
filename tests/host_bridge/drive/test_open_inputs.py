"""Whose hand is at the deadman, to the word: what an input and a person see, say and are told."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from host_bridge.core import DriveCommand, Input, InputLimits, Observed, OperatorRequest
from host_bridge.core.errors import UsageFault, VehicleFileFault
from host_bridge.drive import controls as controls_module
from host_bridge.drive import drive_loop
from host_bridge.drive.controls import Controls, DriveContext, make_input, source_of_all
from host_bridge.drive.options import DriveOptions
from tests.host_bridge.drive.drives import vehicle
from tests.host_bridge.inputs.made_inputs import taken

LIMITS = InputLimits(1.0, 1.0, 0.3)
PROGRAM = DriveCommand(0.1, 1.5, 0.2, is_held=True, input_count=3, lights=1)
HAND = DriveCommand(0.5, 0.0, is_held=True, input_count=77)


class Told(Input):
    """Wishes what it was told to, and notes what it saw."""

    def __init__(self, command: DriveCommand, name: str, is_person: bool = False) -> None:
        self.command = command
        self.name = name
        self.is_person = is_person
        self.source = "seat" if is_person else "script"
        self.seen: list[Observed] = []
        self.opened = self.closed = self.let_gos = 0
        self.given: list[OperatorRequest] = []

    async def open(self, context):
        self.opened += 1
        self.context = context

    def step(self, now_us, observed):
        assert now_us == 5
        self.seen.append(observed)
        return self.command

    def requests(self):
        return self.given

    def let_go(self):
        self.let_gos += 1

    def status_text(self, now_us):
        return f"words of {self.name} at {now_us}"

    def hint(self, now_us):
        return f"hint of {self.name} at {now_us}"

    async def close(self):
        self.closed += 1


def pair(needs_hand: bool, command: DriveCommand = PROGRAM, hand: DriveCommand = HAND):
    program, person = Told(command, "program"), Told(hand, "person", is_person=True)
    source = vehicle().source("script")
    return program, person, Controls(program, source, LIMITS, person, needs_hand)


def alone(is_person: bool):
    one = Told(PROGRAM, "one", is_person)
    return one, Controls(one, vehicle().source("seat"), LIMITS, one if is_person else None)


# --- each step


@pytest.mark.parametrize("is_person", [True, False])
def test_who_is_alone_drives_and_is_asked_once(is_person):
    one, controls = alone(is_person)
    assert controls.step(5, (), is_driving=True) is PROGRAM
    assert one.seen == [Observed((), is_driving=True, is_permitted=True)]
    one.given = [OperatorRequest.STOP]
    assert controls.requests() == [OperatorRequest.STOP]
    controls.let_go()
    asyncio.run(controls.close())
    assert (one.let_gos, one.closed) == (1, 1)


def test_a_program_that_needs_no_hand_drives_and_the_person_is_asked_too():
    """For what they order; their deadman counts for nothing."""
    program, person, controls = pair(needs_hand=False, hand=DriveCommand(lost="gone"))
    assert controls.step(5, (), is_driving=False) is PROGRAM
    seen = Observed((), is_driving=False, is_permitted=True)
    assert (program.seen, person.seen) == ([seen], [seen])


@pytest.mark.parametrize("is_driving", [True, False])
@pytest.mark.parametrize("is_ready", [True, False])
@pytest.mark.parametrize("is_held", [True, False])
def test_a_program_that_needs_a_hand_drives_while_both_hold(is_driving, is_ready, is_held):
    program, person, controls = pair(
        True, replace(PROGRAM, is_held=is_ready), replace(HAND, is_held=is_held)
    )
    command = controls.step(5, (), is_driving)
    assert person.seen == [Observed((), is_driving, is_permitted=True)]
    assert program.seen == [Observed((), is_driving, is_permitted=is_held)]
    assert command == replace(PROGRAM, is_held=is_ready and is_held, input_count=77)
    assert person.let_gos == (is_driving and is_held and not is_ready)
    assert program.let_gos == 0


@pytest.mark.parametrize(
    ("of_hand", "of_program", "lost"),
    [("", "", ""), ("hand", "", "hand"), ("", "program", "program"), ("hand", "program", "hand")],
)
def test_whichever_is_lost_is_lost_the_hand_first(of_hand, of_program, lost):
    *_, controls = pair(True, replace(PROGRAM, lost=of_program), replace(HAND, lost=of_hand))
    assert controls.step(5, (), is_driving=True).lost == lost


@pytest.mark.parametrize(
    ("is_held", "permits", "drives_by_hand", "is_permitted"),
    [
        (True, False, True, False),
        (True, True, False, True),
        (False, False, False, False),
        (False, True, False, False),
    ],
)
def test_with_two_grips_one_drives_by_hand_and_the_other_lets_the_program_drive(
    is_held, permits, drives_by_hand, is_permitted
):
    hand = replace(HAND, is_held=is_held, permits_autonomy=permits)
    program, person, controls = pair(needs_hand=True, hand=hand)
    person.has_separate_enable = True
    command = controls.step(5, (), is_driving=True)
    assert program.seen == [Observed((), is_driving=True, is_permitted=is_permitted)]
    by_hand = replace(hand, is_by_hand=True)
    by_program = replace(PROGRAM, is_held=is_permitted, input_count=77)
    assert command == (by_hand if drives_by_hand else by_program)


@pytest.mark.parametrize(
    ("of_hand", "of_program", "lost"),
    [("", "", ""), ("hand", "", "hand"), ("", "program", "program"), ("hand", "program", "hand")],
)
def test_a_lost_program_is_told_while_a_person_drives_by_hand_too(of_hand, of_program, lost):
    _, person, controls = pair(True, replace(PROGRAM, lost=of_program), replace(HAND, lost=of_hand))
    person.has_separate_enable = True
    command = controls.step(5, (), is_driving=True)
    assert (command.is_by_hand, command.lost) == (True, lost)


def test_a_terminal_beside_a_person_is_asked_too_sees_the_cars_and_drives_nothing():
    terminal = Told(DriveCommand(0.4, 9.0, is_held=True), "terminal", is_person=True)
    person = Told(HAND, "person", is_person=True)
    source = vehicle().source("seat")
    controls = Controls(person, source, LIMITS, person, terminal=terminal)
    assert controls.step(5, (), is_driving=True) is HAND
    assert terminal.seen == [Observed((), is_driving=True, is_permitted=True)]


def test_both_are_asked_for_orders_let_go_and_closed_the_person_first():
    program, person, controls = pair(needs_hand=True)
    person.given, program.given = [OperatorRequest.STOP, OperatorRequest.ARM], [OperatorRequest.END]
    assert controls.requests() == [OperatorRequest.STOP, OperatorRequest.ARM, OperatorRequest.END]
    controls.let_go()
    asyncio.run(controls.close())
    for one in (program, person):
        assert (one.let_gos, one.closed) == (1, 1)


# --- what is said


def test_words_are_a_program_s_hints_a_person_s():
    *_, with_hand = pair(needs_hand=True)
    *_, without_hand = pair(needs_hand=False)
    _, person = alone(True)
    _, program = alone(False)
    several = (with_hand, without_hand, person, program)
    assert [it.status_text(7) for it in several] == ["words of program at 7"] * 2 + [
        "", "words of one at 7",
    ]  # fmt: skip
    assert [it.deadman_status_text(7) for it in several] == [
        "words of person at 7", "", "words of one at 7", "",
    ]  # fmt: skip
    assert [it.hint(7) for it in several] == ["hint of person at 7"] * 2 + ["hint of one at 7", ""]
    assert [it.is_held_by_hand() for it in several] == [True, False, True, False]


def test_who_holds_it_alone_and_is_nobody_s_second_has_no_words_for_a_hand():
    one = Told(PROGRAM, "one", is_person=True)
    controls = Controls(one, vehicle().source("seat"), LIMITS)
    assert (controls.deadman_status_text(7), controls.is_held_by_hand()) == ("", True)


def test_controls_are_of_one_input_and_of_nobody_else_unless_that_is_said():
    controls = Controls(Told(PROGRAM, "one"), vehicle().source("script"), LIMITS)
    assert (controls.person, controls.needs_hand, controls.guardian) == (None, False, None)


# --- what they are opened with


def context(vehicles=None, stand_in=None, **options) -> DriveContext:
    return DriveContext(
        DriveOptions(("car",), **options), vehicles or [vehicle()], lambda: 42, stand_in
    )


def with_source(name: str, of=None, **changes):
    of = of or vehicle()
    sources = tuple(replace(it, **changes) if it.name == name else it for it in of.sources)
    return replace(of, sources=sources)


def test_a_setting_says_what_was_asked_for():
    made = context(seconds=3.0, speed_mps=0.7)
    assert (made.vehicles, made.seconds, made.speed_mps) == ((vehicle(),), 3.0, 0.7)
    assert made.now_us() == 42


@pytest.mark.parametrize(
    ("stand_in", "is_attended", "name"),
    [(None, True, "script"), ("seat", True, "seat"), ("seat", False, "script")],
)
def test_an_attended_program_claims_under_the_person_who_stands_in(stand_in, is_attended, name):
    made = context([with_source("script", is_attended=is_attended)], stand_in)
    assert made.source("script").name == name
    assert made.lease_s("script") == vehicle().source(name).lease_s
    capped = context([with_source("script", is_attended=is_attended)], stand_in).limits("script")
    assert capped.speed_mps <= vehicle().source(name).speed_cap_mps


@pytest.mark.parametrize(
    ("asked", "caps", "tops", "reverses", "limits"),
    [
        (None, (3.0, 2.0), (5.0, 5.0), (1.5, 1.0), (2.0, 1.0)),
        (1.2, (3.0, 2.0), (5.0, 5.0), (1.5, 1.4), (1.2, 1.2)),
        (0.0, (3.0, 2.0), (5.0, 5.0), (1.0, 1.0), (0.0, 0.0)),
        (9.0, (3.0, 4.0), (1.7, 1.9), (0.9, 0.8), (1.7, 0.8)),
    ],
)
def test_a_reach_is_the_least_of_what_is_asked_for_the_caps_and_the_vehicles(
    asked, caps, tops, reverses, limits
):
    cars = [
        replace(
            with_source("script", speed_cap_mps=cap),
            speed_max_mps=top, reverse_max_mps=reverse, steer_max_rad=steer,
        )
        for cap, top, reverse, steer in zip(caps, tops, reverses, (0.4, 0.3), strict=True)
    ]  # fmt: skip
    assert context(cars, speed_mps=asked).limits("script") == InputLimits(*limits, 0.3)


def test_a_reach_ends_at_the_cap_that_the_drive_sets_on_its_cars():
    assert context(cap_mps=0.1).limits("script") == replace(
        context().limits("script"), speed_mps=0.1, reverse_mps=0.1
    )
    assert context(cap_mps=99.0).limits("script") == context().limits("script")


def test_from_afar_an_input_is_a_guest_within_its_cap():
    options = DriveOptions(("car",))

    def afar(stand_in=None, **more):
        return DriveContext(options, [vehicle()], lambda: 0, stand_in, is_afar=True, **more)

    beside = [(name, to) for name in ("seat", "gamepad", "script") for to in (None, "seat")]
    assert {afar(to).source(name).name for name, to in beside} == {"remote"}
    assert afar().source("ros2").name == "ros2"  # which no guest is lent: its host refuses it
    assert afar(guest_cap_mps=0.123).limits("script").speed_mps == 0.123
    assert afar(guest_cap_mps=99.0).limits("script") == afar().limits("script")
    with pytest.raises(UsageFault, match="release of keys"):
        afar().source("seat_slow")


# --- whose source


@pytest.mark.parametrize("changes", [{"id": 99}, {"mask": 1}, {"lease_s": 0.05}])
def test_a_source_that_another_car_knows_otherwise_is_refused(changes):
    with pytest.raises(UsageFault, match="their sources script differ") as raised:
        source_of_all([vehicle(), with_source("script", **changes)], "script")
    assert raised.value.expected == "the same place, actuators and lease in all vehicle files"
    assert raised.value.remedy == "drive cars of one vehicle together"


def test_what_else_differs_is_each_car_s_own():
    cars = [vehicle(), with_source("script", speed_cap_mps=0.1, priority=1)]
    assert source_of_all(cars, "script") is cars[0].source("script")


@pytest.mark.parametrize("at", [0, 1])
def test_a_source_that_one_car_lacks_is_refused(at):
    cars = [replace(vehicle(), path="one.toml"), replace(vehicle(), path="other.toml")]
    cars[at] = replace(cars[at], sources=())
    with pytest.raises(VehicleFileFault, match="the vehicle has no source script") as raised:
        source_of_all(cars, "script")
    assert raised.value.where == "one.toml"
    assert raised.value.expected == "a table [sources.script]"
    assert "add it" in raised.value.remedy


# --- who takes them


@pytest.mark.parametrize("is_virtual", [True, False])
def test_the_program_is_opened_after_the_person_under_whose_source_it_may_be(is_virtual):
    program, person = Told(PROGRAM, "program"), Told(HAND, "person", is_person=True)
    controls = taken(program, [vehicle()], is_virtual=is_virtual, person=person)
    assert (program.opened, person.opened, program.closed, person.closed) == (1, 1, 0, 0)
    assert controls.needs_hand is not is_virtual
    name = "script" if is_virtual else "seat"
    assert (controls.source.name, program.context.source("script").name) == (name, name)
    assert person.context.source("script").name == "script"
    assert (controls.person, controls.input, controls.guardian) == (person, program, None)


def test_virtual_cars_are_driven_by_a_program_with_nobody_there():
    program = Told(PROGRAM, "program")
    controls = taken(program, [vehicle()], is_virtual=True)
    assert (program.opened, controls.person, controls.needs_hand) == (1, None, False)


def test_who_both_drives_and_holds_is_opened_once():
    person = Told(HAND, "person", is_person=True)
    controls = taken(person, [vehicle()], is_virtual=False, person=person)
    assert (person.opened, controls.needs_hand, controls.source.name) == (1, False, "seat")


@pytest.mark.parametrize("is_virtual", [True, False])
def test_an_autonomous_source_needs_its_guardian_which_has_to_be_the_person_s(is_virtual):
    program, person = Told(PROGRAM, "program"), Told(HAND, "person", is_person=True)
    program.source, person.source = "devkit", "seat_slow"
    assert vehicle().source("devkit").needs == "seat"
    if is_virtual:
        controls = taken(program, [vehicle()], is_virtual=True, person=person)
        assert controls.guardian.name == "seat"
        return
    with pytest.raises(UsageFault, match="only while SPACE is held") as raised:
        taken(program, [vehicle()], is_virtual=False, person=person)
    assert "kitty" in raised.value.expected
    assert "virtual cars" in raised.value.remedy
    assert (program.closed, person.closed) == (1, 1)
    person.source = "seat"
    assert taken(program, [vehicle()], is_virtual=False, person=person).guardian.name == "seat"


def test_a_hand_of_another_source_than_the_guardian_s_is_told_which_it_has_to_be():
    """A gamepad, whose grip does report its release: what is wrong is the vehicle file."""
    program, person = Told(PROGRAM, "program"), Told(HAND, "person", is_person=True)
    program.source, person.source = "devkit", "gamepad"
    with pytest.raises(
        UsageFault, match="the driver's seat holds the deadman, and here the pad holds it"
    ) as raised:
        taken(program, [vehicle()], is_virtual=False, person=person)
    assert raised.value.expected == '[sources.devkit] with needs = "gamepad" in the vehicle file'
    assert "hold SPACE" in raised.value.remedy
    assert (program.closed, person.closed) == (1, 1)


def test_cars_are_real_unless_it_is_said_that_they_are_not():
    assert context().is_virtual is False


def test_a_hand_that_was_asked_for_is_needed_on_virtual_cars_too():
    program, person = Told(PROGRAM, "program"), Told(HAND, "person", is_person=True)
    controls = taken(program, [vehicle()], is_virtual=True, person=person, hand="gamepad")
    assert controls.needs_hand


@pytest.mark.parametrize("is_virtual", [True, False])
def test_whoever_is_opened_is_told_whether_the_cars_are_virtual(is_virtual):
    person = Told(HAND, "person", is_person=True)
    taken(person, [vehicle()], is_virtual=is_virtual, person=person)
    assert person.context.is_virtual is is_virtual


def test_a_terminal_is_opened_and_closed_with_the_others():
    program, terminal = Told(PROGRAM, "program"), Told(HAND, "terminal", is_person=True)
    controls = taken(program, [vehicle()], is_virtual=True, terminal=terminal)
    assert (terminal.opened, terminal.closed, controls.terminal) == (1, 0, terminal)
    asyncio.run(controls.close())
    assert terminal.closed == 1


def test_a_terminal_that_was_opened_is_closed_again_where_the_program_cannot_be():
    class Refusing(Told):
        async def open(self, context):
            raise UsageFault("no")

    program, terminal = Refusing(PROGRAM, "program"), Told(HAND, "terminal", is_person=True)
    with pytest.raises(UsageFault, match="no"):
        taken(program, [vehicle()], is_virtual=True, terminal=terminal)
    assert (terminal.opened, terminal.closed) == (1, 1)


def test_what_was_opened_is_closed_again_where_the_program_cannot_be():
    class Refusing(Told):
        async def open(self, context):
            raise UsageFault("no")

    program, person = Refusing(PROGRAM, "program"), Told(HAND, "person", is_person=True)
    with pytest.raises(UsageFault, match="no"):
        taken(program, [vehicle()], is_virtual=True, person=person)
    assert (person.closed, program.closed) == (1, 1), "what was opened halfway, too"


def test_a_real_car_and_nobody_there_is_refused_before_anything_is_opened():
    program = Told(PROGRAM, "program")
    with pytest.raises(UsageFault) as raised:
        taken(program, [vehicle()], is_virtual=False)
    assert raised.value.expected == "a terminal as standard input, or --hand gamepad"
    assert "run it in a terminal" in raised.value.remedy
    assert program.opened == 0


# --- which input


class Entry:
    def __init__(self, name: str) -> None:
        self.name = name

    def load(self):
        return lambda rest, options, now_us: (self.name, rest, options, now_us())


class Entries(list):
    @property
    def names(self) -> list[str]:
        return [entry.name for entry in self]


def entry_points(group: str, name: str | None = None) -> Entries:
    assert group == "tandem.inputs"
    every = Entries(map(Entry, ("script", "csv", "keyboard")))
    return every if name is None else Entries(it for it in every if it.name == name)


def test_an_input_is_made_by_its_entry_point_of_what_follows_its_colon(monkeypatch):
    monkeypatch.setattr(controls_module, "entry_points", entry_points)
    assert make_input("csv:a:b", {"x": "1"}, lambda: 4) == ("csv", "a:b", {"x": "1"}, 4)
    assert make_input("keyboard", {}, lambda: 4) == ("keyboard", "", {}, 4)


@pytest.mark.parametrize(
    ("text", "remedy"),
    [("csw:x", "did you mean csv?"), ("gamepad:0", "--input script:slalom")],
)
def test_an_unknown_input_is_refused_with_those_there_are(monkeypatch, text, remedy):
    monkeypatch.setattr(controls_module, "entry_points", entry_points)
    with pytest.raises(UsageFault) as raised:
        make_input(text, {}, lambda: 4)
    fault = raised.value
    assert fault.what == f"unknown input '{text.partition(':')[0]}'"
    assert (fault.got, fault.remedy) == (text, remedy)
    assert fault.expected == "csv:commands.csv or keyboard or script:slalom"


def test_whoever_reads_the_terminals_keys_is_alone_at_it(monkeypatch):
    """On a terminal that draws nothing the keyboard has no screen; a second one would be opened
    beside it, and which of them hears a key would be left to chance."""
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    person = Told(HAND, "keys", is_person=True)
    person.reads_terminal = True
    assert drive_loop._terminal(person, lambda: 5) is None
