"""List, show, test and map the gamepads and wheels that are plugged in.

Without an argument it lists them. live shows the reports of one; map asks for one control after the
other and keeps the answers, so that a wheel or a pad that SDL does not know drives, too; test
measures how a pad falls silent, and keeps the result.

How fast a pad may drive depends on how its silence is detected. One whose axes jitter or that has a
gyro ("reports") drives at the vehicle file's full speed, and a car stops 0.2 s after it fell
silent. Any other ("presses") drives slowly, and something has to be moved or pressed each second.

examples:
  tandem pads
  tandem pads live
  tandem pads live xbox --seconds 10
  tandem pads map wheel           press, turn or push what is named; ENTER leaves one out
  tandem pads test xbox           ten seconds of a steady hand, then switch it off while you hold LB

exit codes: 0 done; 1 the pad did not show that it lives; 3 no such pad, or PySDL2 is not installed.
"""

from __future__ import annotations

import argparse
import json
import select
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from host_bridge.cli.arguments.arg_types import positive
from host_bridge.core.errors import NotHeldFault
from host_bridge.inputs.gamepad import (
    LivenessCheck,
    OpenPad,
    PadFacts,
    PadMapping,
    PadMappings,
    PadReport,
    RawPad,
    ReportCount,
    ReportKind,
    Sdl,
    choose_pad,
    load_mappings,
)
from host_bridge.sharing.services import Host

_POLL_S = 0.005  # more often than pads report, every 8 ms
_STEADY_S = 10.0  # a hand trembles at least a few times in it
_FROZEN_S = 0.2  # the vehicle files' limit for an input count that stands still
_LONGEST_GAP_S = _FROZEN_S / 2  # leaves a steady hand a factor of two
_MOVED = 0.6  # of an axis' range: a deliberate movement, and no jitter
_SHOWN = ("leftx", "lefty", "rightx", "righty", "lefttrigger", "righttrigger")
_ASKED = (
    ("leftshoulder", "LB: the deadman, held to drive by hand"),
    ("rightshoulder", "RB: held to let a program drive"),
    ("righttrigger", "the right trigger, or the throttle pedal: all the way"),
    ("lefttrigger", "the left trigger, or the brake pedal: all the way"),
    ("leftx", "the left stick, or the wheel: all the way to the RIGHT"),
    ("lefty", "the left stick: all the way DOWN"),
    ("start", "START: arms again"),
    ("back", "BACK: ends the drive"),
    ("b", "B: stops"),
)
_HAT_NAMES = {1: "dpup", 2: "dpright", 4: "dpdown", 8: "dpleft"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.add_argument(
        "what",
        nargs="?",
        default="list",
        choices=tuple(_SUBCOMMANDS),
        help="the operation (default: list)",
    )
    parser.add_argument("pad", nargs="?", default="", help="a part of the pad's name or GUID")
    parser.add_argument(
        "--seconds", type=positive, help="the time for which it is shown or measured, in s"
    )
    parser.add_argument("--json", action="store_true", help="print the outcome as JSON")


def run(args: argparse.Namespace, host: Host) -> int:
    """Run the command; return the exit code.

    Raises errors.TandemError.
    """
    sdl = Sdl()
    try:
        list(sdl.poll())
        return _SUBCOMMANDS[args.what](args, sdl)
    finally:
        sdl.close()


def _list(args: argparse.Namespace, sdl: Sdl) -> int:
    mappings = PadMappings()
    rows = [_row(it, mappings.of(it.guid)) for it in load_mappings(sdl, mappings)]
    if args.json:
        print(json.dumps(rows))
    elif not rows:
        print("no gamepad is plugged in (switched on? in /dev/input, and may this login read it?)")
    for row in () if args.json else rows:
        known = "" if row["is_mapped"] else "; SDL does not know it: tandem pads map"
        print(f"{row['index']}  {row['name']}  {row['guid']}  life: {row['life']}{known}")
    return 0


def _row(facts: PadFacts, mapping: PadMapping) -> dict[str, object]:
    return {
        "index": facts.index,
        "name": facts.name,
        "guid": facts.guid,
        "is_mapped": bool(facts.mapping),
        "life": mapping.liveness.value if mapping.liveness else "not tested",
    }


def _live(args: argparse.Namespace, sdl: Sdl) -> int:
    facts = choose_pad(load_mappings(sdl, PadMappings()), args.pad)
    pad = OpenPad(sdl, facts.index)
    count = ReportCount(LivenessCheck.REPORTS)
    names: dict[str, bool] = {}
    shown_s = 0.0
    for now_s, reports in _ticks(sdl, args.seconds):
        for report in reports:
            count.hear(report, 0)
            if report.kind is ReportKind.BUTTON:
                name = pad.button_name(report.number) or f"button {report.number}"
                names[name] = bool(report.value)
        if now_s >= shown_s:
            shown_s = now_s + 0.1  # as often as an eye can follow figures
            _show(pad, count, [name for name, is_down in names.items() if is_down])
    print()
    pad.close()
    return 0


def _show(pad: OpenPad, count: ReportCount, pressed: list[str]) -> None:
    axes = "  ".join(f"{name} {pad.value(name):+.2f}" for name in _SHOWN)
    line = f"{count.total:6d} reports  {axes}  {' '.join(pressed)}"
    print(f"\r{line:<150}" if sys.stdout.isatty() else line, end="", flush=True)
    if not sys.stdout.isatty():
        print()


def _map(args: argparse.Namespace, sdl: Sdl) -> int:
    facts = choose_pad(sdl.pads(), args.pad)
    pad = RawPad(sdl, facts.index)
    print(f"{facts.name}, {facts.guid}. Hands off, then press, turn or push what is named.")
    parts: list[str] = []
    for control, words in _ASKED:
        print(f"  {words} ... ", end="", flush=True)
        found = _next_input(sdl, pad, set(parts), args.seconds)
        print(found or "left out", flush=True)
        if found:
            parts.append(f"{control}:{found}")
    pad.close()
    line = ",".join([facts.guid, facts.name.replace(",", " "), *parts])
    sdl.add_mapping(line)
    mappings = PadMappings()
    path = mappings.keep(replace(mappings.of(facts.guid), name=facts.name, sdl=line))
    print(f"Kept in {path}; roles other than these are edited there. Next: tandem pads test")
    return 0


def _next_input(sdl: Sdl, pad: RawPad, taken: set[str], seconds: float | None) -> str:
    """Return SDL's name for the input that is moved next; "" if it is left out."""
    used = {part.partition(":")[2] for part in taken}
    for _, reports in _ticks(sdl, seconds, ends_by_enter=True):
        for report in reports:
            word = _word(report, pad.rest) if report.device == pad.device else ""
            if word and word not in used:
                return word
    return ""


def _word(report: PadReport, rest: Sequence[float]) -> str:
    """Return the report's input as in an SDL mapping: b3, a2, a2~, h0.1.

    It is "" for less than a full movement.
    """
    if report.kind is ReportKind.BUTTON and report.value:
        return f"b{report.number}"
    if report.kind is ReportKind.HAT and int(report.value) in _HAT_NAMES:
        return f"h{report.number}.{int(report.value)}"
    if report.kind is not ReportKind.AXIS:
        return ""
    way = report.value - rest[report.number]
    if abs(way) < _MOVED:
        return ""
    return f"a{report.number}" if way > 0 else f"a{report.number}~"


def _test(args: argparse.Namespace, sdl: Sdl) -> int:
    mappings = PadMappings()
    facts = choose_pad(load_mappings(sdl, mappings), args.pad)
    pad = OpenPad(sdl, facts.index)
    seconds = args.seconds or _STEADY_S
    say: Callable[[str], None] = (lambda text: None) if args.json else print
    say(f"Hold LB, and the right trigger pressed to its end, as steadily as you can: {seconds:g} s")
    steady = _measured(sdl, pad, seconds)
    liveness = (
        LivenessCheck.REPORTS
        if pad.has_sensor or steady["gap_s"] <= _LONGEST_GAP_S
        else LivenessCheck.PRESSES
    )
    say(f"  {steady['reports']} reports, the longest silence {steady['gap_s'] * 1e3:.0f} ms")
    say("Now hold LB, and take its battery out, switch it off or walk out of range: 10 s")
    ending = _measured(sdl, pad, seconds, until_gone=True)
    what = _how_it_ended(ending)
    say(f"  this pad {what}")
    path = mappings.keep(replace(mappings.of(facts.guid), name=facts.name, liveness=liveness))
    pad.close()
    row = {"name": facts.name, "guid": facts.guid, "life": liveness.value, "ending": what}
    if args.json:
        print(json.dumps({**row, **{key: steady[key] for key in ("reports", "gap_s")}}))
    say(f"Kept in {path}: life = {liveness.value}")
    if liveness is LivenessCheck.PRESSES:
        raise NotHeldFault(
            "a steady hand on this pad cannot be told from a frozen pad",
            expected=f"a report at least each {_LONGEST_GAP_S * 1e3:.0f} ms while it is held",
            got=f"none for {steady['gap_s'] * 1e3:.0f} ms",
            remedy="it drives slowly, and something has to be moved each second",
        )
    return 0


def _measured(
    sdl: Sdl, pad: OpenPad, seconds: float, *, until_gone: bool = False
) -> dict[str, float]:
    """Measure a pad: its reports, its longest silence, and its state at the end."""
    count = ReportCount(LivenessCheck.REPORTS)
    begun_s = heard_s = time.monotonic()
    gap_s, is_gone = 0.0, 0.0
    for now_s, reports in _ticks(sdl, seconds):
        for report in reports:
            if report.device == pad.device and report.kind is ReportKind.REMOVED:
                is_gone = 1.0
            elif report.device == pad.device and count.hear(report, 0):
                gap_s, heard_s = max(gap_s, now_s - heard_s), now_s
        if until_gone and is_gone:
            break
    ended_s = time.monotonic()
    return {
        "reports": count.total,
        "gap_s": max(gap_s, ended_s - heard_s),
        "seconds": ended_s - begun_s,
        "is_gone": is_gone,
        "silent_s": ended_s - heard_s,
        "held": pad.value("leftshoulder") if not is_gone else 0.0,
    }


def _how_it_ended(ending: dict[str, float]) -> str:
    if ending["is_gone"]:
        return "is told to be gone"
    if ending["silent_s"] < _FROZEN_S:
        return "still reports: it was not switched off, or not within the time"
    if ending["held"]:
        return "falls silent, or repeats its last values: LB still counts as held"
    return "says that all is released, then falls silent"


def _ticks(
    sdl: Sdl, seconds: float | None, *, ends_by_enter: bool = False
) -> Iterator[tuple[float, list[PadReport]]]:
    """Yield the time, and the reports since the last one, for ``seconds`` or until Ctrl-C."""
    end_s = time.monotonic() + seconds if seconds else float("inf")
    while (now_s := time.monotonic()) < end_s:
        yield now_s, list(sdl.poll())
        if ends_by_enter and _enter_was_pressed():
            return
        time.sleep(_POLL_S)


def _enter_was_pressed() -> bool:
    if not sys.stdin.isatty():
        return False
    is_there = bool(select.select([sys.stdin], [], [], 0)[0])
    return is_there and bool(sys.stdin.readline())


_SUBCOMMANDS: dict[str, Callable[[argparse.Namespace, Sdl], int]] = {
    "list": _list,
    "live": _live,
    "map": _map,
    "test": _test,
}
