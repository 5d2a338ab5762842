"""A chip, a board and what is wired to it, as read from their files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from host_bridge.config.boards.schema import PARTS, USES, Use
from host_bridge.config.document import Document

Pin: TypeAlias = int | str
Pins: TypeAlias = frozenset[Pin] | None  # None: any that the board has

_RANGE = re.compile(r"([A-Za-z]*)(\d+)(?:-(\d+))?")


def pins_of(text: str) -> tuple[Pin, ...]:
    """``"0-2 25"`` is 0, 1, 2, 25; ``"PA0-1"`` is "PA0", "PA1". Raises ValueError."""
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
    """State machines: ``machines`` and ``instructions`` are those of one block; ``windows`` the
    first and the last pin of what a block can reach."""

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
    """What its pins can carry, and how much there is; hardware/boards/chips.toml says it.

    ``clock_mhz``: as MicroPython starts it, and the most that its vendor supports.
    ``shares_interrupts``: of the pins with one number (PA3, PB3) one only can interrupt.
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
class Board:
    """``machine`` is how ``os.uname().machine`` begins there; ``reserved`` says for what;
    ``micropython`` is its name at micropython.org, empty where that has no build for it.

    ``step_s``: the shortest beat that a car has there unless somebody asks for a shorter one.
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
    document: Document  # of the wirings

    @property
    def is_hastened(self) -> bool:
        """Whether it is to be faster than MicroPython starts it."""
        return self.clock_mhz > self.chip.clock_mhz[0]

    def is_box(self, wiring: str) -> bool:
        """Whether it is that of a runstop box, which has no vehicle file."""
        table = self.wirings.get(wiring)
        return isinstance(table, dict) and table.get("program") == "box"


@dataclass(frozen=True)
class Wire:
    """One pin of one part."""

    part: Part
    name: str
    use: str
    pin: Pin

    @property
    def facts(self) -> Use:
        return USES[self.use]

    @property
    def key(self) -> str:
        return f"{self.part.path}.{self.name}"

    @property
    def title(self) -> str:
        return f"{self.part.title} {self.name}"

    @property
    def pwm_hz(self) -> int:
        """0: it is none."""
        hz = self.facts.pwm_hz
        return int(self.part.values[hz]) if isinstance(hz, str) else hz


@dataclass(frozen=True)
class Part:
    """What is wired: ``kind`` of ``PARTS``, ``path`` in the file, ``values`` of its keys."""

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
        """Of one wire; None if it was left out."""
        pin: Pin | None = self.values[name]
        return pin


@dataclass(frozen=True)
class Wiring:
    """Everything that is wired to a board for one vehicle; ``channels`` in the vehicle's order."""

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
