"""Vehicle files: read strictly, checked, and compiled into the configuration of a board."""

from host_bridge.config.vehicle.compilation import motion_every
from host_bridge.config.vehicle.image import (
    by_name,
    config_hash,
    image_of,
    parameter_count,
    parameter_index,
    parameter_limits,
    parameter_name,
    values_hash,
)
from host_bridge.config.vehicle.vehicle import load_vehicle, vehicle_names, vehicle_word

__all__ = [
    "by_name",
    "config_hash",
    "image_of",
    "load_vehicle",
    "motion_every",
    "parameter_count",
    "parameter_index",
    "parameter_limits",
    "parameter_name",
    "values_hash",
    "vehicle_names",
    "vehicle_word",
]
