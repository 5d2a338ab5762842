"""Why did it stop: one sentence, the same everywhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from host_bridge.domain.codes import (
    NOBODY,
    Actuator,
    Cause,
    EventCode,
    Sender,
    State,
)
from host_bridge.domain.reports import CarEvent, CarStatus
from host_bridge.domain.vehicle import SourceFacts, Vehicle

_HALF = 1 << 29
_PERIOD = 1 << 30


def why_stopped(
    status: CarStatus, events: Sequence[CarEvent] = (), vehicle: Vehicle | None = None
) -> str:
    """The reason why this car stands or is coming to rest; "" if nothing keeps it from moving.

    ``events`` are what is known of the car's chronicle, oldest first; with the vehicle at hand
    sources are called by their names.
    """
    if status.first_cause is not None:
        others = [c for c in status.causes if c is not status.first_cause]
        also = "".join(f"; also, {cause.phrase}" for cause in others)
        return f"Stopped because {_cause(status.first_cause, events, vehicle)}{also}."
    if status.faults:
        return f"In fault because {'; also, '.join(fault.phrase for fault in status.faults)}."
    if status.state in (State.STOPPING, State.STOPPED, State.FAULT):
        return "Stopped; the cause is gone and was cleared."
    return ""


def _cause(cause: Cause, events: Sequence[CarEvent], vehicle: Vehicle | None) -> str:
    latched = _last(events, EventCode.STOP_LATCHED, cause)
    say = _SENTENCES.get(cause)
    if latched is None or say is None:
        return cause.phrase
    return say(latched, events, vehicle)


def _last(events: Sequence[CarEvent], code: EventCode, a: int) -> CarEvent | None:
    for event in reversed(events):
        if event.code is code and event.a == a:
            return event
    return None


def _source(number: int, vehicle: Vehicle | None) -> tuple[str, SourceFacts | None]:
    for source in vehicle.sources if vehicle else ():
        if source.id == number:
            return f"source {source.name}", source
    return ("a source", None) if number == NOBODY else (f"source {number}", None)


def _silence(latched: CarEvent, events: Sequence[CarEvent], vehicle: Vehicle | None) -> str:
    name, source = _source(latched.b, vehicle)
    limit = f" for more than {source.lease_s * 1000:.0f} ms" if source else ""
    held = " (deadman held until then)" if _was_driving(latched, events) else ""
    return f"{name} fell silent{limit}{held}"


def _was_driving(latched: CarEvent, events: Sequence[CarEvent]) -> bool:
    """Whether the source behind a stop had the drive until the very step of the stop."""
    for event in reversed(events):
        is_before = 0 < (latched.time_us - event.time_us) % _PERIOD < _HALF
        if is_before and event.code is EventCode.WINNER_CHANGED and event.a == Actuator.DRIVE:
            return event.b == latched.b
    return False


def _frozen(latched: CarEvent, events: Sequence[CarEvent], vehicle: Vehicle | None) -> str:
    name, _ = _source(latched.b, vehicle)
    return f"the input device of {name} froze with its deadman held"


def _request(latched: CarEvent, events: Sequence[CarEvent], vehicle: Vehicle | None) -> str:
    is_known = latched.b in Sender.__members__.values()
    kind = Sender(latched.b).phrase if is_known else f"a sender of kind {latched.b}"
    name = f" ({latched.sender_name})" if latched.sender_name else ""
    return f"{kind}{name} asked for a stop"


_SENTENCES: dict[Cause, Callable[[CarEvent, Sequence[CarEvent], Vehicle | None], str]] = {
    Cause.SILENCE: _silence,
    Cause.FROZEN_INPUT: _frozen,
    Cause.STOP_REQUEST: _request,
}
