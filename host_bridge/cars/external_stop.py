"""Finds the programs that only stop, and lets one of them speak to a car as ``external``."""

from __future__ import annotations

import difflib
from importlib.metadata import entry_points

from host_bridge.cars.car import ConnectedCar
from host_bridge.cars.stop_source_heartbeat import StopSourceHeartbeat
from host_bridge.core.stop_source import StopSource

GROUP = "tandem.stop_sources"
EXTERNAL = "external"  # the stop source of the vehicle file by which all of them speak


def stop_source_names() -> list[str]:
    """Return the names of the installed programs that only stop, sorted."""
    return sorted(entry_points(group=GROUP).names)


def make_stop_source(text: str) -> StopSource | str:
    """Return the stop source for ``NAME:REST``, or why there is none, as a sentence."""
    name, _, rest = text.partition(":")
    for entry in entry_points(group=GROUP, name=name):
        found = entry.load()(rest)
        if isinstance(found, StopSource):
            return found
        return f"{entry.value} made no tandem.StopSource, but {type(found).__name__}"
    known = stop_source_names()
    near = difflib.get_close_matches(name, known, 1)
    meant = f"did you mean {near[0]}?" if near else "a package offers one by an entry point"
    return f"there is no stop source {name!r} (installed: {', '.join(known) or 'none'}); {meant}"


def lacks_external(car: ConnectedCar) -> bool:
    """Return whether a program cannot stop this car as the stop source ``external``.

    That is so where the vehicle file has no such source, or "no" for it in every profile, and where
    the car's vehicle is not known.
    """
    facts = car.vehicle.stop_sources if car.vehicle else ()
    return not any(
        one.name == EXTERNAL and any(need != "no" for need in one.needs.values()) for one in facts
    )


class ExternalStop:
    """One stop source and its heartbeat at one car; ``why`` is why it says stop, "" while not."""

    def __init__(self, car: ConnectedCar, source: StopSource) -> None:
        self.why = ""
        self._car = car
        self._source = source
        self._heartbeat = StopSourceHeartbeat(car, EXTERNAL)
        car.heartbeats.append(self._heartbeat)

    def step(self, now_us: int) -> bool:
        """Ask the source; return True if it says anything new.

        What it raises ends it: the car then hears nothing more from it.
        """
        before, self.why = self.why, self._ask(now_us)
        self._heartbeat.set_state(runs=not self.why)
        return self.why != before

    def _ask(self, now_us: int) -> str:
        try:
            return self._source.step(now_us, self._car.seen())
        except BaseException:
            self._car.heartbeats.remove(self._heartbeat)
            raise
