"""The keyboard input: pure key logic, and the terminal that it is read from."""

from host_bridge.inputs.keyboard.capability import Releases
from host_bridge.inputs.keyboard.hands import Hands, make
from host_bridge.inputs.keyboard.keyboard import Keyboard
from host_bridge.inputs.keyboard.seat import SEAT, SLOW_SEAT, Seat
from host_bridge.inputs.keyboard.terminal import Terminal

__all__ = ["SEAT", "SLOW_SEAT", "Hands", "Keyboard", "Releases", "Seat", "Terminal", "make"]
