"""The input for AutoDRIVE Devkit scripts: takes the simulator's place in front of a script."""

from host_bridge.inputs.autodrive.script_input import Script, make
from host_bridge.inputs.autodrive.telemetry_frame import frame_of

__all__ = ["Script", "frame_of", "make"]
