"""The installation of a program into the slot that is not running, verified, then switched to."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from host_bridge.deploy.flash.board.board import RawBoard, verification_fault
from host_bridge.deploy.flash.plan import PINS, InstallPlan, Slots, free_slot, is_program, plan_slot
from host_bridge.deploy.flash.program.program import hash_of

ASIDE = ".aside"  # an ending that the launcher and plan.py ignore
Show = Callable[[str, int, int], None]  # what, done, of how many


def plan_install(board: RawBoard, program: Mapping[str, bytes]) -> InstallPlan | None:
    """Return what has to be done; None if the slot that starts next holds this program already."""
    wanted = {path: hash_of(data) for path, data in program.items()}
    slots = board.slots()
    if slots and not slots.is_on_trial and _held(board, slots) == wanted:
        return None
    slot = free_slot(slots)
    return plan_slot(slot, wanted, board.hashes(plan_slot(slot, {}, {}).folder))


def _held(board: RawBoard, slots: Slots) -> dict[str, str]:
    held = board.hashes(f"/{slots.name}")
    return {path: value for path, value in held.items() if is_program(path)}


def install(
    board: RawBoard,
    program: Mapping[str, bytes],
    launcher: Mapping[str, bytes],
    plan: InstallPlan,
    show: Show,
) -> int:
    """Carry the plan out; return how many bytes were sent.

    If it is interrupted anywhere, the old program starts again: the switch is the last step, and
    atomic. A slot without its pins file is incomplete, and the launcher does not start it. Raises
    errors.DeviceFault, errors.NotHeldFault.
    """
    pins = f"{plan.folder}/{PINS}"
    is_changed = bool(plan.send or plan.remove)
    if is_changed:
        board.rename(pins, pins + ASIDE)
    for path in plan.remove:
        if path != PINS:
            board.remove(f"{plan.folder}/{path}")
    sent = _send(board, program, plan, show)
    _verify(board, program, plan)
    if PINS in plan.send:
        board.replace(pins, program[PINS])
    elif is_changed:
        board.rename(pins + ASIDE, pins)
    for path, data in launcher.items():
        if not board.has(path, data):
            board.replace(path, data)
    board.switch(plan.slot)
    return sent


def _send(board: RawBoard, program: Mapping[str, bytes], plan: InstallPlan, show: Show) -> int:
    total = sum(len(program[path]) for path in plan.send)
    sent = 0
    for path in plan.send:
        if path != PINS:
            board.put(f"{plan.folder}/{path}", program[path])
        sent += len(program[path])
        show("sent", sent, total)
    return sent


def _verify(board: RawBoard, program: Mapping[str, bytes], plan: InstallPlan) -> None:
    held = board.hashes(plan.folder)
    for path, data in program.items():
        if path != PINS and held.get(path) != hash_of(data):
            raise verification_fault(board.where, f"{plan.folder}/{path}")
