"""The owner of one car: it holds the car's line and relays between it and every client."""

from host_bridge.sharing.endpoints.rims import Rim, local_rim
from host_bridge.sharing.owner.owner import Owner

__all__ = ["Owner", "Rim", "local_rim"]
