"""The keyboard input: pure key logic, and the terminal that it is read from."""

from host_bridge.inputs.keyboard.keyboard import Keyboard
from host_bridge.inputs.keyboard.keyboard_input import KeyboardInput, make
from host_bridge.inputs.keyboard.seat import SEAT, SLOW_SEAT, KeyboardSeat
from host_bridge.inputs.keyboard.terminal import Terminal
from host_bridge.inputs.keyboard.terminal_queries import ReleaseSupport

__all__ = [
    "SEAT",
    "SLOW_SEAT",
    "Keyboard",
    "KeyboardInput",
    "KeyboardSeat",
    "ReleaseSupport",
    "Terminal",
    "make",
]
