"""The check after the switch of a runstop box, which speaks by radio only.

It reads the launcher's own record.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from host_bridge.core.errors import NotHeldFault
from host_bridge.deploy.flash.board.repl import raw_board
from host_bridge.deploy.flash.plan import Slots
from host_bridge.deploy.flash.program.program import Progress

TRIAL_S = 15  # a reset, one or two seconds of imports, ten until it counts as healthy


def watch_box_trial(
    port: str, baud: int, slot: str, progress: Progress, sleep: Callable[[float], None] = time.sleep
) -> None:
    """Leave the box alone for its trial, then ask at its REPL which program stayed.

    Raises errors.NotHeldFault if that is not ``slot``'s; errors.DeviceFault.
    """
    for done_s in range(TRIAL_S):
        progress(done_s, TRIAL_S)
        sleep(1.0)
    progress(TRIAL_S, TRIAL_S)
    with raw_board(port, baud) as board:
        slots = board.slots()
    if slots is None or slots.is_on_trial or slots.name != slot:
        raise _not_held(port, slot, slots)


def _not_held(port: str, slot: str, slots: Slots | None) -> NotHeldFault:
    trial = ", still on trial" if slots and slots.is_on_trial else ""
    return NotHeldFault(
        "the box's new program did not stay up",
        where=port,
        expected=f"the program of slot {slot}, healthy",
        got=f"that of slot {slots.name}{trial}" if slots else "no launcher",
        remedy="tandem identify PORT --repl shows why a program ended",
    )
