"""``tandem vehicles``: the types of car that Tandem knows, from their vehicle files."""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from importlib.metadata import entry_points
from math import degrees
from pathlib import Path
from typing import Any, TypeAlias

from host_bridge.cli.arguments.new_vehicle import add_new_options, ask_answers, given_options
from host_bridge.cli.output import vehicle_file
from host_bridge.cli.output import wiring_report as wiring
from host_bridge.cli.output.columns import aligned
from host_bridge.cli.output.new_vehicle_report import new_vehicle_lines, new_vehicle_row
from host_bridge.config.new_vehicle.build import make
from host_bridge.core import Actuator, Cause, SourceFacts, Vehicle
from host_bridge.core.errors import UsageFault
from host_bridge.core.texts.table import profile_word, source_word, stop_source_word
from host_bridge.logs.new_file import is_written, make_folder, refuse_existing, write_new
from host_bridge.sharing.services import Host

DRAWINGS = "tandem.drawings"  # entry points of who draws a vehicle's harness
_NEW, _BOARD = "new", "pico2"  # the board that is recommended (hardware/README.md)
Rows: TypeAlias = Sequence[tuple[str, ...]]

EXAMPLES = """examples:
  tandem vehicles                  which there are
  tandem vehicles nigel            one in full, and from which file each of its values is
  tandem vehicles ./my_car.toml    check a file of your own
  tandem vehicles nigel --json     for a program, with the parameters of the car's program
  tandem vehicles --check          which fits on which board, with pins, slices, timers in use
  tandem vehicles nigel --check --board weact_rp2350b
  tandem vehicles ./my_car.toml --check --board ./my_board.toml
  tandem vehicles ./my_car.toml --board ./my_board.toml --draw harness/
                                   its wires and parts, as pictures and lists
  tandem vehicles new ./slash.toml                 write the file of a car of your own; it asks
  tandem vehicles new ./slash.toml --like f1tenth --encoder hall --magnets 4 --board pico
                                   the same without questions; what is not given is as in f1tenth"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = (
        "List the vehicle types, show one in full, check what fits on which board, or write the "
        "file of a new one."
    )
    parser.epilog = EXAMPLES
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument(
        "name", nargs="?", help="a vehicle type, or the path of a vehicle file; or: new"
    )
    parser.add_argument("file", nargs="?", help="new: the file to be written, my_car.toml")
    parser.add_argument(
        "--check", action="store_true", help="check the wiring, and show the resources in use"
    )
    parser.add_argument(
        "--board",
        metavar="BOARD",
        help="with --check or new: a board's type, or the path of a board file",
    )
    parser.add_argument(
        "--draw",
        metavar="FOLDER",
        type=Path,
        help="write the harness of this vehicle: pictures, list of wires, list of parts",
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")
    add_new_options(parser)


def run(args: argparse.Namespace, host: Host) -> int:
    """Print the list, one type or the check; return the exit code.

    Raises UsageFault, VehicleFileFault, DataFileFault.
    """
    if args.name == _NEW:
        return _new(args)
    if args.file or given_options(args):
        raise UsageFault(
            "this belongs to new",
            expected="tandem vehicles new FILE.toml",
            got=" ".join([*([args.file] if args.file else []), *given_options(args)]),
            remedy="write new before the file",
        )
    if args.board and not (args.check or args.draw):
        raise UsageFault(
            "--board goes with --check or --draw", got=f"--board {args.board}", remedy="add one"
        )
    if args.draw:
        return _draw(args, host)
    if args.check:
        return wiring.check(args, host)
    names = (args.name,) if args.name else host.vehicles.names()
    vehicles = [host.vehicles.load(name) for name in names]
    if args.json:
        shown = [asdict(vehicle) for vehicle in vehicles]
        print(json.dumps(shown[0] if args.name else shown, default=str))
    elif args.name:
        print("\n".join(_in_full(vehicles[0])))
    else:
        print("\n".join(_listed(vehicles)))
    return 0


def _new(args: argparse.Namespace) -> int:
    path = Path(args.file or "")
    if path.suffix != ".toml" or not path.stem.isidentifier():
        raise UsageFault(
            "a new vehicle needs the name of its file",
            expected="tandem vehicles new my_car.toml: letters, digits and _",
            got=args.file or "nothing",
            remedy="the car's type is called as its file is",
        )
    if args.check:
        raise UsageFault("new checks by itself", got="--check", remedy="leave it out")
    refuse_existing(path)
    answers, tables, taken = ask_answers(args, path)
    made = make(path, answers, tables, args.board or _BOARD)
    for own in made.texts:
        refuse_existing(own)
    for own, text in made.texts.items():
        write_new(own, "the file", text)
    if args.json:
        print(json.dumps(new_vehicle_row(made, answers, taken)))
    else:
        print("\n".join(new_vehicle_lines(made, answers, taken)))
    return 0


def _draw(args: argparse.Namespace, host: Host) -> int:
    """Write the lists, then the pictures: those need programs that may be missing."""
    if not args.name or args.check:
        raise UsageFault(
            "--draw draws one vehicle",
            expected="tandem vehicles NAME --draw FOLDER, without --check",
            got=args.name or "no name",
        )
    drawing = _drawing_tool()(host.vehicles.load(args.name), args.board)
    tables, pictures = drawing.tables(args.draw), drawing.pictures(args.draw)
    for path in (*tables, *pictures):
        if not is_written(path, tables.get(path, "")):  # by a run that could not draw
            refuse_existing(path)
    for path, text in tables.items():
        make_folder(path.parent)
        if not is_written(path, text):
            write_new(path, "the list", text)
    mind = [f"{key} is wired in the board file, and not drawn" for key in drawing.undrawn()]
    if not args.json:
        print("\n".join([drawing.title, *(f"written: {path}" for path in tables)]), flush=True)
        print("".join(f"mind: {text}\n" for text in mind), end="", flush=True)
    drawing.draw(args.draw)
    if args.json:
        print(json.dumps({"files": [str(path) for path in (*tables, *pictures)], "mind": mind}))
    else:
        print("\n".join(f"drawn: {path}" for path in pictures))
    return 0


def _drawing_tool() -> Callable[..., Any]:
    """Load what draws harnesses, by entry point: the bridge imports no drawing tool."""
    for point in entry_points(group=DRAWINGS, name="harness"):
        found: Callable[..., Any] = point.load()
        return found
    raise UsageFault(
        "nothing that draws a harness is installed",
        expected=f"the entry point harness in the group {DRAWINGS}",
        remedy="install Tandem anew: make setup in a clone, else pip install its wheel",
    )


def _listed(vehicles: list[Vehicle]) -> list[str]:
    rows: list[tuple[str, ...]] = [("name", "title", "speed", "steering", "who may drive it")]
    for v in vehicles:
        sources = ", ".join(source_word(source.name) for source in v.sources)
        rows.append((v.name, v.title, f"{v.speed_max_mps:g} m/s", _angle(v.steer_max_rad), sources))
    return aligned(rows)


def _in_full(v: Vehicle) -> list[str]:
    return [
        f"{v.name}: {v.title}",
        f"  {v.path}",
        *(f"  based on {path}" for path in vehicle_file.bases(v.values, v.path)),
        "",
        *aligned(_facts(v)),
        *(f"  mind: {text}" for text in v.reminders),
        "",
        *aligned(_sources(v)),
        "",
        *aligned(_channels(v)),
        "",
        "# the vehicle file with what it takes over, and where each value is written",
        *vehicle_file.merged_file(v.values),
    ]


def _facts(v: Vehicle) -> Rows:
    limits = v.divergence
    differs = (
        f"by more than {limits.steer_rad:g} rad, {limits.speed_mps:g} m/s, "
        f"{limits.yaw_rate_radps:g} rad/s or {limits.path_m:g} m"
        + (", and then they stop" if limits.on_exceed == "stop" else "")
    )
    return [
        ("wheelbase, track", f"{v.wheelbase_m:g} m, {v.track_m:g} m"),
        ("speed, reverse", f"{v.speed_max_mps:g} m/s, {v.reverse_max_mps:g} m/s at most"),
        ("slowest speed", f"{v.slowest_mps:.2g} m/s that its counts can hold"),
        ("steering", f"{_angle(v.steer_max_rad)} either way"),
        ("step of its program", f"{v.step_s * 1e3:g} ms"),
        ("driven blind", f"{v.blind_m:g} m at most, after the last claim that it heard"),
        ("without its program", _unaided(v)),
        ("who can stop it", ", ".join(stop_source_word(source.name) for source in v.stop_sources)),
        *_policies(v),
        ("differs from its twin", differs),
        *([("a real one's twin", _twin(v))] if v.calibration else []),
        *([("wired on no board", v.unwired)] if v.unwired else []),
    ]


def _unaided(v: Vehicle) -> str:
    goes = v.unaided.stop_from(v.profile_caps_mps[v.profile])
    accepted = v.accepted_coast
    return (
        f"button {goes.button_m:.1f}, hang {goes.hang_m:.1f}, reset {goes.reset_m:.1f}, power lost "
        f"{goes.power_lost_m:.1f} m from its cap in {profile_word(v.profile)}, "
        f"{goes.speed_mps:g} m/s"
        + (f"; accepted: {accepted.distance_m:g} m, {accepted.reason}" if accepted else "")
    )


def _twin(v: Vehicle) -> str:
    what = f"calibrated, calibration={v.calibration}"
    return f"{what}; as this file has it: --twin 'sim://{v.name}?calibration=none'"


def _policies(v: Vehicle) -> Iterator[tuple[str, str]]:
    for policy in sorted(set(v.stop_policies.values())):
        causes = [
            Cause[name.upper()].word for name, how in v.stop_policies.items() if how == policy
        ]
        yield f"stops by {policy} for", ", ".join(dict.fromkeys(causes))  # two concern the clock


def _sources(v: Vehicle) -> Rows:
    head = ("source", "id", "priority", "lease", "cap", "deadman", "silence", "may claim")
    ranked = sorted(v.sources, key=lambda source: -source.priority)
    return [head, *(_source(source) for source in ranked)]


def _source(source: SourceFacts) -> tuple[str, ...]:
    actuators = [a.word for a in Actuator if source.mask >> a & 1]
    return (
        source.name,
        str(source.id),
        str(source.priority),
        f"{source.lease_s * 1e3:g} ms",
        f"{source.speed_cap_mps:g} m/s",
        "its own" if source.is_attended else f"that of {source.needs}",
        "yields" if source.yields_on_silence else "stops",
        ", ".join(actuators),
    )


def _channels(v: Vehicle) -> Rows:
    rows: list[tuple[str, ...]] = [("channel", "kind", "")]
    for number, channel in enumerate(v.channels):
        rows.append((str(number), str(channel["kind"]), _reach(channel)))
    return rows


def _reach(channel: dict[str, Any]) -> str:
    if "curve" not in channel:
        return ""
    right, left = channel["curve"][0][1], channel["curve"][-1][1]
    return f"{channel['axle']}, {right / 1e3:.0f} us full right to {left / 1e3:.0f} us full left"


def _angle(angle_rad: float) -> str:
    return f"{angle_rad:g} rad ({degrees(angle_rad):.0f} degrees)"
