"""A virtual gamepad: SDL's own virtual joystick, moved by a program.

SDL, and all that reads pads through it, treats it like any other device. It exists only in the
process that made it.
"""

from __future__ import annotations

import ctypes
import random

from host_bridge.inputs.gamepad.sdl import Sdl

_AXES = ("leftx", "lefty", "rightx", "righty", "lefttrigger", "righttrigger")
_LEFT_TRIGGER = 4  # the first trigger among the axes; a trigger rests at its low end
_BUTTONS = 15  # buttons, as SDL numbers those of a controller up to its D-pad
_NUMBERS = {"a": 0, "b": 1, "back": 4, "start": 6, "leftshoulder": 9, "rightshoulder": 10}
_FULL = 32767
_NOISE = 200  # of 32767: the noise of a real stick


class VirtualPad:
    """A virtual pad: axes from -1 to 1, triggers and buttons from 0 to 1; it can be unplugged."""

    def __init__(self, sdl: Sdl, name: str = "Virtual pad") -> None:
        self.rumbled_ms: list[int] = []
        self.is_noisy = True  # as a pad whose axes have noise; False: it reports changes only
        self.is_frozen = False  # True: it reports nothing any more
        self._sdl = sdl
        self._lib = sdl.lib
        self._name = name.encode()
        self._random = random.Random(1)
        self._index = -1
        self._joystick: object = None
        self._rumble = self._lib.SDL_VirtualJoystickDesc._fields_[14][1](self._hear_rumble)
        self.plug()

    def plug(self) -> None:
        """Plug it in, with all controls at rest."""
        lib = self._lib
        it = lib.SDL_VirtualJoystickDesc()
        it.version, it.type = 1, lib.SDL_JOYSTICK_TYPE_GAMECONTROLLER
        it.naxes, it.nbuttons, it.name = len(_AXES), _BUTTONS, self._name
        it.Rumble = self._rumble
        self._desc = it  # SDL keeps its pointer
        self._index = lib.SDL_JoystickAttachVirtualEx(ctypes.byref(it))
        self._joystick = lib.SDL_JoystickOpen(self._index)
        self.rest()

    def unplug(self) -> None:
        """Unplug it."""
        self._lib.SDL_JoystickClose(self._joystick)
        self._lib.SDL_JoystickDetachVirtual(self._index)
        self._joystick = None

    def rest(self) -> None:
        """Set all controls to rest, as with the hands off."""
        for number in range(len(_AXES)):
            self._lib.SDL_JoystickSetVirtualAxis(self._joystick, number, 0)
        for name in ("lefttrigger", "righttrigger"):
            self.move(name, 0.0)
        for number in range(_BUTTONS):
            self._lib.SDL_JoystickSetVirtualButton(self._joystick, number, 0)

    def move(self, axis: str, value: float) -> None:
        """Move a stick from -1 to 1, or a trigger from 0 to 1."""
        number = _AXES.index(axis)
        raw = round(value * _FULL) if number < _LEFT_TRIGGER else round((2 * value - 1) * _FULL)
        self._set(number, raw)

    def press(self, button: str | int, down: bool = True) -> None:
        """Press or release a button, by SDL's name or by its number."""
        number = _NUMBERS[button] if isinstance(button, str) else button
        if not self.is_frozen and self._joystick:
            self._lib.SDL_JoystickSetVirtualButton(self._joystick, number, int(down))

    def tremble(self) -> None:
        """Add the noise of a hand and a worn potentiometer; call it as often as the pad reports."""
        if self.is_noisy:
            self._set(3, self._random.randrange(-_NOISE, _NOISE))  # an axis that drives nothing

    def _set(self, number: int, raw: int) -> None:
        if not self.is_frozen and self._joystick:
            self._lib.SDL_JoystickSetVirtualAxis(self._joystick, number, raw)

    def _hear_rumble(self, data: object, low: int, high: int) -> int:
        self.rumbled_ms.append(max(low, high))
        return 0
