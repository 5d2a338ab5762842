"""A virtual runstop box as a program (``tandem sim runstop_box``); its radio is a pseudo-terminal.

It takes ``press`` and ``release`` as lines besides those of ``real_time``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from pathlib import Path

from sim_mock.board.firmware_runner import SubprocessRunner
from sim_mock.board.pairing_keys import read_key_file, stored_key
from sim_mock.board.runstop_box import BOARD_ID, LEDS, VirtualRunstopBox
from sim_mock.programs.real_time import STEP_TIMEOUT_S, Cable, RealTimeLoop, runtime_command


class RunstopBoxProgram(RealTimeLoop):
    """A box whose button is pressed and released by lines."""

    def __init__(self, box: VirtualRunstopBox, cable: Cable, ends_alone: bool) -> None:
        super().__init__(box, cable, ends_alone)
        self._box = box
        self._shown = -1

    def command(self, words: list[str]) -> None:
        if words in (["press"], ["release"]):
            self._box.is_pressed = words == ["press"]

    def after_beat(self) -> None:
        if self._box.leds != self._shown:
            self._shown = self._box.leds
            lit = [name for bit, name in LEDS if self._shown & bit]
            print(json.dumps({"leds": lit}), flush=True)


def main() -> None:
    """Run one box until it is told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runtime", default="auto")
    parser.add_argument("--link", type=Path)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--key", help="a file of tandem pair --virtual")
    parser.add_argument("--ends-alone", action="store_true")
    arguments = parser.parse_args()
    command, runtime = runtime_command(arguments.runtime)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))

    def runner(board_id: bytes, image: bytes, seed: int) -> SubprocessRunner:
        return SubprocessRunner(
            command, board_id, image, seed, step_timeout_s=STEP_TIMEOUT_S, kind="unix-box"
        )

    try:
        key = stored_key(read_key_file(arguments.key), BOARD_ID) if arguments.key else b""
    except ValueError as error:
        sys.exit(str(error))
    box = VirtualRunstopBox(runner, arguments.seed, key)
    cable = Cable(arguments.link)
    print(json.dumps({"device": cable.device, "runtime": runtime, "pid": os.getpid()}), flush=True)
    try:
        RunstopBoxProgram(box, cable, arguments.ends_alone).run()
    finally:
        cable.unplug()
        box.close()


if __name__ == "__main__":
    main()
