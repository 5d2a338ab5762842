"""Vehicle files: read strictly, checked, and compiled into the configuration of a board."""

from host_bridge.config.compilation import motion_every
from host_bridge.config.image import config_hash, image_of, parameter_name
from host_bridge.config.vehicle import load_vehicle, vehicle_names

__all__ = [
    "config_hash",
    "image_of",
    "load_vehicle",
    "motion_every",
    "parameter_name",
    "vehicle_names",
]
