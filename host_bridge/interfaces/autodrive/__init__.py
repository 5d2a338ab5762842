"""AutoDRIVE Devkit scripts: a car offered to them as the simulator offers its own."""

from host_bridge.interfaces.autodrive.frame import frame_of
from host_bridge.interfaces.autodrive.script import Script, make

__all__ = ["Script", "frame_of", "make"]
