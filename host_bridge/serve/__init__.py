"""The owner of one car: it holds the car's line and relays between it and every client."""

from host_bridge.serve.owner import Owner
from host_bridge.serve.rims import Rim, local_rim

__all__ = ["Owner", "Rim", "local_rim"]
