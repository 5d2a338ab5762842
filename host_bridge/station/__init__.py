"""The operator's station: a page that shows, stops and drives the cars of this machine."""

from host_bridge.station.server.doors import Doors
from host_bridge.station.server.hold import PageSeat
from host_bridge.station.server.server import Server, Yard
from host_bridge.station.views.comparing import Comparison
from host_bridge.station.views.picture import picture
from host_bridge.station.views.sight import Sight

__all__ = ["Comparison", "Doors", "PageSeat", "Server", "Sight", "Yard", "picture"]
