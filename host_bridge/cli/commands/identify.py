"""``tandem identify``: what is at each port: which car, of which type, on which board."""

from __future__ import annotations

import argparse
import json

from host_bridge.cli.arguments.arg_types import whole
from host_bridge.cli.arguments.car_option import add_car, car_of
from host_bridge.core.errors import DeviceFault, ProtocolFault, TandemError
from host_bridge.core.system.running import run_async
from host_bridge.deploy.flash.board.repl import BAUD, raw_board
from host_bridge.deploy.flash.plan import Slots
from host_bridge.deploy.flash.precheck import uri_of
from host_bridge.deploy.flash.program.traceback_names import translate_traceback
from host_bridge.link.transports.serial_port import ports
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host

_HEARD_S = 1.0  # a car on a slow line reports its inputs five times in that
EPILOG = """\
examples:
  tandem identify                       every car that is served, and every serial port
  tandem identify /dev/ttyACM0 --json
  tandem identify sim://nigel
  tandem identify /dev/ttyACM0 --repl   a board that runs no car: ask its REPL, then reset it

A car reports what kind of device it is, whether it is virtual, how long its steps take and how many
control periods it missed since its start. Misses among the last hundred keep it from arming.
What was flashed (board, MicroPython, slot, program) is what this host remembers of it; --repl asks
the board itself. --repl interrupts what runs there, and an armed car takes no notice of it.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Show what is at each port."
    parser.epilog = EPILOG
    add_car(parser, what="a served name, a URI or a serial port")
    parser.add_argument("--repl", action="store_true", help="ask the REPL of the board instead")
    parser.add_argument(
        "--baud", type=whole, default=BAUD, help="the baud rate of a REPL on a UART"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 if all that was asked for was understood.

    Raises errors.TandemError for a single one.
    """
    chosen = car_of(args)
    if args.repl:
        rows = [_at_repl(port, args.baud) for port in _ports(chosen)]
    elif chosen:
        rows = [_one(chosen, host)]
    else:
        rows = [_tried(where, host) for where in _everywhere(host)]
    print(json.dumps(rows) if args.json else "\n\n".join(map(_text, rows)) or "nothing is here")
    return 0


def _ports(chosen: str | None) -> list[str]:
    if chosen:
        return [chosen.removeprefix("serial://").partition("?")[0]]
    return [port.device for port in ports()]


def _everywhere(host: Host) -> list[str]:
    served = host.cars.served()
    taken = {car.uri.partition("?")[0] for car in served}
    free = [port.device for port in ports() if uri_of(port.device) not in taken]
    return [car.name for car in served] + free


def _tried(where: str, host: Host) -> dict[str, object]:
    try:
        return _one(where, host)
    except TandemError as error:
        return {"at": where, "trouble": str(error)}


def _one(where: str, host: Host) -> dict[str, object]:
    found: dict[str, object] = {}

    async def ask() -> int:
        opened = await host.cars.open(where)
        try:
            await opened.until(lambda: None not in (opened.car.status, opened.car.inputs), _HEARD_S)
            found.update(_row(opened, host))
        finally:
            await opened.close()
        return 0

    try:
        run_async(ask())
    except (DeviceFault, ProtocolFault) as fault:
        if fault.where.startswith("serial://"):
            fault.remedy += " (what a board without a running car holds, --repl tells)"
        raise
    return found


def _row(opened: OpenCar, host: Host) -> dict[str, object]:
    identity, vehicle = opened.identity, opened.car.vehicle
    known = host.pairings.of(identity)
    status = opened.car.status
    flashed = dict(known.flashed) if known else {}
    return {
        "at": opened.uri,
        "car": identity.car_name,
        "vehicle": vehicle.name if vehicle else None,
        "state": status.state.name if status else None,
        "word": status.shown_state.word if status else None,
        "board_id": identity.board_id.hex(),
        "config_hash": identity.config_hash.hex(),
        "protocol_hash": identity.protocol_hash.hex(),
        "board": flashed.get("board"),
        "runtime": flashed.get("runtime"),
        "slot": flashed.get("slot"),
        "program": flashed.get("program"),
        "pairing": f"key {known.key[:8]}..." if known else None,
        "is_trimmed": bool(known and known.trim),
        "is_virtual": opened.is_virtual,
        "device": identity.device.name.lower(),
        **_beat(opened),
    }


def _beat(opened: OpenCar) -> dict[str, object]:
    """Return the rows about the steps and the control period; none if they are not reported."""
    inputs = opened.car.inputs
    if inputs is None:
        return {}
    return {
        "beat_ms": inputs.beat_us / 1e3,
        "step_takes_ms": inputs.takes_us / 1e3,
        "beats_missed": inputs.missed,
        "beats_missed_of_100": inputs.missed_lately,
    }


def _at_repl(port: str, baud: int) -> dict[str, object]:
    with raw_board(port, baud) as board:
        facts, slots = board.facts(), board.slots()
        return {
            "at": port,
            "machine": facts.machine,
            "runtime": ".".join(map(str, facts.version)),
            "unique_id": facts.unique_id.hex(),
            "heap_bytes": facts.heap,
            "slot": slots.name if slots else None,
            "is_on_trial": slots.is_on_trial if slots else None,
            "next_start": _next_start(slots),
            "programs": {name: len(board.hashes(f"/{name}")) for name in ("a", "b")},
            "trouble": translate_traceback(board.read("/trouble.txt").decode(errors="replace"))
            or None,
        }


def _next_start(slots: Slots | None) -> str:
    """Return a sentence about what the board does when it is reset."""
    if slots is None:
        return "MicroPython alone: no program of Tandem's is on it; tandem flash brings one"
    if slots.is_waiting:
        return (
            f"the launcher waits at its REPL: the program of slot {slots.name} did not come "
            "through its first ten seconds (an error, or power was cut), and there is no other; "
            "tandem flash brings one"
        )
    trial = ", on trial" if slots.is_on_trial else ""
    return f"the program of slot {slots.name}{trial}"


def _text(row: dict[str, object]) -> str:
    lines = (
        f"{name.replace('_', ' '):14} {'-' if value is None else value}"
        for name, value in _for_people(row).items()
    )
    return "\n".join(lines)


def _for_people(row: dict[str, object]) -> dict[str, object]:
    """Return the row with the state's word in the place of its code."""
    shown = dict(row)
    if "word" in shown:
        shown["state"] = shown.pop("word")
    return shown
