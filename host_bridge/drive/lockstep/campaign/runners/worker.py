"""A case process: takes specs as lines of JSON on stdin, and answers each with its row.

It ends with its stdin: when the campaign that started it is gone, it computes nothing more.
"""

from __future__ import annotations

import json
import os
import sys
import traceback

from host_bridge.drive.lockstep.campaign.case import Row
from host_bridge.drive.lockstep.campaign.rare.splitting import run_spec
from host_bridge.drive.lockstep.car import VehicleFiles
from host_bridge.sharing.services import make_host
from sim_mock.bodies import trust


def main() -> None:
    """Answer specs until stdin ends."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # whatever a controller prints is no row
    for file in sys.argv[2::2]:  # --trust-code FILE, of each that a person named
        trust.trust(file)
    files = make_host().vehicles
    for line in sys.stdin:
        answer = json.dumps(_row(json.loads(line), files)) + "\n"
        try:
            answers.write(answer)
            answers.flush()
        except BrokenPipeError:  # the campaign was killed meanwhile
            os._exit(0)


def _row(spec: Row, files: VehicleFiles) -> Row:
    try:
        return run_spec(spec, files)
    except Exception as error:  # noqa: BLE001 - a fault of ours is no result of the case
        traceback.print_exc()
        return {"outcome": "not_measured", "why": f"{type(error).__name__}: {error}"}


if __name__ == "__main__":
    main()
