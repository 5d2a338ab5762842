"""Puts a car's program onto a board: checked first, verified, on trial, and configured."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from host_bridge.config.boards import load_board
from host_bridge.config.boards.beat import link_on
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.attestation import WHEELS_OFF_GROUND, says_wheels_off_ground
from host_bridge.core.system.progress import progress_count
from host_bridge.core.system.running import run_async
from host_bridge.deploy.flash.board.board import BoardFacts, RawBoard
from host_bridge.deploy.flash.board.box import watch_box_trial
from host_bridge.deploy.flash.board.heap import fitting_releases, refuse_small_heap
from host_bridge.deploy.flash.board.pairing_key import board_id_of, has_key
from host_bridge.deploy.flash.board.repl import (
    BAUD,
    ask_for_repl,
    raw_board,
    refuse_missing_port,
)
from host_bridge.deploy.flash.board.runtime import install_runtime
from host_bridge.deploy.flash.build import ProgramBuild, build_program, refuse_wrong
from host_bridge.deploy.flash.commissioning import Commissioning
from host_bridge.deploy.flash.install import install, plan_install
from host_bridge.deploy.flash.plan import SLOTS, InstallPlan
from host_bridge.deploy.flash.precheck import FoundCar, precheck_car, uri_of
from host_bridge.deploy.flash.program.image import Image, examine_image, where_to_get
from host_bridge.deploy.selftest import SelfTestOptions, run_self_test
from host_bridge.sharing.services import Host


@dataclass(frozen=True)
class FlashOptions:
    """The options of ``tandem flash``: what to put onto which board, and what to do afterwards."""

    vehicle: str
    board: str
    port: str
    repl: str | None = None  # of a car whose link is a UART
    name: str | None = None
    runtime: Path | None = None
    runtime_sha256: str | None = None
    baud: int = BAUD
    has_selftest: bool = True
    is_dry_run: bool = False
    is_json: bool = False

    @property
    def repl_port(self) -> str:
        return self.repl or self.port


def flash(options: FlashOptions, host: Host) -> int:
    """Return 0 once the board is as requested, or else the self-test's exit code.

    Raises errors.TandemError.
    """
    image = _image(options)
    build = build_program(
        options.board, options.vehicle, host.vehicles.load, progress_count("compiled")
    )
    _refuse_name(options, build)
    _refuse_ports(options, build)
    runtime = image.row() if image else {"runtime_from": where_to_get(build.board)}
    if options.is_dry_run:
        return _print_row(options, {**_what(build), **runtime, **_room(build), "is_dry_run": True})
    found = FoundCar()
    if options.runtime:
        print("\n".join(_lines(runtime)))
        print(install_runtime(options.runtime, build.board.chip.name, options.repl_port))
    else:  # in BOOTSEL, above, a board has no port
        refuse_missing_port(options.port)
        refuse_missing_port(options.repl_port)
        run_async(precheck_car(options.port, host, found))
    row = _flash(options, build, found)
    return _cared_for(options, host, build, found, row)


def _image(options: FlashOptions) -> Image | None:
    """Return the examined runtime file, None without one. Raises errors.DataFileFault.

    It comes before anything is compiled.
    """
    if options.runtime:
        return examine_image(options.runtime, load_board(options.board), options.runtime_sha256)
    if options.runtime_sha256:
        raise UsageFault(
            "--runtime-sha256 is the hash of a file, and no file is given",
            expected="--runtime FILE --runtime-sha256 HEX",
            got=f"--runtime-sha256 {options.runtime_sha256}",
            remedy="name the file, or leave its hash out",
        )
    return None


def _cared_for(
    options: FlashOptions,
    host: Host,
    build: ProgramBuild,
    found: FoundCar,
    row: dict[str, object],
) -> int:
    if build.vehicle is None:
        if row["sent_files"]:
            watch_box_trial(
                options.repl_port,
                options.baud,
                str(row["slot"]),
                progress_count("watched, seconds"),
            )
        return _print_row(options, row)
    commissioning = Commissioning(
        options.port, options.repl_port, options.name, build.vehicle, build.board, found
    )
    run_async(commissioning.run(host, row))
    _print_row(options, {**row, **commissioning.found})
    return _tested(options, host)


def _tested(options: FlashOptions, host: Host) -> int:
    uri = uri_of(options.port)
    if not options.has_selftest:
        return _report_skipped("--no-selftest", uri)
    if options.is_json:
        return _report_skipped("a program reads what is printed here", uri)
    return prompt_self_test(uri, host)


def prompt_self_test(uri: str, host: Host) -> int:
    """Offer the self-test, on blocks; return its exit code, or 0 if it is skipped, which is said.

    Raises errors.TandemError.
    """
    if not sys.stdin.isatty():
        return _report_skipped("nobody can be asked here", uri)
    print("Its self-test, on blocks: it steers, turns the wheels slowly, and asks for the runstop.")
    if not says_wheels_off_ground():
        return _report_skipped("its wheels are on the ground", uri)
    return run_self_test(SelfTestOptions(uri, attested=WHEELS_OFF_GROUND), host)


def _report_skipped(why: str, uri: str) -> int:
    """Say why the test was skipped, and how to run it later; return 0."""
    print(f"not tested: {why}; on blocks: tandem selftest {uri}", file=sys.stderr)
    return 0


def _refuse_name(options: FlashOptions, build: ProgramBuild) -> None:
    if options.name and build.vehicle is None:
        raise UsageFault(
            f"a {build.wiring} has no name: it has no configuration to keep it in",
            got=f"--name {options.name}",
            remedy="leave out --name",
        )


def _refuse_ports(options: FlashOptions, build: ProgramBuild) -> None:
    """Refuse one port for a car whose link is a UART, and two for a car whose link is USB."""
    if build.vehicle is None:
        return
    is_two = options.repl_port != options.port
    is_uart = link_on(build.vehicle, build.board) == "uart"
    car = f"a {build.vehicle.name} on this {build.board.name}"
    if is_uart and not is_two:
        raise UsageFault(
            f"the link of {car} is a UART, and its REPL is another port",
            expected="two ports: --port of the link, and --repl of the board's own USB",
            got=f"--port {options.port} alone",
            remedy="add --repl PORT; or, for a link over USB, take the wiring's link out of the "
            "board file",
        )
    if is_two and not is_uart:
        raise UsageFault(
            f"the link of {car} is its REPL's own port",
            expected="--port PORT alone",
            got=f"--port {options.port} --repl {options.repl}",
            remedy="leave --repl out; or, for a link over a UART, name its pins in the board file: "
            "link = { tx = 0, rx = 1 }",
        )


def _flash(options: FlashOptions, build: ProgramBuild, found: FoundCar) -> dict[str, object]:
    """Install the program on the board; return the outcome for people and programs."""
    if options.repl_port != options.port:
        ask_for_repl(options.port)
    with raw_board(options.repl_port, options.baud) as board:
        facts = board.facts()
        found.at_repl(board_id_of(facts.unique_id), options.repl_port)
        refuse_wrong(build.board, facts, options.repl_port)
        heap = _refuse_heap(options, build, board, facts)
        runtime = ".".join(map(str, facts.version))
        plan = plan_install(board, build.program)
        row = {**_what(build), "runtime": runtime, **heap}
        if plan is None:
            slots = board.slots()
            return {**row, "slot": slots.name if slots else "", "sent_files": 0, "sent_bytes": 0}
        sent = _carried_out(board, build, plan)
        return {
            **row,
            "slot": SLOTS[plan.slot],
            "sent_files": len(plan.send),
            "sent_bytes": sent,
            "kept_files": len(plan.keep),
        }


def _refuse_heap(
    options: FlashOptions, build: ProgramBuild, board: RawBoard, facts: BoardFacts
) -> dict[str, object]:
    """Refuse a car whose heap is too small. A box needs little, and was not measured."""
    if build.vehicle is None:
        return {"heap_bytes": facts.heap}
    is_paired = has_key(board)
    heap = refuse_small_heap(build.board, build.wiring, facts, is_paired, options.repl_port)
    return {**heap, "is_paired": is_paired}


def _carried_out(board: RawBoard, build: ProgramBuild, plan: InstallPlan) -> int:
    def show(what: str, done: int, total: int) -> None:
        progress_count(f"{what} bytes")(done, total)

    return install(board, build.program, build.launcher, plan, show)


def _what(build: ProgramBuild) -> dict[str, object]:
    return {
        "board": build.board.name,
        "wiring": build.wiring,
        "program": build.hash,
        "files": len(build.program),
        "bytes": build.size,
    }


def _room(build: ProgramBuild) -> dict[str, object]:
    """Return which MicroPython release has room for the car, without a box's key and with one."""
    if build.vehicle is None:
        return {}
    return {
        "heap": fitting_releases(build.board, build.wiring),
        "heap_with_key": fitting_releases(build.board, build.wiring, is_paired=True),
    }


def _lines(row: Mapping[str, object]) -> Iterator[str]:
    width = max(map(len, row))
    return (f"{name.replace('_', ' '):{width}} {value}" for name, value in row.items())


def _print_row(options: FlashOptions, row: dict[str, object]) -> int:
    if options.is_json:
        print(json.dumps(row))
    else:
        shown = dict(row)
        if "word" in shown:
            shown["state"] = shown.pop("word")
        print("\n".join(_lines(shown)))
    return 0
