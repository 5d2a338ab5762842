"""The services that commands and scripts get: vehicles, pairings, configurations and cars."""

from __future__ import annotations

from dataclasses import dataclass

from host_bridge.config.store.pairings import Pairings
from host_bridge.config.store.vehicles import Vehicles
from host_bridge.core.system.clock import Clock, MonotonicClock
from host_bridge.sharing.services.cars import Cars
from host_bridge.sharing.services.configurations import Configurations

__all__ = ["Cars", "Configurations", "Host", "make_host"]


@dataclass(frozen=True)
class Host:
    """The four services of this host. Each can be made and used by itself."""

    vehicles: Vehicles
    pairings: Pairings
    configurations: Configurations
    cars: Cars


def make_host(clock: Clock | None = None) -> Host:
    """Return the services over this user's files, with this machine's clock or another one."""
    pairings = Pairings()
    vehicles = Vehicles(pairings)
    configurations = Configurations(vehicles, pairings)
    return Host(vehicles, pairings, configurations, Cars(vehicles, clock or MonotonicClock()))
