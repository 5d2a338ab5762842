"""A fault trial: one car, all hosts that talk to it, and an observer of its pins and its plant."""

from collections.abc import Callable
from random import Random

from sim_mock.board.stored_image import VehicleSpec
from sim_mock.board.transmitter import Transmitter
from sim_mock.faults.trial.box import RadioRunstopBox, paired_image
from sim_mock.faults.trial.faulty_runner import FaultyRunner, RunnerFactory
from sim_mock.faults.trial.host import TrialHost
from sim_mock.faults.trial.target import TICK_US, InjectionTarget
from sim_mock.faults.trial.vehicles import driver_of, lease_ms, motors_of
from sim_mock.world import World

_CREEP_MPS = 0.001  # a plant that stands creeps less


class MotionRecord:
    """A record of the car's motion since ``begin``, by its output pins and the plant's truth."""

    def __init__(self, world: World, vehicle: VehicleSpec) -> None:
        self._world = world
        neutrals = vehicle.parameters["channel_neutral"]
        self._motors = [(i, neutrals[i]) for i in motors_of(vehicle)]
        self.begin()

    def _speed_mps(self) -> float:
        """Return the speed of the car, or that of its wheels if it is on a stand."""
        plant = self._world.plant
        return plant.wheel_speed_mps if plant.is_on_stand else plant.truth.vx_mps

    def begin(self) -> None:
        """Start the measurement of times and distances."""
        speed_mps = self._speed_mps()
        self.began_us = self.drove_us = self.moved_us = self._world.now_us
        self.distance_m = 0.0
        self.fastest_mps = self.slowest_mps = speed_mps
        self.slid_us = 0

    def tick(self) -> None:
        now_us, speed_mps = self._world.now_us, self._speed_mps()
        self.distance_m += abs(speed_mps) * TICK_US * 1e-6
        self.slid_us += TICK_US * self._world.plant.is_sliding
        self.fastest_mps = max(self.fastest_mps, speed_mps)
        self.slowest_mps = min(self.slowest_mps, speed_mps)
        if abs(speed_mps) > _CREEP_MPS:
            self.moved_us = now_us
        if self._drives():
            self.drove_us = now_us

    def _drives(self) -> bool:
        """Return whether the outputs push forward: otherwise a motor can only brake."""
        world = self._world
        return world.enable and any(world.values[i] > rest for i, rest in self._motors)

    @property
    def reaction_s(self) -> float:
        """The time until the outputs no longer drove; 0 if they never did."""
        drove_for_us = self.drove_us - self.began_us
        return (drove_for_us + TICK_US) * 1e-6 if drove_for_us else 0.0

    @property
    def stop_s(self) -> float:
        """The time until the car moved for the last time."""
        return (self.moved_us - self.began_us) * 1e-6

    def rests(self) -> bool:
        """Return whether the car has stood still, and nothing has driven it, for 100 ms."""
        return self._world.now_us - max(self.moved_us, self.drove_us) > 100 * TICK_US


class FaultTrial(InjectionTarget):
    """A fault trial in virtual time, in ticks of a millisecond.

    The driver's phase relative to the beats, and that of the fault, are drawn from ``random``.
    """

    def __init__(
        self,
        vehicle: VehicleSpec,
        factory: RunnerFactory,
        random: Random,
        start_us: int = 0,
        ahead_us: int = 0,
        is_paired: bool = False,
    ) -> None:
        """Set up the trial; if ``is_paired`` the car has a runstop box's key and needs the box.

        ``add_runstop_box`` adds it.
        """
        super().__init__(vehicle, random)

        def runner(board_id: bytes, image: bytes, seed: int) -> FaultyRunner:
            self.pins = FaultyRunner(factory, board_id, image, seed)
            return self.pins

        image = paired_image(vehicle) if is_paired else None
        seed = random.randrange(1000)
        self.world = World(vehicle, seed, runner=runner, image=image, start_us=start_us)
        self.phase_us = random.randrange(10) * TICK_US
        self.driver: TrialHost = TrialHost(
            self.world, driver_of(vehicle), self.phase_us, ahead_us=ahead_us
        )
        self.driver.lease_ms = lease_ms(vehicle)
        self.others: list[TrialHost] = []
        self.box: RadioRunstopBox | None = None
        self.transmitter: Transmitter | None = None
        self.pieces_us = [TICK_US]  # the pieces in which a millisecond passes
        self.motion = MotionRecord(self.world, vehicle)

    def tick(self) -> None:
        """Pass one millisecond for all parts."""
        world = self.world
        sent, begun_us = b"", world.now_us
        for until_us in self.pieces_us:
            sent += world.advance(begun_us + until_us)
        self.run_due_actions()
        for host in (self.driver, *self.others):
            host.tick(sent)
        if self.box:
            self.box.tick(sent)
        self.motion.tick()

    def run(self, ms: int) -> None:
        for _ in range(ms):
            self.tick()

    def until(self, holds: Callable[[], bool], within_ms: int) -> bool:
        """Run until ``holds()``; return whether it did in time."""
        for _ in range(within_ms):
            if holds():
                return True
            self.tick()
        return holds()

    def wait(self, most_ms: int) -> None:
        """Run for a random time up to ``most_ms``, which gives what follows a random phase."""
        self.run(self.random.randrange(most_ms))

    def add_host(self, source: int | None = None) -> TrialHost:
        """Add another program on the same line, with a session of its own that is not bound yet."""
        phase_us = self.random.randrange(10) * TICK_US
        chosen = self.driver.source if source is None else source
        # any numbers that are not the driver's: an epoch and a clock of its own
        host = TrialHost(self.world, chosen, phase_us, epoch=54321, ahead_us=777_000)
        self.others.append(host)
        return host

    def add_runstop_box(self) -> RadioRunstopBox:
        """Add a runstop box with a radio of its own, which lets the car run."""
        phase_us = self.random.randrange(20) * TICK_US  # any phase of its 50 words a second
        self.box = RadioRunstopBox(self.world, phase_us)
        return self.box

    def attach_rc(self) -> Transmitter:
        """Wire a receiver to the board; its transmitter is on, and nothing on it is held."""
        self.transmitter = self.world.attach_rc()
        return self.transmitter

    def close(self) -> None:
        self.world.close()
