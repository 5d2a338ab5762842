"""Rules for one part as a whole; each returns its refusal, or None if the part is right."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

from host_bridge.config.boards.facts import Part
from host_bridge.config.boards.pins.case import WiringCase
from host_bridge.config.boards.schema import BUS_WIRES, FULL_OVER_LOW, PARTS
from host_bridge.core.errors import VehicleFileFault

_RIGHT_HANDED = ((1, 2, 3), (2, 3, 1), (3, 1, 2))


def _pull_down(case: WiringCase, part: Part) -> VehicleFileFault | None:
    acting = [wire for wire in part.wires if wire.facts.acts]
    limit_ohm = case.board.chip.pull_down_max_ohm
    if not acting or 0 < part.values["pull_down_ohm"] <= limit_ohm:
        return None
    given_ohm = part.values["pull_down_ohm"]
    return case.fault(
        part.path,
        f"nothing holds {part.title} low while the board is dead or a wire is off",
        expected=f"pull_down_ohm of {limit_ohm:g} or less, from each of its pins to ground",
        got=f"{given_ohm:g} ohms" if given_ohm else "none",
        remedy="solder 4.7 kOhm at " + ", ".join(f"pin {w.pin}" for w in acting),
    )


def _direction(case: WiringCase, part: Part) -> VehicleFileFault | None:
    """Refuse an encoder that does not agree with the vehicle file's ``is_signed``.

    The vehicle's limits depend on whether the encoders sense direction.
    """
    if part.kind not in ("encoder.quadrature", "encoder.hall"):
        return None
    is_signed = part.kind == "encoder.quadrature"
    if is_signed == case.needs.is_signed:
        return None
    return case.fault(
        part.path,
        f"{part.title} does not count as {case.needs.vehicle} says",
        expected=f"kind = {'quadrature' if case.needs.is_signed else 'hall'}, as is_signed has it",
        got=part.kind.rpartition(".")[2],
        remedy="correct kind here, or is_signed in the vehicle file",
    )


def _magnets(case: WiringCase, part: Part) -> VehicleFileFault | None:
    if part.kind != "encoder.hall" or case.needs.counts_per_rev % part.values["magnets"] == 0:
        return None
    return case.fault(
        f"{part.path}.magnets",
        f"the counts of a turn are not the same between all magnets of {part.title}",
        expected=f"a divisor of counts_per_rev, {case.needs.counts_per_rev:g}",
        got=part.values["magnets"],
        remedy="count the magnets, or correct counts_per_rev in the vehicle file",
    )


def _neighbours(case: WiringCase, part: Part) -> VehicleFileFault | None:
    if part.kind != "encoder.quadrature" or case.board.chip.pio is None:
        return None
    a, b = part.values["a"], part.values["b"]
    if isinstance(a, int) and b == a + 1:
        return None
    return case.fault(
        f"{part.path}.b",
        f"a state machine reads {part.title} from two pins in a row",
        expected=f"b = {a + 1}" if isinstance(a, int) else "numbers",
        got=b,
        remedy="move b to the pin after a; which line is a is which way is forward",
    )


def _mounting(case: WiringCase, part: Part) -> VehicleFileFault | None:
    axes = tuple(part.values.get("mounting", (1, 2, 3)))
    sizes = tuple(map(abs, axes))
    signs = sum(axis > 0 for axis in axes)
    if sizes in set(permutations((1, 2, 3))) and (sizes in _RIGHT_HANDED) == (signs % 2 == 1):
        return None
    return case.fault(
        f"{part.path}.mounting",
        "no sensor sits like that",
        expected="its axes (1, 2, 3 for x, y, z, negative if reversed) that are forward, left, up",
        got=list(axes),
        remedy="look at the axes printed on it; flat with x forward is [1, 2, 3]",
    )


def _order(case: WiringCase, part: Part) -> VehicleFileFault | None:
    order = part.values.get("order")
    # CRSF and SBUS have 16 channels; the car takes four of them
    if order is None or (len(set(order)) == len(order) == 4 and set(order) <= set(range(16))):
        return None
    return case.fault(
        f"{part.path}.order",
        "these are not the receiver's channels",
        expected="four numbers from 0 to 15: steering, throttle, live-man, mode",
        got=order,
        remedy="see in the transmitter's menu which stick is which channel; its first is 0 here",
    )


def _battery(case: WiringCase, part: Part) -> VehicleFileFault | None:
    reach_v = part.values.get("full_v", PARTS[part.kind].reach_v)
    full_v = case.needs.low_v * FULL_OVER_LOW
    if reach_v is None or full_v <= reach_v:
        return None
    return case.fault(
        part.path,
        f"a full battery of {case.needs.vehicle} is beyond what this measures",
        expected=f"{full_v:.1f} V or more (low_v, a cell at 3.5 V and 4.2 V)",
        got=f"{reach_v:g} V",
        remedy="another divider, or an INA226, which measures 36 V",
    )


def _one_bus(case: WiringCase, part: Part) -> VehicleFileFault | None:
    """Refuse a second I2C bus: the car's program has one for all its parts."""
    buses = [p.values for p in case.wiring.parts if "sda" in p.values]
    if "sda" not in part.values or all(part.values[w] == buses[0][w] for w in BUS_WIRES):
        return None
    return case.fault(
        f"{part.path}.sda",
        f"{part.title} is on an I2C of its own",
        expected=f"sda {buses[0]['sda']}, scl {buses[0]['scl']}, as the others",
        got=f"sda {part.values['sda']}, scl {part.values['scl']}",
        remedy="wire all I2C parts to the same two pins; their addresses tell them apart",
    )


def _address(case: WiringCase, part: Part) -> VehicleFileFault | None:
    taken = [p for p in case.wiring.parts if "address" in p.values and p.path < part.path]
    others = [p for p in taken if p.values["address"] == part.values.get("address")]
    if not others:
        return None
    return case.fault(
        f"{part.path}.address",
        f"{part.title} and {others[0].title} answer to the same address",
        expected="an address of its own for each part on the bus",
        got=f"{part.values['address']:#04x}",
        remedy="set another one by the pins or the solder bridges of one of them",
    )


def _no_hard_timer(case: WiringCase, part: Part) -> VehicleFileFault | None:
    """Refuse a loop that does not cut the power itself on a chip without hard timers.

    There nothing checks the loop while the program hangs.
    """
    if part.kind != "runstop" or case.board.chip.hard_timers or part.values["cuts_power"]:
        return None
    return case.fault(
        f"{part.path}.cuts_power",
        f"{case.board.chip.name} has no hard timers: a hung program would not see the runstop",
        expected="cuts_power = true, and a loop that carries the coil of the drive's relay",
        got="false",
        remedy="lead the loop through the relay's coil, or take a board with hard timers",
    )


PART_RULES: tuple[Callable[[WiringCase, Part], VehicleFileFault | None], ...] = (
    _pull_down,
    _direction,
    _magnets,
    _neighbours,
    _mounting,
    _order,
    _battery,
    _one_bus,
    _address,
    _no_hard_timer,
)
