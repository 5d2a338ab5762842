"""The plant around a chip (hardware in the loop), on the chip's own clock.

The chip's outputs hold until its next step. So the plant runs one step ahead, and the readings of
that step are at the chip before it begins: as in a virtual car, if the cable is fast enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from firmware.boards.simulated.virtual import CHANNELS, READINGS
from firmware.protocol.plant import PlantBegin, PlantOutputs, PlantReadings, PlantWires
from sim_mock.board.firmware_runner import StepOutputs
from sim_mock.board.hardware import TIME_MASK
from sim_mock.faults.trial.host import framed
from sim_mock.virtual_car.config import VirtualCarConfig

_OFF = StepOutputs((0,) * CHANNELS, enable=False, sent=b"")
_LATE = 1.5  # steps: a longer gap means that the chip skipped one, or the cable lost it


class ChipRunner:
    """The runner of a world whose program is on a chip.

    It returns the chip's last outputs as the beat, and sends the readings for the chip's next step.
    """

    def __init__(self, say: Callable[[bytes], object]) -> None:
        self.beat = _OFF
        self.read_us = 0  # board time of the readings
        self.wrote_us = 0  # board time of the outputs
        self._say = say
        self._readings = PlantReadings()
        self._wires = PlantWires()

    def step(
        self, now_us: int, readings: Sequence[int], outputs: Sequence[int], received: bytes
    ) -> StepOutputs:
        for name, value in zip(READINGS, readings, strict=True):
            setattr(self._readings, name, value)
        self._readings.captured_us = self.read_us  # type: ignore[attr-defined]
        for channel, value in enumerate(outputs):
            setattr(self._wires, f"channel_{channel}", value)
        self._wires.time_us = self.wrote_us
        self._say(framed(self._readings) + framed(self._wires))
        return self.beat

    def image(self) -> bytes:
        """Return nothing: no configuration is stored here."""
        return b""

    def close(self) -> None:
        """Do nothing: there is no process to end."""


class ChipPlant:
    """A world whose program is on a chip; ``say`` sends bytes to the chip."""

    def __init__(self, config: VirtualCarConfig, say: Callable[[bytes], object]) -> None:
        self._chip = ChipRunner(say)
        self.world = config.make_world(lambda board_id, image, seed: self._chip)
        self._fallbacks: Sequence[int] = (-1,) * CHANNELS
        self._beat_us = 0
        self._has_begun = False
        self._elapsed_us = 0

    def begin(self, message: PlantBegin) -> None:
        """Take the fallbacks and the period that the chip's program has set its hardware to."""
        self._fallbacks = _channels(message)
        self._beat_us = message.beat_us

    def rest(self, outputs: PlantOutputs) -> None:
        """Send the readings of a car that stands still, to a program that has not begun yet."""
        self._chip.read_us = outputs.time_us
        self.world.beat(self.world.now_us)

    def beat(self, outputs: PlantOutputs) -> None:
        """Take a step of the chip's outputs and run the plant to the chip's next step."""
        world, chip = self.world, self._chip
        if self._has_begun:
            self._elapsed_us += outputs.time_us - chip.wrote_us & TIME_MASK
        self._has_begun = True
        if self._elapsed_us - world.now_us > (_LATE - 1.0) * world.step_us:
            self._look_at(self._elapsed_us)
        chip.wrote_us = outputs.time_us
        chip.beat = StepOutputs(
            _channels(outputs),
            outputs.enable == 1,
            b"",
            self._fallbacks,
            self._beat_us,
            outputs.lights,
        )
        world.hardware.write(chip.beat, self._elapsed_us)
        self._look_at(self._elapsed_us + world.step_us)

    def _look_at(self, time_us: int) -> None:
        """Run the plant up to then, and send the readings of that time to the chip."""
        chip = self._chip
        chip.read_us = chip.wrote_us + (time_us - self._elapsed_us) & TIME_MASK
        self.world.beat(time_us)


def _channels(message: Any) -> tuple[int, ...]:
    return tuple(getattr(message, f"channel_{i}") for i in range(CHANNELS))
