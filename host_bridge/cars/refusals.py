"""Texts for a car's refusals: the refusal's own text with the particulars of this car."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Protocol

from host_bridge.core import (
    LONGEST_STEP_S,
    ActionReply,
    CarIdentity,
    CarStatus,
    Inputs,
    Refusal,
    Vehicle,
    stop_source_name,
)
from host_bridge.core.codes import BoxPairing
from host_bridge.core.texts.table import (
    clause,
    source_subject,
    stop_source_remedy,
    stop_source_word,
)

_FITS_WELL = 0.75  # of the control period: steps below this overrun only for a passing reason
# What keeps a stop box from being believed, apart from its silence
_UNPAIRED = (
    BoxPairing.STRANGE,
    BoxPairing.BARE_BOX,
    BoxPairing.NO_KEY,
    BoxPairing.MOVED,
    BoxPairing.NO_CIPHER,
)
_OF_ANY_ARMED_CAR = (Refusal.MOVING, Refusal.RELAY)  # these follow from being armed


class RefusedCar(Protocol):
    """The attributes of ``car.ConnectedCar`` that a refusal's text needs."""

    config_hash: bytes | None
    cli_name: str
    identity: CarIdentity | None
    inputs: Inputs | None
    status: CarStatus | None
    vehicle: Vehicle | None

    def clock_text(self) -> str: ...


def refusal_text(refusal: Refusal, reply: ActionReply, car: RefusedCar) -> str:
    """Return the phrase, with the particulars in brackets if there are any.

    "" for a refusal that only follows from another one.
    """
    if refusal in _OF_ANY_ARMED_CAR and Refusal.STATE in reply.refusals and _is_armed(car):
        return ""
    details = _DETAILS.get(refusal, _no_details)(car, reply)
    text = f"{refusal.advice} ({details})" if details else refusal.advice
    return f"{text}: {_who_drives(car)}" if refusal is Refusal.STATE and _is_armed(car) else text


def _is_armed(car: RefusedCar) -> bool:
    return car.status is not None and car.status.state.is_armed


def _who_drives(car: RefusedCar) -> str:
    """Return which sources send claims to an armed car; ``tandem cars`` says which program does."""
    sources = car.vehicle.sources if car.vehicle else ()
    fresh = car.inputs.fresh if car.inputs else ()
    names = [source_subject(source.name) for source in sources if source.id in fresh]
    if not names:
        return "it is armed already"
    return f"{' and '.join(names)} drive{'s' * (len(names) == 1)} it"


def _no_details(car: RefusedCar, reply: ActionReply) -> str:
    return ""


def _hashes(car: RefusedCar, reply: ActionReply) -> str:
    if car.identity is None or car.config_hash is None:
        return ""
    return f"expected {car.config_hash.hex()}, got {car.identity.config_hash.hex()}"


def _faults(car: RefusedCar, reply: ActionReply) -> str:
    return ", ".join(fault.phrase for fault in car.status.faults) if car.status else ""


def _stop_sources(car: RefusedCar, reply: ActionReply) -> str:
    names = (stop_source_name(number, car.vehicle) for number in reply.stop_sources)
    return "; ".join(
        f"{stop_source_word(name)}: {_stop_source_remedy(name, car)}" for name in names
    )


def _stop_source_remedy(name: str, car: RefusedCar) -> str:
    known = car.inputs.pairing if car.inputs and name == "runstop_box" else None
    if known in _UNPAIRED:
        return known.advice
    return clause(stop_source_remedy(name))


def can_have_longer_period(car: RefusedCar) -> bool:
    """Return whether a longer control period helps and can be written to the board.

    For hardware in the loop it cannot: its parameters come from its URI.
    """
    return _can_lengthen_period(car) and not _is_hitl(car) and not _was_busy(car.inputs)


def _was_busy(inputs: Inputs | None) -> bool:
    """Return whether its steps fit the control period well, so that the overruns were passing."""
    return inputs is not None and inputs.takes_us < _FITS_WELL * inputs.beat_us


def _can_lengthen_period(car: RefusedCar) -> bool:
    """Return whether its control period is shorter than the longest that is allowed."""
    inputs = car.inputs
    return inputs is not None and inputs.beat_us < round(LONGEST_STEP_S * 1e6)


def _is_hitl(car: RefusedCar) -> bool:
    return car.identity is not None and car.identity.is_hitl


def _longer_period_remedy(car: RefusedCar) -> str:
    """Return what a person types to get a longer control period."""
    if _is_hitl(car):
        return f"open it with step_s={LONGEST_STEP_S:g} in its URI"
    return f"`tandem config write {shlex.quote(car.cli_name)} step_s={LONGEST_STEP_S:g}`"


def _overrun_details(car: RefusedCar, reply: ActionReply) -> str:
    inputs = car.inputs
    if inputs is None:
        return ""
    takes = f"a step takes {inputs.takes_us * 1e-3:.1f} ms of {inputs.beat_us * 1e-3:g}"
    missed = f"{inputs.missed_lately} of the last 100 control periods missed, 20 may be"
    remedy = "take a Pico 2"
    if _was_busy(inputs):
        remedy = "it was kept busy, as by reading or writing its configuration: wait two seconds"
    elif _can_lengthen_period(car):
        remedy = f"{_longer_period_remedy(car)}, or take a Pico 2"
    return f"{takes}, {missed}: {remedy}"


# The particulars of a refusal besides its phrase
_DETAILS: dict[Refusal, Callable[[RefusedCar, ActionReply], str]] = {
    Refusal.STATE: lambda car, reply: car.status.shown_state.word if car.status else "",
    Refusal.CLOCK_UNSURE: lambda car, reply: car.clock_text(),
    Refusal.CAUSE_PRESENT: lambda car, reply: ", ".join(c.phrase for c in reply.causes_present),
    Refusal.FAULT: _faults,
    Refusal.CONFIGURATION: _hashes,
    Refusal.STOP_SOURCE: _stop_sources,
    Refusal.OFF_BEAT: _overrun_details,
}
