"""The operator's station: a page that shows, stops and drives the cars of this machine."""

from host_bridge.station.server.access_rules import AccessRules
from host_bridge.station.server.page_seat import PageSeat
from host_bridge.station.server.server import Server, StationBackend
from host_bridge.station.views.car_row import car_row
from host_bridge.station.views.comparison import CarComparison
from host_bridge.station.views.telemetry_view import TelemetryView

__all__ = [
    "AccessRules",
    "CarComparison",
    "PageSeat",
    "Server",
    "StationBackend",
    "TelemetryView",
    "car_row",
]
