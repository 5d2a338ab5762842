"""The gamepad input: driving with a gamepad or a wheel, read through SDL."""

from host_bridge.inputs.gamepad.hands import Gamepad, chosen, make, take_mappings
from host_bridge.inputs.gamepad.life import ReportCount
from host_bridge.inputs.gamepad.mapping import Life, PadMapping, PadMappings, Roles
from host_bridge.inputs.gamepad.sdl import Kind, OpenPad, PadFacts, RawPad, Report, Sdl
from host_bridge.inputs.gamepad.seat import Grip, PadSeat
from host_bridge.inputs.gamepad.virtual import VirtualPad

__all__ = [
    "Gamepad",
    "Grip",
    "Kind",
    "Life",
    "OpenPad",
    "PadFacts",
    "PadMapping",
    "PadMappings",
    "PadSeat",
    "RawPad",
    "Report",
    "ReportCount",
    "Roles",
    "Sdl",
    "VirtualPad",
    "chosen",
    "make",
    "take_mappings",
]
