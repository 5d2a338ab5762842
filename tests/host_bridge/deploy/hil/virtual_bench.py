"""A bench in virtual time: a virtual car where a port would be, and a person who is played."""

import contextlib

from host_bridge.config import load_vehicle
from host_bridge.core.errors import DeviceFault
from host_bridge.deploy.hil.bench import HilBench
from host_bridge.deploy.hil.host.port import NoAnswer
from sim_mock.plant.parameters import PlantParameters
from sim_mock.plant.vehicle_plant import Plant
from sim_mock.world import World

FOREVER = 1 << 60


class TurnedByHand(Plant):
    """A plant whose wheels a hand turns, too."""

    by_hand = (0, 0)

    def counts(self):
        return tuple(a + b for a, b in zip(super().counts(), self.by_hand, strict=True))


class WorldPort:
    """What ``port.Port`` is, of a virtual car: time goes by as it is asked for."""

    path, patience = "a virtual port", 1.0

    def __init__(self, bench):
        self._bench = bench
        self.world = bench.world
        self.steps = self.received = self.sent = self.frames_sent = 0
        self.intervals_us = []
        self._is_cut = False
        self._s = 0.0

    now_us = property(lambda self: self.world.now_us)
    car_us = property(lambda self: self.world.now_us)
    values = property(lambda self: self.world.values)
    enable = property(lambda self: self.world.enable)

    def us_per_s(self):
        return 1e6

    def now_s(self):
        return self._s

    def sleep(self, seconds):
        """The host's own time; the car's goes by with its steps alone, a whole one each time."""
        self._s += seconds

    def catch_up(self):
        pass

    def feed(self, data):
        self.world.feed(data)

    def advance(self, until_us):
        self._is_cut |= self._bench.is_cut_now()
        if self._is_cut:
            raise NoAnswer("nothing comes from a car without power")
        self.intervals_us.append(self.world.step_us)
        return self.world.advance(self.world.now_us + self.world.step_us)

    def close(self):
        pass


class VirtualBench(HilBench):
    """``link`` names a port that stays, or one that is away while the car is without power."""

    def __init__(self, vehicle="f1tenth", link="/dev/null"):
        self.said = []
        super().__init__(link, link, 115_200, 1.0, self.said.append)
        self._vehicle = load_vehicle(vehicle)
        self._cut_in = self.interrupt_in = FOREVER  # steps
        self.slots = self.older = None
        self.switched_to = []
        self.comes_back = True
        self.is_fed = False  # by its battery: only its cable is pulled
        self.world = self._world()

    def _world(self, **options):
        table = {**self._vehicle.plant, "channels": list(self._vehicle.channels)}
        plant = TurnedByHand(PlantParameters.from_mapping(table), 1)
        return World(self._vehicle, 1, plant=plant, **options)

    def _port(self, line):
        if self.world is None:
            raise OSError("no port")
        return WorldPort(self)

    @contextlib.contextmanager
    def board(self):
        if self.slots is None:
            raise DeviceFault("no REPL")
        yield self

    # --- what a person does

    def pull(self, after_steps=1):
        self._cut_in = after_steps

    def is_cut_now(self):
        self.interrupt_in -= 1
        if self.interrupt_in == 0:
            raise KeyboardInterrupt
        self._cut_in -= 1
        if self._cut_in == 0 and not self.is_fed:
            image = self.world.runner.image()
            self.world = self._world(image=image) if self.comes_back else None
        return self._cut_in == 0

    # --- its REPL

    def hashes(self, folder):
        return {"pins.mpy": "0"} if self.older else {}

    def switch(self, slot):
        self.switched_to.append(slot)


class Player:
    """Does what is told: ``acts`` by a word of what is said."""

    def __init__(self, **acts):
        self._acts = acts
        self.heard = []

    def tell(self, text):
        self.heard.append(text)
        for word, act in self._acts.items():
            if word in text:
                act()

    ready = tell
