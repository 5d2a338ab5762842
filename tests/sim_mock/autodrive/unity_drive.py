"""A virtual car and a simulator in lockstep, in virtual time: all but the socket."""

from firmware.protocol import codes
from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import RELEASED, SmallHost
from sim_mock.autodrive.exchange import DrivenVehicle, Exchange
from sim_mock.autodrive.transport import plant_in_simulator, world_around
from sim_mock.virtual_car.config import virtual_car_config
from tests.sim_mock.autodrive.unity import Unity


class UnityDrive:
    """``rate_hz`` frames are rendered a second; ``host`` is at the car's link."""

    def __init__(self, vehicle="nigel", car=None, rate_hz=130, is_reset=False, slot=1, **unity):
        config = virtual_car_config(load_vehicle(vehicle), {"seed": "1"})
        self.unity = Unity(car or vehicle, **unity)
        self.plant = plant_in_simulator(config, car or vehicle)
        self.world = world_around(self.plant, config)
        driven = DrivenVehicle(self.plant, lambda: self.world.now_us, is_reset)
        self.exchange = Exchange({slot: driven}, 0)
        self.host = SmallHost(self.world)
        self.frame_us = round(1e6 / rate_hz)
        self.due_us = self.frame_us
        self.is_there = True
        self.to_car = [self.unity.on_open()]
        self.to_unity = []
        self.world.observers.append(self.run)

    def run(self, world):
        """Every millisecond."""
        if not self.is_there:
            return
        restart = self.exchange.due(world.now_us)
        self.to_unity += [restart] if restart else []
        for text in self.to_car:
            answer = self.exchange.answer(text)
            self.to_unity += [answer] if answer else []
            self.exchange.take(text, world.now_us)
        self.to_car = []
        if world.now_us >= self.due_us:
            self.due_us += self.frame_us
            self.unity.run(self.frame_us * 1e-6)
            answers = [self.unity.on_text(text) for text in self.to_unity]
            self.to_unity = []
            self.to_car = [text for text in answers if text]

    def take_the_wheel(self):
        """To ACTIVE: the loop was open when the board began, so a person clears that first."""
        host = self.host
        host.connect()
        self.clear_and_arm()
        host.drive(50, deadman=RELEASED)
        host.drive(50)
        assert host.state == codes.ACTIVE

    def clear_and_arm(self):
        self.host.drive(50, deadman=RELEASED)
        assert self.host.act(codes.ACTION_CLEAR) == 0
        assert self.host.act(codes.ACTION_ARM) == 0
        self.host.drive(50, deadman=RELEASED)
