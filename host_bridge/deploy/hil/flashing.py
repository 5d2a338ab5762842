"""The part "flash" of ``tandem hil``: it runs ``tandem flash`` and turns its outcome into a row."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
from typing import Any

from host_bridge.core.errors import NotHeldFault
from host_bridge.deploy.flash import flash as flashing
from host_bridge.deploy.hil.report.limits import judged, unmeasured
from host_bridge.deploy.hil.report.report import Measurement
from host_bridge.sharing.services import Host

_NOT_ASKED = "needs --vehicle and --board: what to flash, and onto what"


def flash(args: argparse.Namespace, host: Host) -> Measurement:
    """Flash the port that is measured. Raises errors.TandemError."""
    if not (args.vehicle and args.board):
        return unmeasured("flash", _NOT_ASKED)
    row = _outcome(args, host)
    sent, kept, files = (int(row.get(name, 0)) for name in ("sent_files", "kept_files", "files"))
    lacking = files - sent - kept if sent or kept else 0  # none sent: all was there already
    how = f"slot {row['slot']}, {sent} files sent, program {row['program']}, {row.get('state')}"
    return judged("flash", lacking, how, "", **row)


def _outcome(args: argparse.Namespace, host: Host) -> dict[str, Any]:
    """Run the command as with --json; return what it prints."""
    options = flashing.FlashOptions(
        args.vehicle, args.board, args.port, args.repl, has_selftest=False, is_json=True
    )
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        code = flashing.flash(options, host)
    if code:
        raise NotHeldFault(
            "tandem flash did not end well, so nothing was measured",
            where=args.port,
            expected="exit code 0",
            got=f"exit code {code}",
            remedy="run tandem flash by itself first: it says what is wrong",
        )
    outcome: dict[str, Any] = json.loads(printed.getvalue().splitlines()[-1])
    return outcome
