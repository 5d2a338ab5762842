"""The heartbeat of a registered stop source: it tells the car repeatedly "run" or "stop".

A car whose profile requires that source stops when the heartbeat stays away, as it does when its
sender hangs, is killed or is cut off.
"""

from __future__ import annotations

from host_bridge.cars.car import ConnectedCar
from host_bridge.core import StopSourceFacts, Vehicle
from host_bridge.link.protocol import requests

OWNER, SEAT, FLEET = "owner", "seat", "fleet"  # stop sources of the vehicle file
_EVERY_US = 20_000  # 50 Hz, as firmware/core/SAFETY.md has it for remote stop sources
_PER_SILENCE = 12  # messages per allowed silence, to ride out bursts of loss; as claims in a lease
_NUMBERS = 0xFFFF
_HEARD_US = 100_000  # five messages: at 10 % loss all are lost once in a hundred thousand times


class StopSourceHeartbeat:
    """The heartbeat of one stop source at one car.

    Nothing is sent if the vehicle file does not register that source.
    """

    def __init__(self, car: ConnectedCar, name: str) -> None:
        self.name = name
        self.runs = True
        self._car = car
        self._known: tuple[Vehicle | None, StopSourceFacts | None] = (None, None)
        self._sequence = 0
        self._due_us = 0
        self._since_us: int | None = None  # when the present state was sent first

    def set_state(self, *, runs: bool) -> None:
        """Set the state, run or stop, that is sent from the next step on."""
        if runs is not self.runs:
            self.runs = runs
            self._due_us = 0
            self._since_us = None

    def step(self, now_us: int) -> None:
        """Send the message if it is due; call this a hundred times a second."""
        facts = self._facts()
        connection = self._car.connection
        if facts is None or connection.epoch is None or not connection.is_bound():
            self._since_us = None
        elif now_us >= self._due_us:
            every_us = min(_EVERY_US, int(facts.silence_s * 1e6) // _PER_SILENCE)
            self._due_us = max(self._due_us, now_us - every_us) + every_us
            self._sequence = self._sequence + 1 & _NUMBERS
            self._since_us = now_us if self._since_us is None else self._since_us
            message = requests.alive(
                connection.epoch, facts.id, self._sequence, runs=self.runs, now_us=now_us
            )
            connection.send(message)

    def is_heard(self, now_us: int) -> bool:
        """Return whether the car can be assumed to know the present state.

        There is no acknowledgement: it is assumed after five messages.
        """
        if self._facts() is None:
            return True
        return self._since_us is not None and now_us - self._since_us >= _HEARD_US

    def _facts(self) -> StopSourceFacts | None:
        vehicle = self._car.vehicle
        if vehicle is not self._known[0]:  # looked up once: this is asked a hundred times a second
            self._known = vehicle, _registered(vehicle, self.name)
        return self._known[1]


def _registered(vehicle: Vehicle | None, name: str) -> StopSourceFacts | None:
    """Return what a vehicle's file says of this stop source; None if no profile knows it."""
    for facts in vehicle.stop_sources if vehicle else ():
        if facts.name == name and any(need != "no" for need in facts.needs.values()):
            return facts
    return None
