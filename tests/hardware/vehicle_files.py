"""A vehicle file as one text, whatever it is based on: for tests that change a line of it."""

from host_bridge.cli.output.vehicle_file import merged_file
from host_bridge.config import load_vehicle


def whole(name: str) -> str:
    """The file of a type with all that it takes over, as `tandem vehicles NAME` prints it."""
    return "\n".join(merged_file(load_vehicle(name).values, with_origin=False)) + "\n"
