"""One car, whoever talks to it, and an observer that knows its pins and its plant, nothing else."""

from collections.abc import Callable
from random import Random

from firmware.core.params import CHANNEL_ESC, CHANNEL_H_BRIDGE
from firmware.protocol import codes
from sim_mock.faults.host import Host
from sim_mock.faults.pins import Factory, Pins
from sim_mock.world import VehicleFacts, World

TICK_US = 1000  # how finely the phase of a fault is drawn
_CREEP_MPS = 0.001
_DRIVER_FLAGS = codes.SOURCE_ATTENDED | codes.SOURCE_HAS_COUNTER


def driver_of(vehicle: VehicleFacts) -> int:
    """The attended source with the best priority whose device numbers its reports."""
    flags, priorities = (vehicle.parameters["source_" + name] for name in ("flags", "priority"))
    return max(
        (i for i, flag in enumerate(flags) if flag == _DRIVER_FLAGS), key=lambda i: priorities[i]
    )


class Track:
    """What the car did since ``begin``: by its output pins and the truth of its plant."""

    def __init__(self, world: World, vehicle: VehicleFacts) -> None:
        self._world = world
        kinds, neutrals = (vehicle.parameters["channel_" + n] for n in ("kind", "neutral"))
        motors = (CHANNEL_ESC, CHANNEL_H_BRIDGE)
        self._motors = [(i, neutrals[i]) for i, kind in enumerate(kinds) if kind in motors]
        self.begin()

    def begin(self) -> None:
        """From here on times and distances count."""
        speed_mps = self._world.plant.truth.vx_mps
        self.began_us = self.drove_us = self.moved_us = self._world.now_us
        self.distance_m = self.drifted_m = 0.0
        self.fastest_mps = self.slowest_mps = speed_mps

    def tick(self) -> None:
        now_us, speed_mps = self._world.now_us, self._world.plant.truth.vx_mps
        self.distance_m += abs(speed_mps) * TICK_US * 1e-6
        self.fastest_mps = max(self.fastest_mps, speed_mps)
        self.slowest_mps = min(self.slowest_mps, speed_mps)
        if abs(speed_mps) > _CREEP_MPS:
            self.moved_us = now_us
        if self._drives():
            self.drove_us = now_us

    def _drives(self) -> bool:
        """Whether the outputs push forward: only then does a motor do anything but brake."""
        world = self._world
        return world.enable and any(world.values[i] > rest for i, rest in self._motors)

    @property
    def reaction_s(self) -> float:
        """Until the outputs drove no more; 0 if they never did."""
        drove_for_us = self.drove_us - self.began_us
        return (drove_for_us + TICK_US) * 1e-6 if drove_for_us else 0.0

    @property
    def stop_s(self) -> float:
        """Until it moved for the last time."""
        return (self.moved_us - self.began_us) * 1e-6

    def rests(self) -> bool:
        """It has stood still, and nothing has driven it, for 100 ms."""
        return self._world.now_us - max(self.moved_us, self.drove_us) > 100 * TICK_US


class Scene:
    """``phase`` of the driver relative to the beats and of the fault are drawn from ``random``."""

    def __init__(
        self,
        vehicle: VehicleFacts,
        factory: Factory,
        random: Random,
        start_us: int = 0,
        ahead_us: int = 0,
    ) -> None:
        self.random = random
        self.vehicle = vehicle
        self.pins: Pins

        def runner(board_id: bytes, image: bytes, seed: int) -> Pins:
            self.pins = Pins(factory, board_id, image, seed)
            return self.pins

        self.world = World(vehicle, random.randrange(1000), runner=runner, start_us=start_us)
        self.phase_us = random.randrange(10) * TICK_US
        self.driver = Host(self.world, driver_of(vehicle), self.phase_us, ahead_us=ahead_us)
        self.others: list[Host] = []
        self.track = Track(self.world, vehicle)
        self._plans: list[tuple[int, Callable[[], object]]] = []

    def tick(self) -> None:
        """A millisecond of everything."""
        world = self.world
        sent = world.advance(world.now_us + TICK_US)
        due = [plan for plan in self._plans if plan[0] <= world.now_us]
        for plan in due:
            self._plans.remove(plan)
            plan[1]()
        for host in (self.driver, *self.others):
            host.tick(sent)
        self.track.tick()

    def run(self, ms: int) -> None:
        for _ in range(ms):
            self.tick()

    def until(self, holds: Callable[[], bool], within_ms: int) -> bool:
        """Run until it holds; whether it did in time."""
        for _ in range(within_ms):
            if holds():
                return True
            self.tick()
        return holds()

    def after(self, ms: int, action: Callable[[], object]) -> None:
        """Do it then, while the scene goes on."""
        self._plans.append((self.world.now_us + ms * TICK_US, action))

    def every(self, ms: int, times: int, action: Callable[[], object]) -> None:
        """Now, and again and again."""
        for i in range(times):
            self.after(i * ms, action)

    def wait(self, most_ms: int) -> None:
        """Any time up to ``most_ms``: where the phase of what follows comes from."""
        self.run(self.random.randrange(most_ms))

    def stranger(self, source: int | None = None) -> Host:
        """Another program on the same line, with a session of its own, not bound yet."""
        phase_us = self.random.randrange(10) * TICK_US
        chosen = self.driver.source if source is None else source
        host = Host(self.world, chosen, phase_us, epoch=54321, ahead_us=777_000)
        self.others.append(host)
        return host

    def close(self) -> None:
        self.world.close()
