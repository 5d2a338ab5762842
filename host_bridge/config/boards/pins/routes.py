"""The assignment of a PWM, UART, I2C, timer or counter to each wire, by search.

A demand has options; an option is a set of claims, (resource, value). Two claims on one resource
agree only if their values are the same: the frequency of a slice, the pins of an I2C. So the
outputs of one slice share its frequency, parts on the same bus share it, and nothing else is
shared.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import ascii_letters
from typing import TypeAlias

from host_bridge.config.boards.facts import Chip, Part, Pin, Pins, PwmChannel, Wire
from host_bridge.config.boards.schema import BUS_WIRES, LINE_WIRES

Resource: TypeAlias = tuple[str, str]  # kind and name
Claims: TypeAlias = dict[Resource, object]


@dataclass(frozen=True)
class PeripheralDemand:
    """One peripheral that a part needs from the chip, and the options that would do.

    ``wire`` is what an error names; each option is the peripheral's number with its claims.
    """

    kind: str
    wire: Wire
    options: tuple[tuple[int, Claims], ...]


@dataclass(frozen=True)
class AssignedPeripheral:
    """The option that a demand was assigned."""

    demand: PeripheralDemand
    number: int
    claims: Claims


def demands(chip: Chip, parts: Sequence[Part]) -> list[PeripheralDemand]:
    """Return the demands of these parts, encoders first, as they have the fewest options."""
    counted = [part for part in parts if part.kind == "encoder.quadrature" and chip.pio is None]
    wires = [wire for part in parts for wire in part.wires]
    return [
        *(_counter(chip, part) for part in counted),
        *(_pwm(chip, wire) for wire in wires if is_pwm(chip, wire)),
        *(_interrupt(wire) for wire in wires if wire.facts.interrupts and chip.shares_interrupts),
        *_buses(chip, parts),
    ]


def is_pwm(chip: Chip, wire: Wire) -> bool:
    """Return whether the wire's output is a PWM on this chip, not a state machine."""
    return bool(wire.pwm_hz) and not (wire.facts.program and chip.pio)


def _carries(pins: Pins, pin: Pin | None) -> bool:
    return pins is None or pin is None or pin in pins


def _pwm(chip: Chip, wire: Wire) -> PeripheralDemand:
    options = tuple(
        (number, pwm_claims(channel, wire))
        for number, channel in enumerate(chip.pwm)
        if _carries(channel.pins, wire.pin)
    )
    return PeripheralDemand("pwm", wire, options)


def pwm_claims(channel: PwmChannel, wire: Wire) -> Claims:
    """Return a wire's claims on a PWM channel: its group at one frequency, the channel alone."""
    name = f"{channel.group} {channel.name}"
    return {("pwm", channel.group): wire.pwm_hz, ("pwm channel", name): wire.key}


def _interrupt(wire: Wire) -> PeripheralDemand:
    """Return the demand for the one interrupt that all pins with this number share."""
    number = int(str(wire.pin).lstrip(ascii_letters))
    return PeripheralDemand("interrupt", wire, ((number, {("interrupt", str(number)): wire.key}),))


def _counter(chip: Chip, part: Part) -> PeripheralDemand:
    a, b = part.wires
    if chip.counters:
        counters: tuple[tuple[int, Claims], ...] = tuple(
            (number, {("counter", str(number)): a.key}) for number in range(chip.counters)
        )
        return PeripheralDemand("counter", a, counters)
    return PeripheralDemand("counter", a, tuple(_timers(chip, a, b)))


def _timers(chip: Chip, a: Wire, b: Wire) -> Iterator[tuple[int, Claims]]:
    """Yield the timers whose channels 1 and 2 are on the two pins.

    An encoder takes a whole timer.
    """
    for first in chip.pwm:
        second = [c for c in chip.pwm if c.group == first.group and c.name == "2"]
        is_first = first.name == "1" and _carries(first.pins, a.pin)
        if is_first and second and _carries(second[0].pins, b.pin):
            yield int(first.group.removeprefix("TIM")), {("pwm", first.group): a.key}


def _buses(chip: Chip, parts: Sequence[Part]) -> Iterator[PeripheralDemand]:
    for part in parts:
        for wire in part.wires:
            if wire.use == "sda":
                yield _bus(chip.i2cs, "i2c", wire, BUS_WIRES)
            elif wire.use == "rx":
                yield _bus(chip.uarts, "uart", wire, LINE_WIRES)


def _bus(
    buses: dict[int, dict[str, Pins]], kind: str, wire: Wire, names: tuple[str, ...]
) -> PeripheralDemand:
    pins = tuple(wire.part.values.get(name) for name in names)
    options: tuple[tuple[int, Claims], ...] = tuple(
        (number, {(kind, str(number)): pins})
        for number, bus in buses.items()
        if all(_carries(bus[name], pin) for name, pin in zip(names, pins, strict=True))
    )
    return PeripheralDemand(kind, wire, options)


def assign_peripherals(
    wanted: Sequence[PeripheralDemand],
) -> tuple[list[AssignedPeripheral], list[PeripheralDemand]]:
    """Assign an option to each demand such that no claims disagree.

    Returns the assignments, and the demands that found no option beside the earlier ones.
    """
    granted: list[AssignedPeripheral] = []
    refused: list[PeripheralDemand] = []
    for demand in wanted:
        more = _grant([g.demand for g in granted] + [demand], [])
        if more is None:
            refused.append(demand)
        else:
            granted = more
    return granted, refused


def _grant(
    wanted: list[PeripheralDemand], granted: list[AssignedPeripheral]
) -> list[AssignedPeripheral] | None:
    if not wanted:
        return granted
    for number, claims in wanted[0].options:
        if not clashes(granted, claims):
            here = AssignedPeripheral(wanted[0], number, claims)
            if (rest := _grant(wanted[1:], [*granted, here])) is not None:
                return rest
    return None


def clashes(granted: Sequence[AssignedPeripheral], claims: Claims) -> list[AssignedPeripheral]:
    """Return the assignments whose claims disagree with these."""
    return [
        g
        for g in granted
        if any(resource in g.claims and g.claims[resource] != v for resource, v in claims.items())
    ]
