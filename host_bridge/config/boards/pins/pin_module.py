"""Writer of the firmware's pin module: constants only, from a board file and a vehicle file.

The car's program reads these names on every board; a pin is what ``machine.Pin`` takes there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from host_bridge.config.boards.facts import Part, Pin, Wire
from host_bridge.config.boards.pins.case import WiringCase
from host_bridge.config.boards.pins.checking import check, examine, load_needs
from host_bridge.config.boards.pins.needs import Needs
from host_bridge.config.boards.pins.pin_allocation import PinAllocation
from host_bridge.config.boards.reading import load_board, read_wiring
from host_bridge.config.boards.schema import PARTS, SIDES, Row
from host_bridge.config.vehicle.schema import CHANNEL_KINDS
from host_bridge.core.errors import VehicleFileFault

_WIDTH = 100  # columns, as everywhere in this repository
_I2C_HZ = 400_000  # I2C's fast mode, which each of the parts takes
_STANDSTILL_US = 500_000  # without an edge; with 0.6 m a turn and 6 magnets that is 0.2 m/s
_LINES = ("link", "vesc", "rc", "imu")


def pin_module(board_name: str, wiring_name: str) -> str:
    """Return the pin module for a board (a name or a path) and a wiring.

    A vehicle's name or path stands for its usual wiring. Raises VehicleFileFault with every reason
    why this vehicle cannot be on this board.
    """
    board = load_board(board_name)
    needs = load_needs(board, wiring_name)
    wiring = read_wiring(board, needs.wiring, needs.channels)
    if wiring is None:
        raise _refused(board_name, needs.wiring, check(board_name, wiring_name).refusals)
    case = WiringCase(board, wiring, needs)
    faults, allocation = examine(case)
    if faults:
        raise _refused(board_name, needs.wiring, tuple(map(str, faults)))
    return _text(_Writer(case, allocation))


def _refused(board: str, vehicle: str, reasons: tuple[str, ...]) -> VehicleFileFault:
    count = f"{len(reasons)} reasons" if len(reasons) > 1 else "one reason"
    return VehicleFileFault(
        f"{vehicle} cannot be on {board}, for {count}:\n" + "\n".join(reasons),
        remedy=f"correct that, then see tandem vehicles {vehicle} --check --board {board}",
    )


class _Writer:
    """The values of the pin module for one case and its allocation."""

    def __init__(self, case: WiringCase, allocation: PinAllocation) -> None:
        self._case = case
        self._allocation = allocation
        self._has_pio = case.board.chip.pio is not None

    def values(self) -> Iterator[tuple[str, Row]]:
        """Yield names and values, in the order of the module."""
        case = self._case
        yield "BOARD", case.board.name
        yield "VEHICLE", case.needs.vehicle
        yield "PORT", case.board.chip.port
        yield "PROGRAM", case.wiring.program
        yield "BEAT_US", self._beat_us()
        yield "CLOCK_HZ", case.board.clock_mhz * 1_000_000 if case.board.is_hastened else None
        outputs = (wire.pin for wire in case.wiring.wires if wire.facts.is_output)
        yield "SAFE_LEVELS", tuple((pin, 0) for pin in outputs)
        yield "CHANNELS", tuple(self._channels())
        yield "STANDBY", tuple(wire.pin for wire in self._wires("standby"))
        yield "RUNSTOP", self._pin("runstop", "loop")
        yield "ENABLE", self._enable()
        yield "CONTACT", self._pin("enable", "contact")
        yield "CHARGER", self._pin("charger", "plugged")
        bases = {placed.block: placed.base for placed in self._allocation.placed if placed.base}
        yield "PIO_BASES", tuple(sorted(bases.items()))
        yield "ENCODERS", tuple(self._encoder(part) for part in case.wiring.encoders)
        yield "I2C", self._i2c()
        yield "UARTS", tuple(self._uarts())
        yield "LINK", "uart" if "link" in case.wiring.others else "usb"
        for slot, name in (("imu", "IMU"), ("battery", "BATTERY"), ("rc", "RC")):
            yield name, self._made(case.wiring.others.get(slot))
        yield "PPS", self._pin("pps", "pulse")
        yield "LIGHTS", self._lights()
        yield "LED", self._pin("led", "pin")
        yield "BUZZER", self._of("buzzer", lambda v: (v["tone"], v["tone_hz"]))
        yield "VESC", self._of("vesc", lambda v: (_duty(v), round(v["brake_max_a"] * 1000)))

    def _beat_us(self) -> int:
        """Return the longer control period of vehicle and board; 0 for a runstop box."""
        beat_us = (self._case.needs.parameters.get("step_us") or (0,))[0]
        return max(beat_us, round(self._case.board.step_s * 1e6)) if beat_us else 0

    def _made(self, part: Part | None) -> Row:
        """Return what makes the part on the board: its driver's name and arguments."""
        if part is None:
            return None
        kind = PARTS[part.kind]
        row = kind.row(part.values) if kind.row else ()
        return (kind.driver or part.kind.rpartition(".")[2], *row)

    def _of(self, slot: str, row: Callable[[dict[str, Any]], Row]) -> Row:
        part = self._case.wiring.others.get(slot)
        return row(part.values) if part else None

    def _pin(self, slot: str, wire: str) -> Pin | None:
        part = self._case.wiring.others.get(slot)
        return part.pin(wire) if part else None

    def _wires(self, slot: str) -> tuple[Wire, ...]:
        part = self._case.wiring.others.get(slot)
        return part.wires if part else ()

    def _lights(self) -> Row:
        slot = "lamps" if self._case.wiring.program == "box" else "lights"
        return tuple(wire.pin for wire in self._wires(slot)) or None

    def _channels(self) -> Iterator[Row]:
        for number, part in enumerate(self._case.wiring.channels):
            yield self._channel(part, number)

    def _channel(self, part: Part, number: int) -> Row:
        low, neutral, high = (
            self._case.needs.parameters[f"channel_{name}"][number]
            for name in ("low", "neutral", "high")
        )
        values = part.values
        if part.kind == "channel.vesc":
            return ("vesc", low, neutral, high)
        if not part.wires:
            return (part.kind.removeprefix("channel."),)
        if part.kind == "channel.h_bridge":
            return ("h_bridge", values["pwm"], values["in1"], values["in2"])
        if part.kind == "channel.esc" and self._has_pio:
            machine = self._allocation.machine(part.wires[0])
            return ("pio_pulse", values["pulse"], machine, values["rate_hz"], neutral)
        start = neutral
        kind = CHANNEL_KINDS[self._case.needs.parameters["channel_kind"][number]]
        if kind == "brake_servo":
            start = high if neutral == low else low  # a board that restarts brakes first
        return ("pwm_pulse", values["pulse"], values["rate_hz"], start)

    def _enable(self) -> Row:
        if not self._wires("enable"):
            return None
        life = self._wires("enable")[0]
        if self._has_pio:
            return ("pio", life.pin, self._allocation.machine(life))
        return ("toggle", life.pin)

    def _encoder(self, part: Part) -> Row:
        side = SIDES[part.slot.rpartition(".")[2]]
        if part.kind == "encoder.hall":
            return (side, "hall", part.pin("hall"), *_gaps(self._case.needs, part))
        if part.kind == "encoder.vesc":
            return (side, "vesc")
        a = part.wires[0]
        if self._has_pio:
            return (side, "pio_quadrature", a.pin, self._allocation.machine(a))
        kind = "counter" if self._case.board.chip.counters else "timer"
        return (side, kind, self._allocation.number("counter", a), a.pin, part.pin("b"))

    def _i2c(self) -> Row:
        for wire in self._case.wiring.wires:
            if wire.use == "sda":
                number = self._allocation.number("i2c", wire)
                return (number, wire.part.pin("scl"), wire.pin, _I2C_HZ)
        return None

    def _uarts(self) -> Iterator[Row]:
        for slot in _LINES:
            for wire in self._wires(slot):
                if wire.use == "rx":
                    number = self._allocation.number("uart", wire)
                    tx = wire.part.values.get("tx")
                    yield (slot, number, tx, wire.pin, self._baud(wire.part))

    def _baud(self, part: Part) -> int:
        baud: int = PARTS[part.kind].baud or part.values["baud"] or self._case.needs.baud
        return baud


def _duty(values: dict[str, Any]) -> int:
    duty_max: float = values["duty_max"]
    return round(duty_max * 10_000)


def _gaps(needs: Needs, hall: Part) -> tuple[int, ...]:
    """Return a wheel sensor's constants, for the row of the pin module.

    In this order: the distance that the car goes from one magnet to the next, in um; the counts
    that this distance makes; the speed above which an edge is taken for noise, in mm/s; the
    acceleration above which it is, in mm/s²; and the time without an edge after which the wheel
    stands, in us.
    """
    parameters = needs.parameters
    counts = round(needs.counts_per_rev) // int(hall.values["magnets"])
    return (
        parameters["nm_per_count"][0] * counts // 1000,
        counts,
        parameters["speed_max_mm_s"][0] * 5 // 4,  # a bouncing contact seems far faster
        parameters["accel_mm_s2"][0] * 2,  # a wheel may slip
        _STANDSTILL_US,
    )


# --- text


def _text(writer: _Writer) -> str:
    lines = [f"{name} = {_shown(value, len(name) + 3)}" for name, value in writer.values()]
    head = '"""Made from hardware/boards and hardware/vehicles: correct those, not this."""'
    return "\n".join([head, "", *lines, ""])


def _shown(value: Row, before: int) -> str:
    """Return a value's text; a long tuple of tuples gets one line for each of them."""
    flat = _flat(value)
    if not isinstance(value, tuple) or before + len(flat) <= _WIDTH:
        return flat
    return "\n".join(["(", *(f"    {_flat(row)}," for row in value), ")"])


def _flat(value: Row) -> str:
    if isinstance(value, tuple):
        inner = ", ".join(_flat(item) for item in value)
        return f"({inner},)" if len(value) == 1 else f"({inner})"
    if isinstance(value, int):
        return f"{value:_}"
    return f'"{value}"' if value else "None"
