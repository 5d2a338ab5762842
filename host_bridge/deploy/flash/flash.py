"""Puts a car's program onto a board: checked first, verified, on trial, and configured."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from host_bridge.config.boards import load_board
from host_bridge.config.store import Host
from host_bridge.core.errors import UsageFault
from host_bridge.core.system.progress import progress_count
from host_bridge.core.system.running import run_async
from host_bridge.deploy.flash.board.board import BoardFacts, RawBoard
from host_bridge.deploy.flash.board.box import watch_box
from host_bridge.deploy.flash.board.heap import fitting, refuse_too_little
from host_bridge.deploy.flash.board.pairing_key import folded, has_key
from host_bridge.deploy.flash.board.repl import BAUD, raw_board
from host_bridge.deploy.flash.board.runtime import install_runtime
from host_bridge.deploy.flash.commissioning import Aftercare
from host_bridge.deploy.flash.install import install, look
from host_bridge.deploy.flash.job import Job, prepare, refuse_wrong
from host_bridge.deploy.flash.plan import SLOTS, Plan
from host_bridge.deploy.flash.precheck import Before, look_at_car, uri_of
from host_bridge.deploy.flash.program.image import Image, examined, where_to_get
from host_bridge.deploy.flash.selftest_prompt import left_out, offer_self_test


@dataclass(frozen=True)
class FlashOptions:
    """The options of ``tandem flash``: what to put onto which board, and what to do afterwards."""

    vehicle: str
    board: str
    port: str
    name: str | None = None
    runtime: Path | None = None
    runtime_sha256: str | None = None
    baud: int = BAUD
    has_selftest: bool = True
    is_dry_run: bool = False
    is_json: bool = False


def flash(options: FlashOptions, host: Host) -> int:
    """Return 0 once the board is as requested, or else the self-test's exit code.

    Raises errors.TandemError.
    """
    image = _image(options)
    job = prepare(options.board, options.vehicle, host.vehicles.load, progress_count("compiled"))
    _refuse_name(options, job)
    runtime = image.row() if image else {"runtime_from": where_to_get(job.board)}
    if options.is_dry_run:
        return _say(options, {**_what(job), **runtime, **_room(job), "is_dry_run": True})
    before = Before()
    if options.runtime:
        print("\n".join(_lines(runtime)))
        print(install_runtime(options.runtime, job.board.chip.name, options.port))
    else:
        run_async(look_at_car(options.port, host, before))
    row = _flash(options, job, before)
    return _cared_for(options, host, job, before, row)


def _image(options: FlashOptions) -> Image | None:
    """Return the examined runtime file, None without one. Raises errors.DataFileFault.

    It comes before anything is compiled.
    """
    if options.runtime:
        return examined(options.runtime, load_board(options.board), options.runtime_sha256)
    if options.runtime_sha256:
        raise UsageFault("--runtime-sha256 is the hash of a file", expected="--runtime FILE too")
    return None


def _cared_for(
    options: FlashOptions,
    host: Host,
    job: Job,
    before: Before,
    row: dict[str, object],
) -> int:
    if job.vehicle is None:
        if row["sent_files"]:
            watch_box(
                options.port, options.baud, str(row["slot"]), progress_count("watched, seconds")
            )
        return _say(options, row)
    aftercare = Aftercare(options.port, options.name, job.vehicle, job.board, before)
    run_async(aftercare.care(host, row))
    _say(options, {**row, **aftercare.found})
    return _tested(options, host)


def _tested(options: FlashOptions, host: Host) -> int:
    uri = uri_of(options.port)
    if not options.has_selftest:
        return left_out("--no-selftest", uri)
    if options.is_json:
        return left_out("a program reads what is printed here", uri)
    return offer_self_test(uri, host)


def _refuse_name(options: FlashOptions, job: Job) -> None:
    if options.name and job.vehicle is None:
        raise UsageFault(
            f"a {job.wiring} has no name: it has no configuration to keep it in",
            got=f"--name {options.name}",
            remedy="leave out --name",
        )


def _flash(options: FlashOptions, job: Job, before: Before) -> dict[str, object]:
    """Install the program on the board; return the outcome for people and programs."""
    with raw_board(options.port, options.baud) as board:
        facts = board.facts()
        before.at_repl(folded(facts.unique_id), options.port)
        refuse_wrong(job.board, facts, options.port)
        heap = _refuse_heap(options, job, board, facts)
        runtime = ".".join(map(str, facts.version))
        plan = look(board, job.program)
        row = {**_what(job), "runtime": runtime, **heap}
        if plan is None:
            slots = board.slots()
            return {**row, "slot": slots.name if slots else "", "sent_files": 0, "sent_bytes": 0}
        sent = _carried_out(board, job, plan)
        return {
            **row,
            "slot": SLOTS[plan.slot],
            "sent_files": len(plan.send),
            "sent_bytes": sent,
            "kept_files": len(plan.keep),
        }


def _refuse_heap(
    options: FlashOptions, job: Job, board: RawBoard, facts: BoardFacts
) -> dict[str, object]:
    """Refuse a car whose heap is too small. A box needs little, and was not measured."""
    if job.vehicle is None:
        return {"heap_bytes": facts.heap}
    is_paired = has_key(board)
    heap = refuse_too_little(job.board, job.vehicle.name, facts, is_paired, options.port)
    return {**heap, "is_paired": is_paired}


def _carried_out(board: RawBoard, job: Job, plan: Plan) -> int:
    def show(what: str, done: int, total: int) -> None:
        progress_count(f"{what} bytes")(done, total)

    return install(board, job.program, job.launcher, plan, show)


def _what(job: Job) -> dict[str, object]:
    return {
        "board": job.board.name,
        "wiring": job.wiring,
        "program": job.hash,
        "files": len(job.program),
        "bytes": job.size,
    }


def _room(job: Job) -> dict[str, object]:
    """Return which MicroPython release has room for the car, without a box's key and with one."""
    if job.vehicle is None:
        return {}
    name = job.vehicle.name
    return {
        "heap": fitting(job.board, name),
        "heap_with_key": fitting(job.board, name, is_paired=True),
    }


def _lines(row: Mapping[str, object]) -> Iterator[str]:
    width = max(map(len, row))
    return (f"{name:{width}} {value}" for name, value in row.items())


def _say(options: FlashOptions, row: dict[str, object]) -> int:
    if options.is_json:
        print(json.dumps(row))
    else:
        print("\n".join(_lines(row)))
    return 0
