"""``/diagnostics``: the car's state, its command source, and each cause that could stop it."""

from __future__ import annotations

from typing import Any

from host_bridge.core import BatteryStage, Cause, SeenCar, why_stopped
from host_bridge.ros2.bus.bus import Bus
from host_bridge.ros2.bus.message_types import message_class
from host_bridge.ros2.node.mux import Mux

_EVERY = 100  # steps of 10 ms: 1 Hz
_OK, _WARN, _ERROR, _STALE = (bytes([level]) for level in range(4))
_TYPE = "diagnostic_msgs/msg/DiagnosticArray"


def why_standing(car: SeenCar) -> str:
    """Return why a car stands, as a sentence for people; "" while it may move."""
    if not car.is_online or car.status is None:
        return f"It is not heard: {car.stranger}." if car.stranger else "The car is not heard."
    return why_stopped(car.status, (), car.vehicle)


class DiagnosticsPublisher:
    """The publisher of one car's diagnostics, at 1 Hz; each of several cars has its namespace."""

    def __init__(self, bus: Bus, namespace: str, node: str) -> None:
        """Create the publisher.

        Raises errors.DeviceFault for a missing message type.
        """
        self._bus = bus
        self._name = f"{namespace.strip('/')}/{node}".lstrip("/")
        self._publisher = bus.publisher("/diagnostics", _TYPE)
        self._count = 0

    def step(self, car: SeenCar, mux: Mux, words: str, hits: int | None) -> None:
        """Publish the diagnostics when they are due.

        ``words`` says who drives, or why nobody does. ``hits`` is the number of collisions of a
        virtual car, None if its surroundings are not known.
        """
        self._count += 1
        if self._count % _EVERY:
            return
        array = message_class(_TYPE)()
        array.header.stamp = self._bus.stamp()
        array.status = [self._car(car, hits), self._stops(car), self._commands(car, mux, words)]
        if car.power:
            array.status.append(self._battery(car))
        self._publisher.publish(array)

    def _car(self, car: SeenCar, hits: int | None) -> Any:
        level = _STALE
        if car.is_online and car.status:
            level = _ERROR if car.status.state.is_halted else _OK
        values = {}
        if car.status:
            values["state"] = car.status.state.name
            values["causes"] = ", ".join(cause.name for cause in car.status.causes)
            values["faults"] = ", ".join(fault.name for fault in car.status.faults)
        if hits is not None:
            values["collisions"] = str(hits)
        return self._status(car, "car", level, why_standing(car) or "It may move.", values)

    def _stops(self, car: SeenCar) -> Any:
        """Report every cause: latched if it is why the car stands, present if it would stop it."""
        if not (car.is_online and car.status):
            return self._status(car, "stops", _STALE, "The car is not heard.", {})
        latched = car.status.causes
        present = car.inputs.causes_present if car.inputs else ()
        values = {cause.name: _how(cause in latched, cause in present) for cause in Cause}
        if car.status.first_cause is not None:
            values["first"] = car.status.first_cause.name
        if car.inputs:
            values["age of the first in s"] = f"{car.inputs.cause_age_s:.2f}"
        level = _ERROR if latched else _WARN if present else _OK
        text = ", ".join(cause.phrase for cause in latched or present) or "Nothing stops it."
        return self._status(car, "stops", level, text, values)

    def _commands(self, car: SeenCar, mux: Mux, words: str) -> Any:
        values = {
            f"refused on {source.row.topic}": f"{source.refused} {source.why_refused}"
            for source in mux.sources.values()
        }
        return self._status(car, "commands", _OK if mux.winner else _WARN, words, values)

    def _battery(self, car: SeenCar) -> Any:
        power = car.power
        assert power is not None, "asked of cars that have said their power"
        is_good = power.stage is BatteryStage.GOOD
        values = {"battery_v": f"{power.battery_v:.2f}"}
        if power.temperature_c is not None:
            values["temperature_c"] = f"{power.temperature_c:.1f}"
        text = f"The battery is {power.stage.word}."
        return self._status(car, "battery", _OK if is_good else _WARN, text, values)

    def _status(
        self, car: SeenCar, part: str, level: bytes, words: str, values: dict[str, str]
    ) -> Any:
        status = message_class("diagnostic_msgs/msg/DiagnosticStatus")()
        status.name, status.hardware_id = f"{self._name}: {part}", car.name
        status.level, status.message = level, words
        for key, value in values.items():
            made = message_class("diagnostic_msgs/msg/KeyValue")()
            made.key, made.value = key, value
            status.values.append(made)
        return status


def _how(is_latched: bool, is_present: bool) -> str:
    if is_latched:
        return "latched, and present" if is_present else "latched"
    return "present" if is_present else "no"
