"""The plant around a chip, on the chip's own clock.

The chip's outputs hold until its next step. So the plant runs one step ahead of it, and what the
inputs will read then is there before it begins: as in a virtual car, if the cable is quick enough.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from firmware.boards.virtual import CHANNELS, READINGS
from firmware.protocol.plant import PlantBegin, PlantOutputs, PlantReadings, PlantWires
from sim_mock.facts import CarFacts
from sim_mock.faults.host import framed
from sim_mock.firmware_runner import Beat
from sim_mock.metal import TIME_MASK

_OFF = Beat((0,) * CHANNELS, enable=False, sent=b"")
_LATE = 1.5  # steps: the chip has left one out, or the cable has lost it


class Chip:
    """The program on the chip as the world's runner. What it put out last is its beat; the
    readings go to it, for its next step."""

    def __init__(self, say: Callable[[bytes], object]) -> None:
        self.beat = _OFF
        self.read_us = 0  # board time of the readings
        self.wrote_us = 0  # and of the outputs
        self._say = say
        self._readings = PlantReadings()
        self._wires = PlantWires()

    def step(
        self, now_us: int, readings: Sequence[int], outputs: Sequence[int], received: bytes
    ) -> Beat:
        for name, value in zip(READINGS, readings, strict=True):
            setattr(self._readings, name, value)
        self._readings.captured_us = self.read_us  # type: ignore[attr-defined]
        for channel, value in enumerate(outputs):
            setattr(self._wires, f"channel_{channel}", value)
        self._wires.time_us = self.wrote_us
        self._say(framed(self._readings) + framed(self._wires))
        return self.beat

    def image(self) -> bytes:
        """Nothing is stored here."""
        return b""

    def close(self) -> None:
        """Nothing to end."""


class Bench:
    """A world whose program is on a chip; ``say`` takes what goes to the chip."""

    def __init__(self, facts: CarFacts, say: Callable[[bytes], object]) -> None:
        self._chip = Chip(say)
        self.world = facts.world(lambda board_id, image, seed: self._chip)
        self._fallbacks: Sequence[int] = (-1,) * CHANNELS
        self._beat_us = 0
        self._has_begun = False
        self._elapsed_us = 0

    def begin(self, message: PlantBegin) -> None:
        """What the metal is set to."""
        self._fallbacks = _channels(message)
        self._beat_us = message.beat_us

    def rest(self, outputs: PlantOutputs) -> None:
        """What a car reads that stands still, for a program that has yet to begin."""
        self._chip.read_us = outputs.time_us
        self.world.beat(self.world.now_us)

    def beat(self, outputs: PlantOutputs) -> None:
        """A step of the chip: the plant goes on to its next one."""
        world, chip = self.world, self._chip
        if self._has_begun:
            self._elapsed_us += outputs.time_us - chip.wrote_us & TIME_MASK
        self._has_begun = True
        if self._elapsed_us - world.now_us > (_LATE - 1.0) * world.step_us:
            self._look_at(self._elapsed_us)
        chip.wrote_us = outputs.time_us
        chip.beat = Beat(
            _channels(outputs),
            outputs.enable == 1,
            b"",
            self._fallbacks,
            self._beat_us,
            outputs.lights,
        )
        world.metal.write(chip.beat, self._elapsed_us)
        self._look_at(self._elapsed_us + world.step_us)

    def _look_at(self, time_us: int) -> None:
        """Run the plant up to then, and tell the chip what its inputs read."""
        chip = self._chip
        chip.read_us = chip.wrote_us + (time_us - self._elapsed_us) & TIME_MASK
        self.world.beat(time_us)


def _channels(message: Any) -> tuple[int, ...]:
    return tuple(getattr(message, f"channel_{i}") for i in range(CHANNELS))
