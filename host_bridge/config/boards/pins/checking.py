"""The check of one board with one vehicle: every refusal, and the budget of the board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from host_bridge.config.boards.facts import BoardType, Wiring
from host_bridge.config.boards.pins.case import WiringCase
from host_bridge.config.boards.pins.needs import Needs, box_needs, needs_of
from host_bridge.config.boards.pins.pin_allocation import PinAllocation, allocate_pins
from host_bridge.config.boards.pins.routes import demands, is_pwm
from host_bridge.config.boards.pins.rules import refusals
from host_bridge.config.boards.pins.state_machines import (
    instructions_used,
    pio_jobs,
    place_pio_jobs,
    without_pins,
)
from host_bridge.config.boards.reading import board_names, load_board, other_wirings, read_wiring
from host_bridge.config.boards.step_time import StepTime, step_time
from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.config.vehicle.vehicle import load_vehicle, vehicle_names
from host_bridge.core import BudgetRow, WiringReport
from host_bridge.core.errors import VehicleFileFault

_GUARDS = 1  # hard timers that the car's program uses: one, for the guard


def check(board_name: str, wiring_name: str) -> WiringReport:
    """Return what is wrong with a wiring on this board, and what it uses of the board.

    The board is a name or a path; a vehicle's name or path stands for its usual wiring. Raises
    VehicleFileFault for files that cannot be read at all.
    """
    board = load_board(board_name)
    needs = load_needs(board, wiring_name)
    wiring = read_wiring(board, needs.wiring, needs.channels)
    if wiring is None:
        return _unwired(board, needs)
    case = WiringCase(board, wiring, needs)
    faults, allocation = examine(case)
    return _report(case, board.name, tuple(map(str, faults)), allocation)


def check_all(board: str | None, wiring: str | None) -> list[WiringReport]:
    """Run ``check`` for one or all boards with one or all wirings.

    A wiring that is on none of the boards is looked for beside its vehicle file. Raises
    VehicleFileFault, also where it is on no board at all.
    """
    wirings = (wiring,) if wiring else (*vehicle_names(), *other_wirings())
    reports = [check(b, w) for b in ((board,) if board else board_names()) for w in wirings]
    if board or not wiring or any(report.wired_on for report in reports):
        return reports
    return [check(str(path), wiring) for path in _boards_beside(needs_of(wiring), wiring)]


def _boards_beside(needs: Needs, vehicle: str) -> list[Path]:
    """Return the board files beside a vehicle file that wire it. Raises VehicleFileFault if none.

    They are called as ``tandem vehicles new`` calls them: slash_pico.toml beside slash.toml.
    """
    file = Path(load_vehicle(vehicle).path)
    found = [
        path
        for path in sorted(file.parent.glob(f"{file.stem}_*.toml"))
        if needs.wiring in (VehicleDocument(path).values.get("wiring") or {})
    ]
    if not found:
        raise VehicleFileFault(
            f"{needs.wiring} is wired on no board",
            where=str(file),
            expected=f"[wiring.{needs.wiring}] in a board file",
            got=needs.unwired or f"none in {file.stem}_*.toml beside it, nor in those of Tandem",
            remedy="--board FILE, if there is one elsewhere; hardware/boards/README.md says what "
            "belongs in it; or give the vehicle file a wired_as that is there",
        )
    return found


def load_needs(board: BoardType, name: str) -> Needs:
    """Return the needs of a vehicle, or of a runstop box, which has no vehicle file.

    A wiring with the vehicle file's own name precedes the one that the file names. Raises
    VehicleFileFault.
    """
    boards = [board, *map(load_board, board_names())]
    if any(each.is_box(name) for each in boards):
        return box_needs(name)
    needs = needs_of(name)
    return replace(needs, wiring=needs.vehicle) if needs.vehicle in board.wirings else needs


def examine(case: WiringCase) -> tuple[list[VehicleFileFault], PinAllocation]:
    """Return all refusals of a wiring, and the allocation of peripherals."""
    allocation = allocate_pins(case)
    return [*refusals(case), *allocation.refusals], allocation


def _report(
    case: WiringCase,
    wired_on: str,
    faults: tuple[str, ...] = (),
    allocation: PinAllocation | None = None,
) -> WiringReport:
    board = case.board
    times = list(_times(case))
    slow = tuple(it.refusal for it in times if it.refusal and wired_on == board.name)
    untimed = tuple(it.basis for it in times if it.p99_us is None)
    return WiringReport(
        board=board.name,
        board_title=board.title,
        vehicle=case.needs.wiring,
        is_wired=wired_on == board.name,
        wired_on=wired_on,
        refusals=(*faults, *slow),
        budget=(*budget(board, case.wiring, allocation), *(it.row for it in times if it.row)),
        lacks=(*board.chip.lacks, *untimed, *case.needs.reminders),
    )


def _times(case: WiringCase) -> Iterator[StepTime]:
    for step_us in case.needs.parameters.get("step_us", ()):
        there_us = max(step_us, round(case.board.step_s * 1e6))
        yield step_time(case.board, case.wiring, case.needs.wiring, there_us)


def _unwired(board: BoardType, needs: Needs) -> WiringReport:
    """Report that the vehicle is not wired on this board.

    The budget is that of a board on which it is, preferably one of the same port.
    """
    others = [load_board(name) for name in board_names()]
    for other in sorted(others, key=lambda other: other.chip.port != board.chip.port):
        wiring = read_wiring(other, needs.wiring, needs.channels)
        if wiring is not None:
            report = _report(WiringCase(board, wiring, needs), other.name)
            return _with(report, _not_there(board, needs, report))
    none = WiringReport(board.name, board.title, needs.wiring, False, "", (), (), board.chip.lacks)
    return _with(none, _not_there(board, needs, none))


def _with(report: WiringReport, fault: VehicleFileFault) -> WiringReport:
    return WiringReport(**{**vars(report), "refusals": (str(fault),)})


def _not_there(board: BoardType, needs: Needs, report: WiringReport) -> VehicleFileFault:
    short = [row for row in report.budget if row.used > row.available]
    table = f"[wiring.{needs.wiring}]"
    return board.document.fault(
        "wiring",
        f"{needs.wiring} does not fit on {board.name}"
        if short
        else f"{needs.wiring} is not wired on {board.name}",
        expected=", ".join(f"{r.available} {r.what} or fewer" for r in short) or table,
        got=", ".join(f"{r.used} {r.what}" for r in short) or needs.unwired or "nothing",
        remedy=f"it is wired on {report.wired_on}; "
        + ("take that one" if short else f"add {table} here, or take that one")
        if report.wired_on
        else f"add {table}; hardware/boards/README.md says what belongs in it; or give the "
        "vehicle file a wired_as that is there",
    )


# --- the budget, counted from what is wired, whether or not its pins are right


def budget(
    board: BoardType, wiring: Wiring, allocation: PinAllocation | None
) -> Iterator[BudgetRow]:
    """Yield what the wiring uses of each resource of the board.

    If the wiring is another board's, so that nothing is allocated, it is the least that it would
    use.
    """
    chip = board.chip
    uses = [wire.use for wire in wiring.wires]
    wanted = demands(chip, wiring.parts)
    pins = {wire.pin for wire in wiring.wires if board.reserved.get(wire.pin) != wire.part.slot}
    yield BudgetRow("pins", len(pins), len(board.pins))
    yield _pwm(board, wiring, allocation)
    yield from _machines(board, wiring)
    if chip.counters:
        counted = sum(d.kind == "counter" for d in wanted)
        yield BudgetRow("counters", counted, chip.counters)
    yield BudgetRow("UARTs", sum(d.kind == "uart" for d in wanted), len(chip.uarts))
    buses = {(w.pin, w.part.values["scl"]) for w in wiring.wires if w.use == "sda"}
    yield BudgetRow("I2C", len(buses), len(chip.i2cs))
    yield BudgetRow("ADC inputs", uses.count("adc"), len(board.adc))
    if chip.hard_timers and wiring.program == "car":
        yield BudgetRow("hard timers", _GUARDS, chip.hard_timers, "the guard's")


def _pwm(board: BoardType, wiring: Wiring, allocation: PinAllocation | None) -> BudgetRow:
    chip = board.chip
    rates = [wire.pwm_hz for wire in wiring.wires if is_pwm(chip, wire)]
    timed = sum(p.kind == "encoder.quadrature" for p in wiring.encoders)
    encoders = 0 if chip.pio or chip.counters else timed
    detail = [f"{rates.count(hz)} at {hz} Hz" for hz in sorted(set(rates))]
    if encoders:
        detail.append(f"encoders on {encoders}")
    used = len(allocation.groups()) if allocation else _groups(rates) + encoders
    what = "PWM slices" if chip.pio else "timers with pins"
    return BudgetRow(what, used, len({c.group for c in chip.pwm}), ", ".join(detail))


def _groups(rates: Sequence[int]) -> int:
    """Return the fewest slices or timers for these frequencies, with two channels each."""
    return sum(-(-rates.count(hz) // 2) for hz in set(rates))


def _machines(board: BoardType, wiring: Wiring) -> Iterator[BudgetRow]:
    pio = board.chip.pio
    if pio is None:
        return
    wanted = without_pins(pio_jobs(wiring.wires))
    placed = place_pio_jobs(pio, wanted) or []
    names = sorted({job.program for job in wanted})
    counts = ", ".join(f"{sum(j.program == n for j in wanted)} {n}" for n in names)
    yield BudgetRow("state machines", len(wanted), pio.blocks * pio.machines, counts)
    blocks = [[p for p in placed if p.block == block] for block in range(pio.blocks)]
    fills = [instructions_used(block) for block in blocks]
    detail = ", ".join(f"{used} of {pio.instructions}" for used in fills)
    yield BudgetRow("PIO instructions", sum(fills), pio.blocks * pio.instructions, detail)
