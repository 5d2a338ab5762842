"""The placement of PIO programs on state machines, within machines, memory and pin windows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from host_bridge.config.boards.facts import Pin, Pio, Wire
from host_bridge.config.boards.schema import PROGRAMS


@dataclass(frozen=True)
class PioJob:
    """A program for a wire, and all pins that its state machine has to reach."""

    wire: Wire
    program: str
    pins: tuple[Pin, ...]


@dataclass(frozen=True)
class PlacedPioJob:
    """A job on state machine ``machine`` of ``block``, whose pins begin at ``base``."""

    job: PioJob
    block: int
    machine: int
    base: int


def pio_jobs(wires: Sequence[Wire]) -> list[PioJob]:
    """Return a job for each wire with a program.

    Pulses and the life signal also read the runstop.
    """
    loop = tuple(wire.pin for wire in wires if wire.use == "loop")
    return [
        PioJob(wire, wire.facts.program, (wire.pin, *_besides(wire, loop)))
        for wire in wires
        if wire.facts.program
    ]


def _besides(wire: Wire, loop: tuple[Pin, ...]) -> tuple[Pin, ...]:
    second = wire.part.values.get("b")
    return loop if second is None else (second,)


def place_pio_jobs(pio: Pio, wanted: Sequence[PioJob]) -> list[PlacedPioJob] | None:
    """Return all jobs on state machines, the lowest first; None if they do not fit."""
    return _place(pio, list(wanted), [])


def _place(pio: Pio, wanted: list[PioJob], placed: list[PlacedPioJob]) -> list[PlacedPioJob] | None:
    if not wanted:
        return placed
    for here in _places(pio, wanted[0], placed):
        if (rest := _place(pio, wanted[1:], [*placed, here])) is not None:
            return rest
    return None


def _places(pio: Pio, job: PioJob, placed: list[PlacedPioJob]) -> Iterator[PlacedPioJob]:
    for block in range(pio.blocks):
        others = [p for p in placed if p.block == block]
        if len(others) == pio.machines or instructions_used(others, job.program) > pio.instructions:
            continue
        for base in _bases(pio, job, others):
            yield PlacedPioJob(job, block, block * pio.machines + len(others), base)
        if not others:
            return  # empty blocks are all alike


def instructions_used(placed: Sequence[PlacedPioJob], *programs: str) -> int:
    """Return the instructions used in a block.

    A program counts once, however many machines run it.
    """
    return sum(PROGRAMS[name] for name in {*(p.job.program for p in placed), *programs})


def _bases(pio: Pio, job: PioJob, others: list[PlacedPioJob]) -> Iterator[int]:
    pins = [pin for pin in job.pins if isinstance(pin, int)]
    for first, last in pio.windows:
        is_free = not others or others[0].base == first
        if is_free and all(first <= pin <= last for pin in pins):
            yield first


def without_pins(wanted: Sequence[PioJob]) -> list[PioJob]:
    """Return the same jobs without pins, to see what machines and memory alone allow."""
    return [PioJob(job.wire, job.program, ()) for job in wanted]
