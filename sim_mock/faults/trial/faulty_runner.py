"""A layer between the car's program and its world that alters readings and power."""

from collections.abc import Callable, Sequence
from pathlib import Path

from firmware.boards.simulated.virtual import CHANNELS, READINGS
from sim_mock.board.firmware_runner import (
    FirmwareRunner,
    InProcessRunner,
    StepOutputs,
    SubprocessRunner,
)
from sim_mock.runtime.micropython import find

RunnerFactory = Callable[[bytes, bytes, int], FirmwareRunner]

IN_PROCESS = "in-process"
RUNTIMES = {IN_PROCESS: 0, "micropython": 64, "micropython32": 32}  # bits; 0: in this Python

_DARK = StepOutputs((0,) * CHANNELS, False, b"")


def runner_factory(runtime: str, program: Path | None = None) -> RunnerFactory:
    """Return the factory of runners for a runtime.

    ``program`` is what a MicroPython runs in place of the firmware's own. Raises LookupError if the
    machine has no such MicroPython.
    """
    if not RUNTIMES[runtime]:
        return InProcessRunner
    command = find(RUNTIMES[runtime])
    if command is None:
        raise LookupError(f"no {runtime} on this machine; `tandem doctor` says how to have one")
    programs = (program,) if program else ()
    return lambda board_id, image, seed: SubprocessRunner(command, board_id, image, seed, *programs)


class FaultyRunner:
    """A runner around another: readings of ``stuck`` pins are replaced, and its power can fail."""

    def __init__(self, factory: RunnerFactory, board_id: bytes, image: bytes, seed: int) -> None:
        self.stuck: dict[str, int] = {}
        self._dark_steps = 0
        self._factory = factory
        self._made_of = board_id, image, seed
        self.inner = factory(board_id, image, seed)

    def step(
        self, now_us: int, readings: Sequence[int], outputs: Sequence[int], received: bytes
    ) -> StepOutputs:
        if self._dark_steps:
            self._dark_steps -= 1
            return _DARK
        values = list(readings)
        for name, value in self.stuck.items():
            values[READINGS.index(name)] = value
        return self.inner.step(now_us, values, outputs, received)

    def image(self) -> bytes:
        """Return the configuration that the board has stored."""
        return self.inner.image()

    def reset(self, dark_steps: int) -> None:
        """Restart the board; for ``dark_steps`` beats its pins are inputs, held by pull-downs."""
        self._dark_steps = dark_steps
        self.inner.close()
        self.inner = self._factory(*self._made_of)

    def close(self) -> None:
        self.inner.close()
