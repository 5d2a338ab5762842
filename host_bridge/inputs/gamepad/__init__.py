"""The gamepad input: driving with a gamepad or a wheel, read through SDL."""

from host_bridge.inputs.gamepad.gamepad_input import GamepadInput, choose_pad, load_mappings, make
from host_bridge.inputs.gamepad.mapping import LivenessCheck, PadMapping, PadMappings, Roles
from host_bridge.inputs.gamepad.report_count import ReportCount
from host_bridge.inputs.gamepad.sdl import OpenPad, PadFacts, PadReport, RawPad, ReportKind, Sdl
from host_bridge.inputs.gamepad.seat import DeadmanButtons, PadSeat
from host_bridge.inputs.gamepad.virtual import VirtualPad

__all__ = [
    "DeadmanButtons",
    "GamepadInput",
    "LivenessCheck",
    "OpenPad",
    "PadFacts",
    "PadMapping",
    "PadMappings",
    "PadReport",
    "PadSeat",
    "RawPad",
    "ReportCount",
    "ReportKind",
    "Roles",
    "Sdl",
    "VirtualPad",
    "choose_pad",
    "load_mappings",
    "make",
]
