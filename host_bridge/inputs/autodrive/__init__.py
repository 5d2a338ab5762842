"""The input for AutoDRIVE Devkit scripts: takes the simulator's place in front of a script."""

from host_bridge.inputs.autodrive.frame import frame_of
from host_bridge.inputs.autodrive.script import Script, make

__all__ = ["Script", "frame_of", "make"]
