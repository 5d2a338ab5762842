"""Driving with a terminal's keys: pure key logic, and the terminal at its rim."""

from host_bridge.interfaces.keyboard.capability import Releases
from host_bridge.interfaces.keyboard.keyboard import Keyboard
from host_bridge.interfaces.keyboard.seat import SEAT, SLOW_SEAT, Order, Reach, Seat
from host_bridge.interfaces.keyboard.terminal import Terminal

__all__ = ["SEAT", "SLOW_SEAT", "Keyboard", "Order", "Reach", "Releases", "Seat", "Terminal"]
