"""A virtual car as a program, behind a pseudo-terminal, with a plant that outlives the host.

It is started by ``sim_mock.programs.process`` and by ``tandem sim``. It reads its configuration
(JSON) from a file and prints one line of JSON when it can be driven: the device to open, what runs
the firmware, and its board's id. It takes commands as lines on standard input: ``unplug``,
``plug``, ``deaf MS`` (what is sent to it is lost for so long), ``runstop open``, ``runstop close``,
``quit``.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from sim_mock.board.firmware_runner import SubprocessRunner
from sim_mock.bodies.trust import trust
from sim_mock.programs.real_time import STEP_TIMEOUT_S, Cable, RealTimeLoop, runtime_command
from sim_mock.virtual_car.config import VirtualCarConfig

if TYPE_CHECKING:
    from sim_mock.world import World

_AT_REST_MPS = 0.01  # a wheel's creep is none
_REST_US = 2_000_000  # at rest for so long: its last reports have left


class TraceWriter:
    """A CSV file of the plant's true state, one row per beat, with the machine's monotonic time."""

    COLUMNS = "monotonic_s,time_s,x_m,y_m,yaw_rad,speed_mps,steer_rad,enable,channel_drive"

    def __init__(self, path: str) -> None:
        self._file = open(path, "w", buffering=1)  # noqa: SIM115 - kept open for the car's life
        self._file.write(self.COLUMNS + "\n")

    def close(self) -> None:
        self._file.close()

    def write(self, world: World, monotonic_s: float | None = None) -> None:
        """Write one row; ``monotonic_s`` replaces the machine's monotonic time if given."""
        truth = world.plant.truth
        drive = next((v for v in reversed(world.values) if v), 0)
        now_s = time.monotonic() if monotonic_s is None else monotonic_s
        self._file.write(
            f"{now_s:.6f},{world.now_us * 1e-6:.6f},{truth.x_m:.6f},{truth.y_m:.6f},"
            f"{truth.yaw_rad:.6f},{truth.vx_mps:.6f},{world.plant.steer_rad:.6f},"
            f"{int(world.enable)},{drive}\n"
        )


class VirtualCarProgram(RealTimeLoop):
    """A world run as a program; after ``quit`` it ends when its car has come to rest."""

    def __init__(
        self, world: World, cable: Cable, trace: TraceWriter | None, ends_alone: bool
    ) -> None:
        super().__init__(world, cable, ends_alone)
        self.world = world
        self._trace = trace
        self._rested_us = 0

    def after_beat(self) -> None:
        if self._trace:
            self._trace.write(self.world)

    def command(self, words: list[str]) -> None:
        if words[:1] == ["runstop"]:
            self.world.runstop_closed = words[1:] == ["close"]

    def quit(self) -> None:
        self._rested_us = _REST_US

    def has_ended(self) -> bool:
        """Return whether the car has been at rest for ``_REST_US`` since it was told to end.

        A host that leaves (``--ends-alone``) leaves the plant running until then.
        """
        if abs(self.world.plant.truth.vx_mps) > _AT_REST_MPS:
            self._rested_us = 0
        elif self.is_ending:
            self._rested_us += self.world.interval_us
        return self.is_ending and self._rested_us > _REST_US


def main() -> None:
    """Run one car until it is told to end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config")
    parser.add_argument("--runtime", default="auto")
    parser.add_argument("--trace")
    parser.add_argument("--link", type=Path)
    parser.add_argument("--ends-alone", action="store_true")
    parser.add_argument("--trust-code", action="append", default=[], metavar="FILE")
    arguments = parser.parse_args()
    for path in arguments.trust_code:
        trust(path)
    command, runtime = runtime_command(arguments.runtime)
    config = VirtualCarConfig.from_json(Path(arguments.config).read_text())
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the host; the car stops by itself
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))  # a clean exit, which removes its device

    def runner(board_id: bytes, image: bytes, seed: int) -> SubprocessRunner:
        return SubprocessRunner(command, board_id, image, seed, step_timeout_s=STEP_TIMEOUT_S)

    world = config.make_world(runner)
    cable = Cable(arguments.link)
    trace = TraceWriter(arguments.trace) if arguments.trace else None
    ready = {"device": cable.device, "runtime": runtime, "pid": os.getpid()}
    print(json.dumps({**ready, "board_id": world.board_id.hex()}), flush=True)
    try:
        VirtualCarProgram(world, cable, trace, arguments.ends_alone).run()
    finally:
        cable.unplug()
        world.close()


if __name__ == "__main__":
    main()
