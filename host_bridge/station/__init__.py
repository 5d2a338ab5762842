"""The operator's station: a page that shows, stops and drives the cars of this machine."""

from host_bridge.station.server.access_rules import Doors
from host_bridge.station.server.page_seat import PageSeat
from host_bridge.station.server.server import Server, Yard
from host_bridge.station.views.car_row import picture
from host_bridge.station.views.comparison import Comparison
from host_bridge.station.views.telemetry_view import Sight

__all__ = ["Comparison", "Doors", "PageSeat", "Server", "Sight", "Yard", "picture"]
