"""The rules for a wiring: every refusal, each with its remedy. Without any the wiring is right."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from host_bridge.config.boards.facts import Wire
from host_bridge.config.boards.pins.case import WiringCase, spans
from host_bridge.config.boards.pins.part_rules import PART_RULES
from host_bridge.config.boards.schema import BUS_WIRES, SIDES
from host_bridge.core.errors import VehicleFileFault

# an input takes 0.3 V more than 3.3 V; a 5 V tolerant one half a volt more
_LOGIC_MAX_V, _TOLERANT_MAX_V = 3.6, 5.5
_OF_VESC = ("vesc", "vesc_servo")


def refusals(case: WiringCase) -> Iterator[VehicleFileFault]:
    """Yield what is missing, then what is wrong with each wire and each part."""
    yield from _missing(case)
    for wire in case.wiring.wires:
        yield from _first(rule(case, wire) for rule in _PIN_RULES)
        yield from (fault for rule in _WIRE_RULES if (fault := rule(case, wire)))
    for part in case.wiring.parts:
        yield from (fault for rule in PART_RULES if (fault := rule(case, part)))


def is_usable(case: WiringCase, wire: Wire) -> bool:
    """Return whether the wire's pin exists, is free and has no second wire."""
    return not any(rule(case, wire) for rule in _PIN_RULES)


def _first(found: Iterator[VehicleFileFault | None]) -> Iterator[VehicleFileFault]:
    """Yield the first fault only, since a pin that does not exist would break further rules too."""
    for fault in found:
        if fault:
            yield fault
            return


# --- missing


def _missing(case: WiringCase) -> Iterator[VehicleFileFault]:
    wired = {part.title for part in case.wiring.channels}
    for channel in case.needs.channels:
        if channel["name"].replace("_", " ") not in wired:
            yield _unwired(case, f"channels.{channel['name']}", f"a {channel['kind']} channel")
    for slot, why in (*case.needs.slots.items(), *_by_vesc(case)):
        if slot not in case.wiring.others:
            yield _unwired(case, slot, why)
    if case.needs.has_wheels:
        yield from _missing_encoders(case)
        yield from _missing_off_delay(case)


def _by_vesc(case: WiringCase) -> Iterator[tuple[str, str]]:
    """Yield the slot of the VESC's line, if any part depends on the VESC."""
    users = [part.title for part in case.wiring.parts if part.kind.partition(".")[2] in _OF_VESC]
    if users:
        yield "vesc", f"the line to it, for {', '.join(users)}"


def _unwired(case: WiringCase, slot: str, why: str) -> VehicleFileFault:
    return case.fault(
        f"wiring.{case.needs.wiring}.{slot}",
        f"{slot.rpartition('.')[2]} of {case.needs.vehicle} is not wired",
        expected=f"its pins, because it is {why}" if why.startswith("a ") else f"its pins: {why}",
        got="nothing",
        remedy=f"wire it, and add {slot} to [wiring.{case.needs.wiring}]",
    )


def _missing_encoders(case: WiringCase) -> Iterator[VehicleFileFault]:
    sides = {SIDES[part.slot.rpartition(".")[2]] for part in case.wiring.encoders}
    if "both" not in sides and not {"left", "right"} <= sides:
        yield case.fault(
            f"wiring.{case.needs.wiring}.encoders",
            "the wheels of one side or of both are not counted",
            expected="shaft, or encoders of left and right wheels",
            got=", ".join(sorted(sides)) or "nothing",
            remedy="add what is fitted: shaft, left and right, or front_left and so on",
        )


def _missing_off_delay(case: WiringCase) -> Iterator[VehicleFileFault]:
    """Refuse an off-delay on real boards: no board brakes on the loop's contact yet."""
    milliseconds = case.needs.parameters["loop_brake_ms"][0]
    if milliseconds:
        yield case.fault(
            f"wiring.{case.needs.wiring}.enable",
            f"{case.needs.vehicle} is to brake before it is cut, which only virtual cars can",
            expected="stop.loop_brake_s = 0 in the vehicle file",
            got=f"{milliseconds * 1e-3:g}",
            remedy="leave it out of the file of a real car: no runstop circuit with an off-delay "
            "was measured yet (hardware/stopping.md)",
        )


# --- one pin


def _unknown(case: WiringCase, wire: Wire) -> VehicleFileFault | None:
    board = case.board
    if wire.pin in board.pins or wire.pin in board.reserved:
        return None
    return case.fault(
        wire.key,
        f"{board.name} has no pin {wire.pin} for {wire.title}",
        expected=f"one of {spans(board.pins)}",
        got=wire.pin,
        remedy=f"a free one is {case.free_pin()}",
    )


def _reserved(case: WiringCase, wire: Wire) -> VehicleFileFault | None:
    purpose = case.board.reserved.get(wire.pin)
    if purpose is None or purpose in (wire.part.slot, wire.name):
        return None
    return case.fault(
        wire.key,
        f"pin {wire.pin} is used by {case.board.name} itself, for {purpose}",
        expected=f"one of {spans(case.board.pins)}",
        got=wire.pin,
        remedy=f"move {wire.title}; a free one is {case.free_pin()}",
    )


def _doubled(case: WiringCase, wire: Wire) -> VehicleFileFault | None:
    for other in case.wiring.wires:
        if other is wire or other.key == wire.key:
            return None
        if other.pin == wire.pin and not (other.use == wire.use and wire.use in BUS_WIRES):
            return case.fault(
                wire.key,
                f"pin {wire.pin} has two wires: {other.title} and {wire.title}",
                expected="a pin of its own for each wire",
                got=wire.pin,
                remedy=f"move one of them; a free one is {case.free_pin()}",
            )
    return None


# --- the needs of a wire from its pin


def _adc(case: WiringCase, wire: Wire) -> VehicleFileFault | None:
    if wire.use != "adc" or wire.pin in case.board.adc:
        return None
    return case.fault(
        wire.key,
        f"pin {wire.pin} has no ADC, which {wire.title} needs",
        expected=f"one of {spans(tuple(p for p in case.board.pins if p in case.board.adc))}",
        got=wire.pin,
        remedy="move it to one of those",
    )


def _volts(case: WiringCase, wire: Wire) -> VehicleFileFault | None:
    if not wire.facts.is_input:
        return None
    is_tolerant = wire.pin in case.board.chip.tolerant_5v
    limit_v = _TOLERANT_MAX_V if is_tolerant else _LOGIC_MAX_V
    if wire.part.values["volts"] <= limit_v:
        return None
    return case.fault(
        wire.key,
        f"{wire.title} brings too many volts for pin {wire.pin}",
        expected=f"{limit_v:g} V or less",
        got=f"{wire.part.values['volts']:g} V",
        remedy="put a level shifter or a divider between, and write what comes out of it as volts",
    )


def _glitches(case: WiringCase, wire: Wire) -> VehicleFileFault | None:
    if not (wire.facts.is_output and wire.facts.acts and wire.pin in case.board.chip.glitching):
        return None
    return case.fault(
        wire.key,
        f"pin {wire.pin} goes high while the board starts, and {wire.title} would act on it",
        expected=f"none of {spans(tuple(sorted(case.board.chip.glitching, key=str)))}",
        got=wire.pin,
        remedy=f"move it; a free one is {case.free_pin()}",
    )


PinRule = Callable[[WiringCase, Wire], "VehicleFileFault | None"]
_PIN_RULES: tuple[PinRule, ...] = (_unknown, _reserved, _doubled)
_WIRE_RULES: tuple[PinRule, ...] = (_adc, _volts, _glitches)
