"""The sentence that says why a car stopped, the same in every command."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from host_bridge.core.board_time import TIME_MASK, elapsed_us
from host_bridge.core.codes import (
    NOBODY,
    STOP_SOURCE_RUNSTOP_BOX,
    STOP_SOURCE_STRANGE,
    Actuator,
    ArbitrationLoss,
    Cause,
    EventCode,
    Profile,
    Sender,
)
from host_bridge.core.reports import CarEvent, CarStatus, Inputs
from host_bridge.core.texts.table import (
    CAUSES_BY,
    source_subject,
    stop_source_subject,
    stop_source_word,
)
from host_bridge.core.vehicle import SourceFacts, Vehicle

_LONGEST_S = 1_000_000.0  # the car's own counter of a cause's age saturates here
_UNITS = (
    (("d", 86_400), ("h", 3_600)),
    (("h", 3_600), ("min", 60)),
    (("min", 60), ("s", 1)),
)


def why_stopped(
    status: CarStatus,
    events: Sequence[CarEvent] = (),
    vehicle: Vehicle | None = None,
    age_s: float | None = None,
) -> str:
    """Return why this car stands or is coming to rest; "" if nothing keeps it from moving.

    ``events`` are the car's known events, oldest first. With ``vehicle`` given, sources are
    called by their names; with ``age_s``, the age of the first cause (or fault), the sentence
    says that too.
    """
    if status.first_cause is not None:
        others = [c for c in status.causes if c != status.first_cause]
        if _is_named_twice(status.first_cause, events, vehicle):
            others = [c for c in others if c is not Cause.STOP_SOURCE]
        named = [_cause(cause, events, vehicle) for cause in (status.first_cause, *others)]
        named += [fault.phrase for fault in status.faults]
        ago = "" if age_s is None else f" {duration_text(age_s)} ago"
        return f"Stopped{ago} because {'; also, '.join(named)}."
    if status.faults:
        lasts = "" if age_s is None else f" for {duration_text(age_s)}"
        return f"In fault{lasts} because {'; also, '.join(f.phrase for f in status.faults)}."
    if status.state.is_halted:
        return "Stopped; the cause is gone and was cleared."
    return ""


def stop_remedy(status: CarStatus) -> str:
    """Return what to do about the first stop cause, or else the first fault; "" for nothing."""
    if status.first_cause is not None:
        return status.first_cause.remedy
    return status.faults[0].remedy if status.faults else ""


def stop_age_s(status: CarStatus, inputs: Inputs) -> float | None:
    """Return for how many seconds something has kept this car from moving; None if nothing does.

    This is the age of its first stop cause, or else of its first fault.
    """
    if status.first_cause is not None:
        return inputs.cause_age_s
    return inputs.fault_age_s if status.faults else None


def duration_text(span_s: float) -> str:
    """Return a duration as text in its two largest units."""
    if span_s >= _LONGEST_S:
        return f"more than {_LONGEST_S // 86_400:.0f} days"
    seconds = int(span_s)
    for (big, big_s), (small, small_s) in _UNITS:
        if seconds >= big_s:
            return f"{seconds // big_s} {big} {seconds % big_s // small_s} {small}"
    return f"{seconds} s"


def _cause(cause: Cause, events: Sequence[CarEvent], vehicle: Vehicle | None) -> str:
    latched = _last(events, EventCode.STOP_LATCHED, cause)
    say = _SENTENCES.get(cause)
    if latched is None or say is None:
        return cause.phrase
    return say(latched, events, vehicle)


def _is_named_twice(first: Cause, events: Sequence[CarEvent], vehicle: Vehicle | None) -> bool:
    """Return whether the stop request and the latched stop source have the same sender.

    A party that asks for a stop and is a stop source too latches both causes; naming it once is
    enough.
    """
    by_request = _last(events, EventCode.STOP_LATCHED, Cause.STOP_REQUEST)
    by_source = _last(events, EventCode.STOP_LATCHED, Cause.STOP_SOURCE)
    if first is not Cause.STOP_REQUEST or by_request is None or by_source is None:
        return False
    number = by_source.b if by_source.b == NOBODY else by_source.b & ~STOP_SOURCE_STRANGE
    return Sender(by_request.b).name.lower() == stop_source_name(number, vehicle)


def why_nobody_drives(events: Sequence[CarEvent]) -> str:
    """Return why the newest source that lost the drive does not have it; "" if none is known."""
    for event in reversed(events):
        if event.code is EventCode.SOURCE_LOST and event.b >> 8 >> Actuator.DRIVE & 1:
            return ArbitrationLoss(event.b & 0xFF).phrase
    return ""


def _last(events: Sequence[CarEvent], code: EventCode, a: int) -> CarEvent | None:
    for event in reversed(events):
        if event.code is code and event.a == a:
            return event
    return None


def _source(number: int, vehicle: Vehicle | None) -> tuple[str, SourceFacts | None]:
    for source in vehicle.sources if vehicle else ():
        if source.id == number:
            return source_subject(source.name), source
    return ("a source", None) if number == NOBODY else (f"source {number}", None)


def _silence(latched: CarEvent, events: Sequence[CarEvent], vehicle: Vehicle | None) -> str:
    name, source = _source(latched.b, vehicle)
    limit = f" for more than {source.lease_s * 1000:.0f} ms" if source else ""
    held = " while it drove" if _was_driving(latched, events) else ""
    return CAUSES_BY["SILENCE"].format(who=name, limit=limit, held=held)


def _was_driving(latched: CarEvent, events: Sequence[CarEvent]) -> bool:
    """Return whether the source behind a stop had the drive until the step of that stop."""
    for event in reversed(events):
        is_before = elapsed_us(latched.time_us, event.time_us) > 0
        if is_before and event.code is EventCode.WINNER_CHANGED and event.a == Actuator.DRIVE:
            return event.b == latched.b
    return False


def _frozen(latched: CarEvent, events: Sequence[CarEvent], vehicle: Vehicle | None) -> str:
    name, _ = _source(latched.b, vehicle)
    return CAUSES_BY["FROZEN_INPUT"].format(who=name)


def _request(latched: CarEvent, events: Sequence[CarEvent], vehicle: Vehicle | None) -> str:
    name = f" ({latched.sender_name})" if latched.sender_name else ""
    return CAUSES_BY["STOP_REQUEST"].format(who=f"{Sender(latched.b).phrase}{name}")


def stop_source_name(number: int, vehicle: Vehicle | None) -> str:
    """Return a stop source's name, as the vehicle file has it if that is given.

    The runstop box has a name without a file too: a car with a box's key needs it in any vehicle.
    """
    names = [s.name for s in vehicle.stop_sources if s.id == number] if vehicle else []
    other = "runstop_box" if number == STOP_SOURCE_RUNSTOP_BOX else f"stop source {number}"
    return names[0] if names else other


def _stop_source(latched: CarEvent, events: Sequence[CarEvent], vehicle: Vehicle | None) -> str:
    number = latched.b
    if number != NOBODY and number & STOP_SOURCE_STRANGE:
        word = stop_source_word(stop_source_name(number - STOP_SOURCE_STRANGE, vehicle))
        return CAUSES_BY["STRANGE"].format(word=word)
    return CAUSES_BY["STOP_SOURCE"].format(who=_called(number, vehicle))


def _silent_stop_source(
    latched: CarEvent, events: Sequence[CarEvent], vehicle: Vehicle | None
) -> str:
    return CAUSES_BY["STOP_SOURCE_SILENT"].format(who=_called(latched.b, vehicle))


def _called(number: int, vehicle: Vehicle | None) -> str:
    if number == NOBODY:
        return "a stop source"
    return stop_source_subject(stop_source_name(number, vehicle))


def stand_left_s(
    status: CarStatus | None, events: Sequence[CarEvent], vehicle: Vehicle | None
) -> float | None:
    """Return for how many seconds a car armed with its wheels off the ground may stay so.

    None if it is not so armed, or if the time of arming is not known.
    """
    if status is None or status.profile is not Profile.STAND or not status.state.is_armed:
        return None
    armed = _last(events, EventCode.PROFILE, Profile.STAND)
    if armed is None or vehicle is None:
        return None
    spent_s = (status.time_us - armed.time_us & TIME_MASK) * 1e-6
    return max(vehicle.parameters["stand_ms"][0] * 1e-3 - spent_s, 0.0)


_SENTENCES: dict[Cause, Callable[[CarEvent, Sequence[CarEvent], Vehicle | None], str]] = {
    Cause.SILENCE: _silence,
    Cause.FROZEN_INPUT: _frozen,
    Cause.STOP_REQUEST: _request,
    Cause.STOP_SOURCE: _stop_source,
    Cause.STOP_SOURCE_SILENT: _silent_stop_source,
}
