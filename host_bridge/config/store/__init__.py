"""The files that this host keeps: of its cars by board, and the backups of cars."""

from host_bridge.config.store.pairings import Pairing, Pairings
from host_bridge.config.store.vehicles import Vehicles

__all__ = ["Pairing", "Pairings", "Vehicles"]
