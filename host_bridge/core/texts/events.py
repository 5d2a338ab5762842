"""Texts for a car's events: each a sentence without its full stop.

The sentences are in ``texts``; here is what each event fills into its own.
"""

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
from host_bridge.core.reports import CarEvent
from host_bridge.core.texts.stops import stop_source_name
from host_bridge.core.texts.table import TEXTS, source_subject, stop_source_subject
from host_bridge.core.vehicle import Vehicle

_OWN_SLOT = 4  # the slot of the car's own session, that of its RC receiver
_FOLLOWS = ("a stop follows", "another may take over")
_IS_THERE = ("is silent", "is there", "says stop")
_IMU = ("is silent: the car reckons by its steering", "is there again")
_BEAT = ("misses too many control periods to be armed", "keeps its control period again")
_ALL = "what it wants"  # older logs name no actuators


def event_text(event: CarEvent, vehicle: Vehicle | None = None) -> str:
    """Return the text of this event.

    With ``vehicle`` given, sources and stop sources are called by their words, else by their ids.
    """
    fields = _FIELDS.get(event.code)
    if fields is None:
        return f"event {event.code.name}: {event.a}, {event.b}"
    return TEXTS["EventCode"][event.code.name][2].format(**fields(event.a, event.b, vehicle))


def _source(number: int, vehicle: Vehicle | None) -> str:
    names = [s.name for s in vehicle.sources if s.id == number] if vehicle else []
    if number == NOBODY:
        return "nobody"
    return source_subject(names[0]) if names else f"source {number}"


def _session(slot: int) -> str:
    return "the transmitter's session" if slot == _OWN_SLOT else f"session {slot}"


def _choice(words: tuple[str, ...], number: int) -> str:
    return words[number] if 0 <= number < len(words) else f"unknown ({number})"


def _actuators(bits: int) -> str:
    return ", ".join(actuator.word for actuator in members(Actuator, bits))


Fields = dict[str, object]


def _action_taken(a: int, b: int, vehicle: Vehicle | None) -> Fields:
    by = "by the transmitter's gesture" if b == _OWN_SLOT else f"({_session(b)})"
    return {"action": Action(a).phrase, "by": by}


def _action_refused(a: int, b: int, vehicle: Vehicle | None) -> Fields:
    reasons = "; ".join(refusal.advice for refusal in members(Refusal, b))
    return {"action": Action(a).phrase, "refusals": reasons}


def _winner(a: int, b: int, vehicle: Vehicle | None) -> Fields:
    actuator = Actuator(a)
    has = "drives" if actuator is Actuator.DRIVE else f"has the {actuator.word}"
    return {"source": _source(b, vehicle), "has": has}


def _lost(a: int, b: int, vehicle: Vehicle | None) -> Fields:
    return {
        "source": _source(a, vehicle),
        "actuators": _actuators(b >> 8) or _ALL,
        "loss": ArbitrationLoss(b & 0xFF).phrase,
    }


def _started(a: int, b: int, vehicle: Vehicle | None) -> Fields:
    failed = f", after {b} starts that did not last" if b else ""
    return {"reset": ResetCause(a).phrase, "failed": failed}


def _stop_source(a: int, b: int, vehicle: Vehicle | None) -> Fields:
    name = stop_source_name(a, vehicle)
    return {"stop_source": stop_source_subject(name), "change": _choice(_IS_THERE, b)}


_FIELDS: dict[EventCode, Callable[[int, int, Vehicle | None], Fields]] = {
    EventCode.STATE_CHANGED: lambda a, b, v: {"a": State(a).word, "b": State(b).word},
    EventCode.STOP_LATCHED: lambda a, b, v: {"cause": Cause(a).phrase},
    EventCode.FAULT_LATCHED: lambda a, b, v: {"fault": Fault(a).phrase},
    EventCode.CLAIM_REFUSED: lambda a, b, v: {
        "source": _source(a, v),
        "verdict": ClaimVerdict(b).phrase,
    },
    EventCode.ACTION_TAKEN: _action_taken,
    EventCode.ACTION_REFUSED: _action_refused,
    EventCode.SOURCE_ENGAGED: lambda a, b, v: {"source": _source(a, v), "session": _session(b)},
    EventCode.SOURCE_SILENT: lambda a, b, v: {
        "source": _source(a, v),
        "follows": _choice(_FOLLOWS, b),
    },
    EventCode.SESSION_BOUND: lambda a, b, v: {"session": _session(a)},
    EventCode.CLOCK_STEPPED: lambda a, b, v: {"session": _session(a), "ms": round(b / 1e3, 1)},
    EventCode.CONFIGURED: lambda a, b, v: {"count": a},
    EventCode.WINNER_CHANGED: _winner,
    EventCode.SOURCE_LOST: _lost,
    EventCode.STARTED: _started,
    EventCode.PROFILE: lambda a, b, v: {"profile": Profile(a).word, "mps": b * 1e-3},
    EventCode.SPEED_CAP: lambda a, b, v: {"mps": a * 1e-3, "session": _session(b)},
    EventCode.STOP_SOURCE: _stop_source,
    EventCode.BATTERY: lambda a, b, v: {"stage": BatteryStage(a).word, "volts": b * 1e-3},
    EventCode.CLAMPED: lambda a, b, v: {"source": _source(a, v), "actuators": _actuators(b)},
    EventCode.IMU: lambda a, b, v: {"change": _IMU[bool(a)]},
    EventCode.BEAT: lambda a, b, v: {"change": _BEAT[bool(a)], "ms": b * 1e-3},
}
