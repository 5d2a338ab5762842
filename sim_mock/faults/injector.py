"""Fault injection into a virtual car while somebody drives it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Any

from sim_mock.board.firmware_runner import FirmwareRunner
from sim_mock.board.stored_image import VehicleSpec
from sim_mock.faults.named import injections_of
from sim_mock.faults.trial.faulty_runner import FaultyRunner
from sim_mock.faults.trial.target import TICK_US, InjectionTarget
from sim_mock.faults.trial.wire import FaultyWire
from sim_mock.world import World

Runner = Callable[[bytes, bytes, int], FirmwareRunner]
_MOST_BYTES = 4096  # more bytes without a delimiter are no frame


class HostWire(FaultyWire):
    """The wire from a real host: it cuts the bytes into frames, as faulty lines act on frames."""

    def __init__(self, deliver: Callable[[bytes], None], now_us: Callable[[], int]) -> None:
        super().__init__(deliver, now_us)
        self._begun = b""

    def hear(self, data: bytes) -> None:
        """Take bytes of the host; they are dropped while the host counts as stopped."""
        if not self.runs:
            return
        *frames, self._begun = (self._begun + data).split(b"\0")
        for frame in filter(None, frames):
            self.send(b"\0" + frame + b"\0")
        if len(self._begun) > _MOST_BYTES:
            self.send(self._begun)
            self._begun = b""


class FaultyWireWorld(World):
    """A world whose incoming bytes pass ``wire`` before they reach the car."""

    wire: HostWire
    chance: Random  # of its faults

    def reseed(self, seed: int) -> None:
        """Begin its faults' chance anew, too."""
        super().reseed(seed)
        self.chance.seed(_stream(seed))

    def feed(self, data: bytes) -> None:
        self.wire.hear(data)

    def arrive(self, data: bytes) -> None:
        """Take bytes at the far end of the wire."""
        super().feed(data)


def _stream(seed: int) -> str:
    return f"faults {seed}"


class FaultInjector(InjectionTarget):
    """A schedule of faults for one world.

    Make the world with ``runner`` as its runner, then call ``apply`` with it.
    """

    def __init__(
        self, vehicle: VehicleSpec, faults: Sequence[Mapping[str, Any]], seed: int, runner: Runner
    ) -> None:
        super().__init__(vehicle, Random(_stream(seed)))
        self._injections = injections_of(faults)
        self._runner = runner

    def runner(self, board_id: bytes, image: bytes, seed: int) -> FirmwareRunner:
        """Return the program's runner, with pins that faults can alter."""
        self.pins = FaultyRunner(self._runner, board_id, image, seed)
        return self.pins

    def apply(self, world: FaultyWireWorld) -> None:
        self.world = world
        world.chance = self.random
        self.driver = world.wire = HostWire(world.arrive, lambda: world.now_us)
        for at_s, injection in self._injections:
            self.after(round(at_s * 1e6) // TICK_US, partial(injection, self))
        world.observers.append(self._step)

    def _step(self, _world: World) -> None:
        self.run_due_actions()
        self.driver.deliver_due()
