"""The data of a chip, a board and its wiring, as read from their files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from host_bridge.config.boards.schema import PARTS, USES, PinUse
from host_bridge.config.vehicle.document import VehicleDocument

Pin: TypeAlias = int | str
Pins: TypeAlias = frozenset[Pin] | None  # None: any pin of the board

_RANGE = re.compile(r"([A-Za-z]*)(\d+)(?:-(\d+))?")


def pins_of(text: str) -> tuple[Pin, ...]:
    """Return the pins of a text: ``"0-2 25"`` is 0, 1, 2, 25; ``"PA0-1"`` is "PA0", "PA1".

    Raises ValueError.
    """
    return tuple(pin for word in text.split() for pin in _range(word))


def _range(word: str) -> Iterator[Pin]:
    match = _RANGE.fullmatch(word)
    if match is None:
        raise ValueError(word)
    prefix, first, last = match[1], int(match[2]), int(match[3] or match[2])
    for number in range(first, last + 1):
        yield f"{prefix}{number}" if prefix else number


@dataclass(frozen=True)
class Pio:
    """A chip's PIO state machines, in blocks.

    ``machines`` and ``instructions`` are per block; ``windows`` are the first and the last pin
    that a block can reach.
    """

    blocks: int
    machines: int
    instructions: int
    windows: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class PwmChannel:
    """A channel of a slice or timer; all channels of one ``group`` have one frequency."""

    group: str
    name: str
    pins: Pins


@dataclass(frozen=True)
class Chip:
    """The capabilities of a chip's pins and its peripherals, from hardware/boards/chips.toml.

    ``clock_mhz``: the clock that MicroPython starts with, and the highest that its vendor
    supports. ``shares_interrupts``: of the pins with one number (PA3, PB3) only one can interrupt.
    """

    name: str
    port: str
    mpy_arch: str
    clock_mhz: tuple[int, int]
    tolerant_5v: frozenset[Pin]
    pull_down_max_ohm: float
    glitching: frozenset[Pin]
    hard_timers: int
    counters: int
    shares_interrupts: bool
    lacks: tuple[str, ...]
    pio: Pio | None
    pwm: tuple[PwmChannel, ...]
    uarts: dict[int, dict[str, Pins]]
    i2cs: dict[int, dict[str, Pins]]


@dataclass(frozen=True)
class BoardType:
    """A board: its chip, pins and wirings.

    ``machine`` is how ``os.uname().machine`` begins there; ``reserved`` maps a pin to its only
    use; ``micropython`` is its name at micropython.org, empty where that has no build for it.
    ``step_s``: the default lower limit of a car's control period there.
    """

    name: str
    title: str
    chip: Chip
    clock_mhz: int
    step_s: float
    machine: str
    micropython: str
    pins: tuple[Pin, ...]
    adc: frozenset[Pin]
    reserved: dict[Pin, str]
    wirings: dict[str, Any]  # by vehicle, not yet read
    document: VehicleDocument  # the file that the wirings are in

    @property
    def is_hastened(self) -> bool:
        """True if it is to run at a higher clock than MicroPython starts it with."""
        return self.clock_mhz > self.chip.clock_mhz[0]

    def is_box(self, wiring: str) -> bool:
        """Return whether the wiring is that of a runstop box, which has no vehicle file."""
        table = self.wirings.get(wiring)
        return isinstance(table, dict) and table.get("program") == "box"


@dataclass(frozen=True)
class Wire:
    """One pin of one part, and its use."""

    part: Part
    name: str
    use: str
    pin: Pin

    @property
    def facts(self) -> PinUse:
        return USES[self.use]

    @property
    def key(self) -> str:
        return f"{self.part.path}.{self.name}"

    @property
    def title(self) -> str:
        return f"{self.part.title} {self.name}"

    @property
    def pwm_hz(self) -> int:
        """The PWM frequency in Hz; 0 for a wire without PWM."""
        hz = self.facts.pwm_hz
        return int(self.part.values[hz]) if isinstance(hz, str) else hz


@dataclass(frozen=True)
class Part:
    """A part that is wired: ``kind`` in ``PARTS``, ``path`` in the file, ``values`` by key."""

    kind: str
    path: str
    values: dict[str, Any]

    @property
    def slot(self) -> str:
        """Its name within the wiring: ``channels.drive``, ``imu``."""
        return self.path.split(".", 2)[2]

    @property
    def title(self) -> str:
        return self.slot.rpartition(".")[2].replace("_", " ")

    @property
    def wires(self) -> tuple[Wire, ...]:
        named = PARTS[self.kind].wires
        return tuple(
            Wire(self, name, use, self.values[name])
            for name, use in named
            if self.values[name] is not None
        )

    def pin(self, name: str) -> Pin | None:
        """Return the pin of one wire; None if the file leaves it out."""
        pin: Pin | None = self.values[name]
        return pin


@dataclass(frozen=True)
class Wiring:
    """All parts wired to a board for one vehicle; ``channels`` are in the vehicle file's order."""

    program: str  # of BOARD_PROGRAMS
    channels: tuple[Part, ...]
    encoders: tuple[Part, ...]
    others: dict[str, Part]  # by slot

    @property
    def parts(self) -> tuple[Part, ...]:
        return (*self.channels, *self.encoders, *self.others.values())

    @property
    def wires(self) -> tuple[Wire, ...]:
        return tuple(wire for part in self.parts for wire in part.wires)
