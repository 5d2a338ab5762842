"""One car's owner: who holds its line, and relays between it and every client."""

from host_bridge.serve.owner import Owner
from host_bridge.serve.rims import LocalRim, Rim

__all__ = ["LocalRim", "Owner", "Rim"]
