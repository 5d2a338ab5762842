"""The handles that an injection acts on, in the catalogue's trials and in a car driven by URI."""

from collections.abc import Callable
from random import Random

from sim_mock.board.stored_image import VehicleSpec
from sim_mock.faults.trial.faulty_runner import FaultyRunner
from sim_mock.faults.trial.wire import FaultyWire
from sim_mock.world import World

TICK_US = 1000  # how finely the phase of a fault is drawn


class InjectionTarget:
    """The parts of a car that faults can alter, and a schedule of actions.

    ``world`` and ``pins`` are the car's, ``driver`` is the wire from its driver. All randomness
    comes from ``random``.
    """

    world: World
    pins: FaultyRunner
    driver: FaultyWire

    def __init__(self, vehicle: VehicleSpec, random: Random) -> None:
        self.vehicle = vehicle
        self.random = random
        self._plans: list[tuple[int, Callable[[], object]]] = []

    def after(self, ms: int, action: Callable[[], object]) -> None:
        """Schedule an action ``ms`` from now."""
        self._plans.append((self.world.now_us + ms * TICK_US, action))

    def every(self, ms: int, times: int, action: Callable[[], object]) -> None:
        """Schedule an action ``times`` times, from now on, every ``ms``."""
        for i in range(times):
            self.after(i * ms, action)

    def run_due_actions(self) -> None:
        """Run the actions that are due; called each millisecond."""
        due = [plan for plan in self._plans if plan[0] <= self.world.now_us]
        for plan in due:
            self._plans.remove(plan)
            plan[1]()


Injection = Callable[[InjectionTarget], None]  # one injection of a fault
