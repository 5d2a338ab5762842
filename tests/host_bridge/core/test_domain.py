"""No code of the car's is without a word, and why a car stopped is a sentence for each cause."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace
from inspect import signature
from pathlib import Path

import pytest

from firmware.core.stops import fault_monitor as watch
from firmware.protocol import codes as car
from host_bridge import core
from host_bridge.core import codes as host
from host_bridge.core.codes import members
from host_bridge.core.reports import CarEvent, CarStatus, Inputs
from host_bridge.core.system.quickly_made import quickly_made
from host_bridge.core.texts.stops import (
    duration_text,
    stand_left_s,
    stop_age_s,
    stop_remedy,
    why_stopped,
)
from tests.host_bridge.drive.drives import vehicle
from tests.support.evidence import every, some

# the host's enumeration, the prefix of the car's names
SAME = (
    (host.Cause, "CAUSE_", {"CAUSE_COUNT"}),
    (host.Fault, "FAULT_", {"FAULT_COUNT"}),
    (host.Sender, "SENDER_", {"SENDER_COUNT"}),
    (host.Action, "ACTION_", set()),
    (host.Refusal, "REFUSED_", set()),
    (host.ArbitrationLoss, "LOST_", set()),
    (host.Device, "DEVICE_", set()),
    (host.EventCode, "EVENT_", set()),
    (
        host.ClaimVerdict,
        "CLAIM_",
        {"CLAIM_VERDICT_COUNT"},
    ),
)


@pytest.mark.parametrize(("kind", "prefix", "others"), SAME)
def test_each_code_of_the_car_has_its_word(kind, prefix, others):
    named = {n: v for n, v in vars(car).items() if n.startswith(prefix) and n not in others}
    assert {prefix + member.name: member.value for member in kind} == named
    assert every(member.phrase for member in kind)


def test_no_state_and_no_actuator_is_missing():
    assert sorted(host.Actuator) == list(range(car.ACTUATOR_COUNT))
    assert sorted(host.State) == list(range(car.FAULT + 1))
    assert host.Deadman.HELD | host.Deadman.PERMITS_AUTONOMY == 0b11


@pytest.mark.parametrize(
    ("kind", "prefix"),
    [(host.Profile, "PROFILE_"), (host.RcMode, "MODE_"), (host.ResetCause, "RESET_")],
)
def test_no_code_with_a_prefix_is_missing(kind, prefix):
    named = {n: v for n, v in vars(car).items() if n.startswith(prefix) and n[-6:] != "_COUNT"}
    assert {prefix + member.name: member.value for member in kind} == named


def test_each_state_is_armed_halted_or_neither():
    armed = [it.name for it in host.State if it.is_armed]
    halted = [it.name for it in host.State if it.is_halted]
    assert armed == ["ACTIVE", "HOLD"]
    assert halted == ["STOPPING", "STOPPED", "FAULT"]


def test_an_unknown_bit_is_a_code_beside_the_others():
    assert members(host.Cause, 0b101) == (host.Cause.RUNSTOP_LOOP, host.Cause.FROZEN_INPUT)
    *known, unknown = members(host.Cause, 1 << 15 | 1)
    assert known == [host.Cause.RUNSTOP_LOOP]
    assert (unknown.name, unknown.phrase, unknown.value) == ("unknown (15)", "unknown (15)", 15)


def test_no_result_of_binding_is_missing():
    named = {"BOUND": car.BOUND} | {n: v for n, v in vars(car).items() if n.startswith("BIND_")}
    assert {name.removeprefix("BIND_"): value for name, value in named.items()} == {
        result.name: result.value for result in host.BindResult
    }


def status(state=host.State.STOPPED, causes=(), faults=(), profile=host.Profile.TRACK) -> CarStatus:
    first = causes[0] if causes else None
    nobody = (None, None, None)
    return CarStatus(
        0, state, causes, first, faults, profile, *nobody, 0.0, 0.0, 0.0, 0.0, 0, 0, 0, 0, None
    )


def latched(cause, who, time_us=1000, name="") -> CarEvent:
    return CarEvent(7, time_us, host.EventCode.STOP_LATCHED, cause, who, name)


@pytest.mark.parametrize("cause", host.Cause)
@pytest.mark.parametrize("events", [(), "one"])
def test_every_cause_has_its_sentence_with_and_without_events(cause, events):
    events = (latched(cause, host.NOBODY),) if events else ()
    for of in (None, vehicle()):
        text = why_stopped(status(causes=(cause,)), events, of)
        assert text.startswith("Stopped because ")
        assert text.endswith(".")
        assert "255" not in text.replace("unknown (255)", "")


def test_each_cause_reads_differently():
    assert len({why_stopped(status(causes=(cause,))) for cause in host.Cause}) == len(host.Cause)


def test_a_deadman_counts_as_held_only_if_its_source_had_the_drive_until_then():
    def winner(source, time_us):
        return CarEvent(1, time_us, host.EventCode.WINNER_CHANGED, host.Actuator.DRIVE, source)

    silence = host.Cause.SILENCE
    stopped = status(causes=(silence,))
    until_then = (winner(1, 500), winner(host.NOBODY, 1000), latched(silence, 1))
    long_before = (winner(1, 500), winner(host.NOBODY, 900), latched(silence, 1))
    assert why_stopped(stopped, until_then, vehicle()) == (
        "Stopped because the driver's seat fell silent for more than 120 ms while it drove."
    )
    assert "while it drove" not in why_stopped(stopped, long_before, vehicle())


def test_the_last_stop_of_a_kind_is_the_one_that_counts():
    request = host.Cause.STOP_REQUEST
    events = (latched(request, 1, 10), latched(request, 4, 20, "tandem stop"))
    text = why_stopped(status(causes=(request,)), events)
    assert text == "Stopped because somebody at the computer (tandem stop) asked for a stop."


@pytest.mark.parametrize(
    ("cause", "text"),
    [
        (host.Cause.STOP_SOURCE, "the driver's seat says stop"),
        (host.Cause.STOP_SOURCE_SILENT, "the driver's seat, which it needs, was silent"),
    ],
)
def test_a_stop_source_is_called_by_its_name(cause, text):
    assert why_stopped(status(causes=(cause,)), (latched(cause, 3),), vehicle()) == (
        f"Stopped because {text}."
    )
    nameless = why_stopped(status(causes=(cause,)), (latched(cause, 3),))
    assert text.replace("the driver's seat", "stop source 3") in nameless


def test_since_when_it_stands_is_said_where_it_is_known():
    cause, relay = host.Cause.CHARGER, host.Fault.RELAY
    of_both = status(causes=(cause,), faults=(relay,))
    assert why_stopped(of_both, (), None, 192.9) == (
        f"Stopped 3 min 12 s ago because a charger is plugged in; also, {relay.phrase}."
    )
    faulty = status(host.State.FAULT, faults=(relay,))
    assert why_stopped(faulty, (), None, 7.0) == f"In fault for 7 s because {relay.phrase}."


def test_it_is_the_age_of_the_first_cause_or_else_of_the_first_fault():
    nothing = Inputs(True, True, False, (), (), (), (), (), (), None, True, 7, 12.0, 90.0)
    cause, relay = (host.Cause.CHARGER,), (host.Fault.RELAY,)
    assert stop_age_s(status(causes=cause, faults=relay), nothing) == 12.0
    assert stop_age_s(status(faults=relay), nothing) == 90.0
    assert stop_age_s(status(host.State.HOLD), nothing) is None


@pytest.mark.parametrize(
    ("span_s", "text"),
    [
        (0.0, "0 s"),
        (59.99, "59 s"),
        (60.0, "1 min 0 s"),
        (192.4, "3 min 12 s"),
        (3600.0, "1 h 0 min"),
        (86_399.0, "23 h 59 min"),
        (86_400.0, "1 d 0 h"),
        (999_999.9, "11 d 13 h"),
        (1_000_000.0, "more than 11 days"),
    ],
)
def test_a_span_is_said_in_its_two_largest_units(span_s, text):
    assert duration_text(span_s) == text


def test_the_time_left_on_a_stand_is_counted_from_the_arming():
    standing = status(host.State.HOLD, profile=host.Profile.STAND)
    armed = CarEvent(1, 2**30 - 4_000_000, host.EventCode.PROFILE, host.Profile.STAND, 300)
    of = vehicle()
    whole_s = of.parameters["stand_ms"][0] * 1e-3
    assert stand_left_s(standing, (armed,), of) == pytest.approx(whole_s - 4.0)
    assert stand_left_s(standing, (), of) is None
    assert (
        stand_left_s(status(host.State.STANDBY, profile=host.Profile.STAND), (armed,), of) is None
    )
    assert stand_left_s(status(host.State.HOLD), (armed,), of) is None


def test_what_to_do_is_that_of_the_first_cause_or_else_of_the_first_fault():
    charger, relay = host.Cause.CHARGER, host.Fault.RELAY
    assert stop_remedy(status(causes=(charger,), faults=(relay,))) == "Unplug the charger."
    assert stop_remedy(status(host.State.FAULT, faults=(relay,))) == "See to the relay."
    assert stop_remedy(status(host.State.ACTIVE)) == ""


def test_faults_are_said_and_nothing_where_nothing_is_wrong():
    faulty = status(host.State.FAULT, faults=(host.Fault.RELAY,))
    assert why_stopped(faulty) == "In fault because its power switch does not follow."
    assert why_stopped(status(host.State.ACTIVE)) == ""
    assert "cause is gone" in why_stopped(status(host.State.STOPPED))


def test_starts_that_did_not_last_are_blamed_on_the_program_or_on_the_power():
    """Whoever switches a car off and on three times in ten seconds each has no broken program."""

    words = host.Fault.BOOT_LOOP.phrase
    assert (
        f"last {_NUMBERS[watch._BOOTS_MAX]} starts lasted {watch._HEALTHY_US // 10**6} s" in words
    )
    assert "power was cut" in words


_NUMBERS = {2: "two", 3: "three", 4: "four"}


def test_each_name_of_the_vocabulary_is_there_and_none_is_that_of_a_file():
    """A file of that name would take its place as soon as somebody imports the file."""
    files = {path.stem for path in Path(core.__file__).parent.glob("*.py")}
    assert files & set(core.__all__) == set()
    assert [name for name in some(core.__all__) if not hasattr(core, name)] == []
    with pytest.raises(AttributeError, match="no attribute 'Struct'"):
        core.Struct  # noqa: B018


def test_a_record_that_is_quickly_made_is_the_same_record():
    @dataclass(frozen=True, slots=True)
    class Usual:
        x_m: float
        is_near: bool = False

    quick = quickly_made(dataclass(frozen=True, slots=True)(type("Usual", (), _fields_of(Usual))))
    for arguments, named in (((1.0,), {}), ((1.0, True), {}), ((), {"is_near": True, "x_m": 2.0})):
        made, usual = quick(*arguments, **named), Usual(*arguments, **named)
        assert (made.x_m, made.is_near) == (usual.x_m, usual.is_near)
        assert repr(made) == repr(usual).replace(Usual.__qualname__, "Usual")
        assert hash(made) == hash(usual)
        assert made == quick(usual.x_m, usual.is_near) == replace(quick(9.0), **asdict(usual))
    with pytest.raises(FrozenInstanceError):
        made.x_m = 3.0
    with pytest.raises(TypeError, match="x_m"):
        quick()
    assert signature(quick) == signature(Usual)


def _fields_of(kind):
    return {"__annotations__": kind.__annotations__, "is_near": False}


def test_a_record_with_a_default_that_has_to_be_made_is_not_quickly_made():
    @dataclass(frozen=True, slots=True)
    class Listed:
        values: list = field(default_factory=list)

    with pytest.raises(TypeError, match=r"Listed\.values: expected a plain field"):
        quickly_made(Listed)
