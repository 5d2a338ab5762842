"""Texts for a car's events: each a sentence without its full stop."""

from __future__ import annotations

from collections.abc import Callable

from host_bridge.core.codes import (
    NOBODY,
    Action,
    Actuator,
    ArbitrationLoss,
    BatteryStage,
    Cause,
    ClaimVerdict,
    EventCode,
    Fault,
    Profile,
    Refusal,
    ResetCause,
    State,
    members,
)
from host_bridge.core.reasons import stop_source_name
from host_bridge.core.reports import CarEvent
from host_bridge.core.vehicle import Vehicle

_OWN_SLOT = 4  # the slot of the car's own session, that of its RC receiver
_FOLLOWS = ("a stop follows", "another may take over")
_IS_THERE = ("is silent", "is there", "says stop")


def event_text(event: CarEvent, vehicle: Vehicle | None = None) -> str:
    """Return the text of this event.

    With ``vehicle`` given, sources and stop sources are called by their names, else by their ids.
    """
    words = _WORDS.get(event.code)
    if words is None:
        return f"event {event.code.name}: {event.a}, {event.b}"
    return words(event.a, event.b, vehicle)


def _source(number: int, vehicle: Vehicle | None) -> str:
    names = [s.name for s in vehicle.sources if s.id == number] if vehicle else []
    return "nobody" if number == NOBODY else f"source {names[0] if names else number}"


def _session(slot: int) -> str:
    return "the car's own session" if slot == _OWN_SLOT else f"session {slot}"


def _choice(words: tuple[str, ...], number: int) -> str:
    return words[number] if 0 <= number < len(words) else f"unknown ({number})"


def _action_taken(a: int, b: int, vehicle: Vehicle | None) -> str:
    by = "by the RC's gesture" if b == _OWN_SLOT else f"for {_session(b)}"
    return f"{Action(a).phrase} done {by}"


def _action_refused(a: int, b: int, vehicle: Vehicle | None) -> str:
    reasons = "; ".join(refusal.phrase for refusal in members(Refusal, b))
    return f"{Action(a).phrase} refused: {reasons}"


def _actuators(bits: int) -> str:
    return ", ".join(actuator.name.lower() for actuator in members(Actuator, bits))


def _clamped(a: int, b: int, vehicle: Vehicle | None) -> str:
    return f"{_source(a, vehicle)} asks for more than the car may: {_actuators(b)}"


def _lost(a: int, b: int, vehicle: Vehicle | None) -> str:
    what = _actuators(b >> 8) or "what it wants"  # older logs name no actuators
    return f"{_source(a, vehicle)} does not win {what}: {ArbitrationLoss(b & 0xFF).phrase}"


def _stop_source(a: int, b: int, vehicle: Vehicle | None) -> str:
    return f"stop source {stop_source_name(a, vehicle)} {_choice(_IS_THERE, b)}"


def _battery(a: int, b: int, vehicle: Vehicle | None) -> str:
    return f"battery {BatteryStage(a).name.lower()}, {b * 1e-3:.1f} V"


def _winner(a: int, b: int, vehicle: Vehicle | None) -> str:
    return f"{Actuator(a).name.lower()} goes to {_source(b, vehicle)}"


def _started(a: int, b: int, vehicle: Vehicle | None) -> str:
    failed = f", after {b} starts that did not last" if b else ""
    return f"started: {ResetCause(a).phrase}{failed}"


def _beat(a: int, b: int, vehicle: Vehicle | None) -> str:
    found = "it keeps its beat again" if a else "it misses too many beats to be armed"
    return f"{found}: a step takes {b * 1e-3:.1f} ms"


Words = Callable[[int, int, "Vehicle | None"], str]

_WORDS: dict[EventCode, Words] = {
    EventCode.STATE_CHANGED: lambda a, b, v: f"{State(a).name} to {State(b).name}",
    EventCode.STOP_LATCHED: lambda a, b, v: f"stop: {Cause(a).phrase}",
    EventCode.FAULT_LATCHED: lambda a, b, v: f"fault: {Fault(a).phrase}",
    EventCode.CLAIM_REFUSED: lambda a, b, v: (
        f"claim of {_source(a, v)} refused: {ClaimVerdict(b).phrase}"
    ),
    EventCode.ACTION_TAKEN: _action_taken,
    EventCode.ACTION_REFUSED: _action_refused,
    EventCode.SOURCE_ENGAGED: lambda a, b, v: f"{_source(a, v)} engaged, of {_session(b)}",
    EventCode.SOURCE_SILENT: lambda a, b, v: f"{_source(a, v)} fell silent: {_choice(_FOLLOWS, b)}",
    EventCode.SESSION_BOUND: lambda a, b, v: f"{_session(a)} bound",
    EventCode.CLOCK_STEPPED: lambda a, b, v: f"the clock of {_session(a)} jumped by {b} us",
    EventCode.CONFIGURED: lambda a, b, v: f"configured: {a} parameters",
    EventCode.WINNER_CHANGED: _winner,
    EventCode.SOURCE_LOST: _lost,
    EventCode.STARTED: _started,
    EventCode.PROFILE: lambda a, b, v: (
        f"armed in profile {Profile(a).name.lower()}, {b * 1e-3:g} m/s at most"
    ),
    EventCode.SPEED_CAP: lambda a, b, v: f"the operator's cap: {a * 1e-3:g} m/s, by {_session(b)}",
    EventCode.STOP_SOURCE: _stop_source,
    EventCode.BATTERY: _battery,
    EventCode.CLAMPED: _clamped,
    EventCode.IMU: lambda a, b, v: (
        "the IMU is there again" if a else "the IMU is silent: the car reckons by its steering"
    ),
    EventCode.BEAT: _beat,
}
