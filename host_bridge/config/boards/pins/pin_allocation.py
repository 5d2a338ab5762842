"""Allocation of the chip's peripherals to a wiring, and the refusals of what cannot be placed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from host_bridge.config.boards.facts import Pin, Pins, Wire
from host_bridge.config.boards.pins.case import WiringCase, spans
from host_bridge.config.boards.pins.routes import (
    AssignedPeripheral,
    PeripheralDemand,
    assign_peripherals,
    clashes,
    demands,
    pwm_claims,
)
from host_bridge.config.boards.pins.rules import is_usable
from host_bridge.config.boards.pins.state_machines import (
    PioJob,
    PlacedPioJob,
    pio_jobs,
    place_pio_jobs,
    without_pins,
)
from host_bridge.config.boards.schema import BUS_WIRES, LINE_WIRES, PROGRAMS
from host_bridge.core.errors import VehicleFileFault


@dataclass(frozen=True)
class PinAllocation:
    """The allocated peripherals, and the refusals.

    ``granted``: the parts' UARTs, I2Cs, timers and counters; ``placed``: the wires' state
    machines.
    """

    granted: list[AssignedPeripheral]
    placed: list[PlacedPioJob]
    refusals: list[VehicleFileFault]

    def number(self, kind: str, wire: Wire) -> int:
        """Return the number of the peripheral of this kind that the wire got."""
        return next(
            g.number for g in self.granted if (g.demand.kind, g.demand.wire) == (kind, wire)
        )

    def groups(self) -> set[str]:
        """Return the PWM slices or timers that are in use."""
        return {name for g in self.granted for what, name in g.claims if what == "pwm"}

    def machine(self, wire: Wire) -> int:
        return next(p.machine for p in self.placed if p.job.wire == wire)


def allocate_pins(case: WiringCase) -> PinAllocation:
    """Allocate peripherals to all wires on existing, free pins.

    Other wires have been refused already.
    """
    chip = case.board.chip
    usable = {wire.key for wire in case.wiring.wires if is_usable(case, wire)}
    wanted = [d for d in demands(chip, case.wiring.parts) if _is_whole(d.wire, usable)]
    granted, refused = assign_peripherals(wanted)
    faults = [_KINDS[demand.kind](case, demand, granted) for demand in refused]
    placed, unplaced = _place(case, usable)
    faults += [_no_machine(case, job, placed) for job in unplaced]
    return PinAllocation(granted, placed, faults)


def _is_whole(wire: Wire, usable: set[str]) -> bool:
    return all(w.key in usable for w in wire.part.wires)


def _place(case: WiringCase, usable: set[str]) -> tuple[list[PlacedPioJob], list[PioJob]]:
    pio = case.board.chip.pio
    if pio is None:
        return [], []
    placed: list[PlacedPioJob] = []
    unplaced: list[PioJob] = []
    for job in pio_jobs(case.wiring.wires):
        if not _is_whole(job.wire, usable):
            continue
        more = place_pio_jobs(pio, [*(p.job for p in placed), job])
        if more is None:
            unplaced.append(job)
        else:
            placed = more
    return placed, unplaced


# --- the refusals


def _no_machine(case: WiringCase, job: PioJob, placed: Sequence[PlacedPioJob]) -> VehicleFileFault:
    pio = case.board.chip.pio
    assert pio is not None
    machines = pio.blocks * pio.machines
    if len(placed) == machines:
        what = f"state machines are used up: none is left for {job.wire.title}"
        expected, got = f"{machines} or fewer", f"{len(placed) + 1} or more"
        remedy = "take a chip with more of them, or leave out what need not be counted or pulsed"
    elif place_pio_jobs(pio, without_pins([*(p.job for p in placed), job])) is None:
        what = f"the blocks have no room for the program {job.program} of {job.wire.title}"
        expected = f"{pio.instructions} instructions in each of {pio.blocks} blocks"
        got = f"{PROGRAMS[job.program]} more, with {_memory(placed)} in use"
        remedy = "take a chip with more blocks, or fewer kinds of programs"
    else:
        what = f"no block reaches all pins of {job.wire.title}"
        expected = "pins " + " or ".join(f"{first}-{last}" for first, last in pio.windows)
        got = ", ".join(map(str, job.pins))
        remedy = "bring them, the runstop among them, to one side; a block of others has one side"
    return case.fault(job.wire.key, what, expected, got, remedy)


def _memory(placed: Sequence[PlacedPioJob]) -> str:
    return ", ".join(sorted({p.job.program for p in placed})) or "nothing"


def _no_pwm(
    case: WiringCase, demand: PeripheralDemand, granted: Sequence[AssignedPeripheral]
) -> VehicleFileFault:
    wire = demand.wire
    if not demand.options:
        pins = _span(case, *(channel.pins for channel in case.board.chip.pwm))
        return case.fault(
            wire.key, f"pin {wire.pin} has no PWM", f"one of {pins}", wire.pin, "move it there"
        )
    claims = demand.options[0][1]
    others = clashes(granted, claims)
    group = next(name for what, name in claims if what == "pwm")
    if any(g.demand.kind == "counter" for g in others):
        what, expected = f"{group} counts an encoder", "a timer of its own for each encoder"
    elif any(g.demand.wire.pwm_hz != wire.pwm_hz for g in others):
        what, expected = f"{group} has one frequency only", f"{others[0].demand.wire.pwm_hz} Hz"
    else:
        what, expected = f"{group} puts out the same there", "a channel of its own for each output"
    titles = ", ".join(f"{g.demand.wire.title} on {g.demand.wire.pin}" for g in others)
    return case.fault(
        wire.key,
        f"{what}: {wire.title} on pin {wire.pin} clashes with {titles}",
        expected,
        f"{wire.pwm_hz} Hz",
        f"move one of them to another slice or timer: {_other_pwm(case, wire, granted)}",
    )


def _other_pwm(case: WiringCase, wire: Wire, granted: Sequence[AssignedPeripheral]) -> str:
    """Return where the output could go: a free pin of a slice or timer that suits its frequency."""
    used = {w.pin for w in case.wiring.wires}
    for channel in case.board.chip.pwm:
        claims = pwm_claims(channel, wire)
        if not clashes(granted, claims):
            for pin in case.board.pins:
                if pin not in used and (channel.pins is None or pin in channel.pins):
                    return f"pin {pin} is free"
    return "none is free"


def _no_counter(
    case: WiringCase, demand: PeripheralDemand, granted: Sequence[AssignedPeripheral]
) -> VehicleFileFault:
    title = demand.wire.part.title
    if not demand.options:
        what = f"the pins of {title} are not channels 1 and 2 of one timer"
        remedy = "see the timers of this chip in hardware/boards/chips.toml"
    else:
        what = f"timers and counters are used up: none is left for {title}"
        remedy = "move other outputs away from its timer, or count fewer wheels"
    pins = f"{demand.wire.pin}, {demand.wire.part.values['b']}"
    return case.fault(demand.wire.key, what, "a timer or counter of its own", pins, remedy)


def _no_interrupt(
    case: WiringCase, demand: PeripheralDemand, granted: Sequence[AssignedPeripheral]
) -> VehicleFileFault:
    wire = demand.wire
    other = clashes(granted, demand.options[0][1])[0].demand.wire
    return case.fault(
        wire.key,
        f"the interrupt of {wire.title} is taken by {other.title}: pins {wire.pin} and {other.pin}",
        "pins of another number for each wire that interrupts",
        wire.pin,
        "move one of them to a pin of a number that no other such wire has",
    )


def _no_bus(
    case: WiringCase, demand: PeripheralDemand, granted: Sequence[AssignedPeripheral]
) -> VehicleFileFault:
    wire, kind = demand.wire, demand.kind.upper()
    names = BUS_WIRES if demand.kind == "i2c" else LINE_WIRES
    pins = ", ".join(
        f"{n} {wire.part.values[n]}" for n in names if wire.part.values.get(n) is not None
    )
    if not demand.options:
        return case.fault(
            wire.key,
            f"no {kind} is on the pins of {wire.part.title}",
            expected=" or ".join(_bus_pins(case, demand.kind)),
            got=pins,
            remedy="move both to the pins of one of them",
        )
    others = ", ".join(
        g.demand.wire.part.title for o in demand.options for g in clashes(granted, o[1])
    )
    return case.fault(
        wire.key,
        f"{kind} {demand.options[0][0]} cannot serve {wire.part.title} besides {others}",
        expected=" or ".join(_bus_pins(case, demand.kind)),
        got=pins,
        remedy="move it to the pins of another one, or take a bus that both can share",
    )


def _bus_pins(case: WiringCase, kind: str) -> Iterator[str]:
    buses = case.board.chip.i2cs if kind == "i2c" else case.board.chip.uarts
    for number, bus in buses.items():
        pins = ", ".join(f"{name} {_span(case, route)}" for name, route in bus.items())
        yield f"{kind.upper()} {number}: {pins}"


def _span(case: WiringCase, *routes: Pins) -> str:
    return spans(tuple(pin for pin in case.board.pins if _is_on(routes, pin)))


def _is_on(routes: tuple[Pins, ...], pin: Pin) -> bool:
    return any(route is None or pin in route for route in routes)


_KINDS: dict[
    str, Callable[[WiringCase, PeripheralDemand, Sequence[AssignedPeripheral]], VehicleFileFault]
] = {
    "pwm": _no_pwm,
    "counter": _no_counter,
    "interrupt": _no_interrupt,
    "uart": _no_bus,
    "i2c": _no_bus,
}
