"""The operator's station: a page that shows, stops and drives the cars of this machine."""

from host_bridge.interfaces.station.comparing import Comparison
from host_bridge.interfaces.station.doors import Doors
from host_bridge.interfaces.station.hold import PageSeat
from host_bridge.interfaces.station.picture import picture
from host_bridge.interfaces.station.server import Server, Yard
from host_bridge.interfaces.station.sight import Sight

__all__ = ["Comparison", "Doors", "PageSeat", "Server", "Sight", "Yard", "picture"]
