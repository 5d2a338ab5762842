"""``tandem config``: shows, reads, compares and writes the parameters that a car holds."""

from __future__ import annotations

import argparse
import json

from host_bridge.cli.arguments.calibration_work import NONE, board_half, changes_on_board
from host_bridge.cli.arguments.car_option import OneCar
from host_bridge.cli.arguments.parameter_changes import is_change, parse_changes
from host_bridge.config import config_hash, parameter_name
from host_bridge.core import CarIdentity, Vehicle
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.progress import progress_count
from host_bridge.core.system.running import run_async
from host_bridge.sharing.open_car import OpenCar
from host_bridge.sharing.services import Host
from host_bridge.sharing.services.configurations import ADJUSTABLE

EPILOG = """\
examples:
  tandem config show nigel              which configuration it holds
  tandem config read nigel --json       all its parameters
  tandem config diff nigel              where it differs from its vehicle file
  tandem config write serial:///dev/ttyACM0 --vehicle f1tenth --name red
                                        make it a car of this type and name
  tandem config write nigel step_s=0.02 a longer control period for this car, whose board is slow
  tandem config write nigel accel_mps2=0.8 low_v=10.8
                                        gentler, and home earlier
  tandem config write nigel --calibration my_nigel.toml
                                        its trim and steering map, counts of a metre and speeds
  tandem config write nigel --calibration none
                                        and back to its vehicle file

A value in which one car differs from its vehicle file is kept on this host, as its trim is. tandem
backup saves it. A value as the file has it ends the difference. What one car may have otherwise is
how it answers and when its battery is low; how far it goes without its program is the file's alone.

A calibration is one that tandem calibrate or tandem replay --fit wrote, or "own", which Tandem
brings along for Nigel. The board gets the pulses of its steering and its full lock, its counts and
its speed at full effort. What the logs could not tell stays as the vehicle file has it. Beyond the
steering angles that were driven the steering map is a prior, not a measurement.

Writing needs a car that is parked or in fault. All of it is read back. A car that had
no configuration is in fault until tandem clear.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Show, read, write or compare a car's configuration."
    parser.epilog = EPILOG
    parser.add_argument("action", choices=tuple(_ACTIONS), help="the operation")
    parser.add_argument(
        "words",
        nargs="*",
        default=[],  # without a default it is said to be required
        metavar="CAR | NAME=VALUE",
        help="a served name, a URI or a serial port; may be left out if one is served. "
        f"write: {', '.join(f'{name}=NUMBER' for name in ADJUSTABLE)}",
    )
    parser.add_argument("--car", action=OneCar, metavar="CAR", help="the same as an option")
    parser.add_argument("--vehicle", help="a vehicle type, or the path of a vehicle file")
    parser.add_argument("--name", help="write: the car's own name (default: the one it has)")
    parser.add_argument(
        "--calibration",
        metavar="FILE",
        help="write: what tandem calibrate or replay --fit found; own; none: take it back",
    )
    parser.add_argument("--all", action="store_true", help="diff: show what is equal, too")
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return 0, or 1 if ``diff`` finds a difference.

    Raises errors.TandemError.
    """
    return run_async(_run(args, host))


async def _run(args: argparse.Namespace, host: Host) -> int:
    text, args.changes = _car_and_changes(args)
    if args.calibration and (args.action != "write" or args.changes or args.name):
        raise UsageFault(
            "a calibration is not written together with a name or a value",
            expected="tandem config write CAR --calibration FILE",
            remedy="write the name or the control period before or after it",
        )
    if args.all and args.action != "diff":
        raise UsageFault("--all belongs to diff", expected="tandem config diff CAR --all")
    epoch = host.cars.command_epoch(text) if args.action == "write" else None
    opened = await host.cars.open(text, epoch=epoch, vehicle=args.vehicle)
    try:
        return await _ACTIONS[args.action](args, host, opened)
    finally:
        await opened.close()


def _car_and_changes(args: argparse.Namespace) -> tuple[str | None, dict[str, float]]:
    """Split the words into the car and the changes.

    Raises errors.UsageFault.
    """
    words = [word for word in args.words if is_change(word)]
    cars = [word for word in args.words if word not in words]
    if args.car:
        cars.append(args.car)
    if len(cars) > 1 or (words and args.action != "write"):
        raise UsageFault(
            f"{args.action} takes one car",
            expected="one car, and NAME=VALUE for write only",
            got=" ".join([*cars, *words]),
        )
    return cars[0] if cars else None, parse_changes(words)


async def _show(args: argparse.Namespace, host: Host, opened: OpenCar) -> int:
    identity = _identity(opened)
    known = host.vehicles.recognised(identity)
    status = opened.car.status
    shown = status.shown_state if status else identity.state
    row = {
        "car": identity.car_name,
        "vehicle": known.name if known else None,
        "config_hash": identity.config_hash.hex(),
        "protocol_hash": identity.protocol_hash.hex(),
        "board_id": identity.board_id.hex(),
        "is_hitl": identity.is_hitl,
        "state": identity.state.name,
    }
    if args.json:
        print(json.dumps({**row, "word": shown.word}))
    else:
        row["vehicle"] = known.name if known else "none of the vehicle files' configurations"
        row["state"] = shown.word
        print("\n".join(f"{name.replace('_', ' '):14} {value}" for name, value in row.items()))
    return 0


async def _read(args: argparse.Namespace, host: Host, opened: OpenCar) -> int:
    values = await host.configurations.read(opened, progress_count("read"))
    named = {parameter_name(index): value for index, value in enumerate(values)}
    if args.json:
        print(json.dumps(named))
    else:
        print("\n".join(f"{name:28} {value}" for name, value in named.items()))
    return 0


async def _write(args: argparse.Namespace, host: Host, opened: OpenCar) -> int:
    if args.changes:
        return await _adjust(args, host, opened)
    if args.calibration:
        return await _calibrate(args, host, opened)
    identity = _identity(opened)
    vehicle = await host.configurations.on_its_board(_vehicle(args, host), opened)
    name = args.name or identity.car_name or vehicle.name
    changed = await host.configurations.write(opened, vehicle, name, progress_count)
    written = config_hash(vehicle, identity.board_id, name)
    row = {"car": name, "vehicle": vehicle.name, "changed": changed, "hash": written.hex()}
    print(json.dumps(row) if args.json else _written(row, opened))
    return 0


async def _adjust(args: argparse.Namespace, host: Host, opened: OpenCar) -> int:
    file = host.vehicles.load(args.vehicle) if args.vehicle else None
    vehicle, changed = await host.configurations.adjust(
        opened, args.changes, progress_count, file, args.name
    )
    name = args.name or _identity(opened).car_name or vehicle.name
    written = config_hash(vehicle, _identity(opened).board_id, name)
    row = {"car": name, "vehicle": vehicle.name, "changed": changed, "hash": written.hex()}
    print(json.dumps({**row, **args.changes}) if args.json else _written(row, opened))
    return 0


async def _calibrate(args: argparse.Namespace, host: Host, opened: OpenCar) -> int:
    file = host.vehicles.load(args.vehicle or opened.vehicle.path)
    calibrated = file if args.calibration == NONE else board_half(file, args.calibration, host)
    name = _identity(opened).car_name or file.name
    changed = await host.configurations.calibrate(opened, file, calibrated, progress_count)
    rows = changes_on_board(file, calibrated)
    if args.json:
        print(json.dumps({"car": name, "vehicle": file.name, "changed": changed, "values": rows}))
        return 0
    print(f"{name} is a {file.name}: {changed} parameters changed, all read back")
    for row in rows:
        print(f"  {row['parameter']:24} {row['calibrated']}  (file: {row['file']})")
    if not rows:
        print("  it is as its vehicle file has it")
    status = opened.car.status
    if status and status.faults:
        print("It is in FAULT: tandem clear")
    return 0


def _written(row: dict[str, object], opened: OpenCar) -> str:
    text = f"{row['car']} is a {row['vehicle']}: {row['changed']} parameters changed, all read back"
    status = opened.car.status
    return f"{text}\nIt is in FAULT: tandem clear" if status and status.faults else text


async def _diff(args: argparse.Namespace, host: Host, opened: OpenCar) -> int:
    identity = _identity(opened)
    file = host.vehicles.load(args.vehicle) if args.vehicle else opened.vehicle
    vehicle = await host.configurations.on_its_board(file, opened)
    wanted = host.configurations.values(vehicle, identity, identity.car_name)
    held = await host.configurations.read(opened, progress_count("read"))
    rows = [
        {"parameter": parameter_name(i), "car": held[i], "file": wanted[i]}
        for i in range(len(wanted))
        if args.all or held[i] != wanted[i]
    ]
    print(json.dumps(rows) if args.json else _differences(rows, opened.name, vehicle))
    return 0 if held == wanted else 1


def _differences(rows: list[dict[str, object]], name: str, vehicle: Vehicle) -> str:
    if not rows:
        return f"{name} holds the configuration of {vehicle.name}"
    head = f"{'parameter':28} {name:>12} {vehicle.name:>12}"
    lines = (f"{row['parameter']!s:28} {row['car']:>12} {row['file']:>12}" for row in rows)
    return "\n".join([head, *lines])


def _vehicle(args: argparse.Namespace, host: Host) -> Vehicle:
    if not args.vehicle:
        raise UsageFault(
            "the vehicle type is missing",
            expected="--vehicle TYPE, or the path of a vehicle file",
            remedy=f"the types that there are: {', '.join(host.vehicles.names())}",
        )
    return host.vehicles.load(args.vehicle)


def _identity(opened: OpenCar) -> CarIdentity:
    identity = opened.car.identity
    assert identity is not None, "an open car has said who it is"
    return identity


_ACTIONS = {"show": _show, "read": _read, "write": _write, "diff": _diff}
