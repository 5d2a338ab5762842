"""The input for AutoDRIVE Devkit scripts: takes the simulator's place in front of a script."""

from host_bridge.inputs.autodrive.script_input import ScriptInput, make
from host_bridge.inputs.autodrive.telemetry_frame import make_frame

__all__ = ["ScriptInput", "make", "make_frame"]
