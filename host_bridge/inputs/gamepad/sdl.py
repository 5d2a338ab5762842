"""SDL's game controllers and joysticks, through PySDL2: the only file that imports that library.

SDL reports changes: each event is a report of a device, and polling makes none. SDL cannot tell
whether a pad that reports nothing is held still or has died (``life.py``).
"""

from __future__ import annotations

import ctypes
import os
import sys
import warnings
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum
from math import pi, sin
from types import ModuleType

from host_bridge.core.errors import DeviceFault

_AXES = ("leftx", "lefty", "rightx", "righty", "lefttrigger", "righttrigger")  # in SDL's order
AXES = frozenset(_AXES)
BUTTONS = (
    *("a", "b", "x", "y", "back", "guide", "start", "leftstick", "rightstick"),
    *("leftshoulder", "rightshoulder", "dpup", "dpdown", "dpleft", "dpright", "misc1"),
    *("paddle1", "paddle2", "paddle3", "paddle4", "touchpad"),
)  # in SDL's order
_FULL = 32767.0  # of an axis, as SDL has it: 16 bits with a sign
_GUID_SIZE = 33  # SDL's: 32 digits and a zero byte
# A short tone that small speakers reproduce, at a rate that every sound card takes
_BEEP_HZ, _BEEP_S, _RATE_HZ = 880.0, 0.35, 22_050
_RUMBLE_FULL = 0xFFFF


class ReportKind(Enum):
    """The kind of a report."""

    ADDED = "plugged in"
    REMOVED = "unplugged"
    AXIS = "axis"
    BUTTON = "button"
    HAT = "hat"
    SENSOR = "gyro or accelerometer"


@dataclass(frozen=True, slots=True)
class PadReport:
    """One report of a device: its number in SDL, the kind, the control's number, and its value.

    ``device`` is the number of the open device; for ADDED, the index in the list of devices.
    """

    device: int
    kind: ReportKind
    number: int = 0
    value: float = 0.0
    content: tuple[float, ...] = ()  # for a sensor: its timestamp, and its measurements


@dataclass(frozen=True)
class PadFacts:
    """A device that is plugged in; ``mapping`` is SDL's line for it, "" if SDL has none."""

    index: int
    name: str
    guid: str
    mapping: str


class Sdl:
    """SDL's joystick subsystem. Its event queue is the process's: only one object polls."""

    def __init__(self) -> None:
        """Start SDL. Raises errors.DeviceFault where PySDL2 or SDL itself is missing."""
        self.lib = _library()
        lib = self.lib
        for name, value in (
            (b"SDL_NO_SIGNAL_HANDLERS", b"1"),  # Python keeps handling Ctrl-C
            (b"SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", b"1"),  # there is no window to have focus
            (b"SDL_JOYSTICK_HIDAPI_PS4_RUMBLE", b"1"),  # these two send full reports, with gyro,
            (b"SDL_JOYSTICK_HIDAPI_PS5_RUMBLE", b"1"),  # by Bluetooth as well
        ):
            lib.SDL_SetHint(name, value)
        self._parts = lib.SDL_INIT_GAMECONTROLLER | lib.SDL_INIT_JOYSTICK
        if lib.SDL_InitSubSystem(self._parts) != 0:
            raise DeviceFault("SDL did not start", got=self.error())
        self._speaker = 0
        self._tone = _tone()
        self._event = lib.SDL_Event()

    def error(self) -> str:
        return bytes(self.lib.SDL_GetError()).decode(errors="replace")

    def close(self) -> None:
        if self._speaker:
            self.lib.SDL_CloseAudioDevice(self._speaker)
        self.lib.SDL_QuitSubSystem(self._parts)  # reference-counted: another Sdl keeps running

    def pads(self) -> list[PadFacts]:
        """Return the devices that are plugged in, in SDL's order."""
        return [self.facts(index) for index in range(self.lib.SDL_NumJoysticks())]

    def facts(self, index: int) -> PadFacts:
        """Return the device at this index of SDL's list."""
        lib = self.lib
        name = lib.SDL_JoystickNameForIndex(index) or b"unnamed"
        guid = self._guid(lib.SDL_JoystickGetDeviceGUID(index))
        line = lib.SDL_GameControllerMappingForDeviceIndex(index) or b""
        return PadFacts(index, name.decode(errors="replace"), guid, line.decode(errors="replace"))

    def add_mapping(self, line: str) -> None:
        """Add a line of SDL's form, GUID,name,control:input,... Raises errors.DeviceFault."""
        if self.lib.SDL_GameControllerAddMapping(line.encode()) < 0:
            raise DeviceFault("SDL does not take this mapping", got=self.error(), where=line)

    def poll(self) -> Iterator[PadReport]:
        """Yield the reports since the last call; never wait."""
        lib, event = self.lib, self._event
        while lib.SDL_PollEvent(ctypes.byref(event)):
            report = self._report(event)
            if report:
                yield report

    def _report(self, event: ctypes.Structure) -> PadReport | None:
        lib, kind = self.lib, event.type
        if kind == lib.SDL_JOYAXISMOTION:
            it = event.jaxis
            return PadReport(it.which, ReportKind.AXIS, it.axis, it.value / _FULL)
        if kind in (lib.SDL_JOYBUTTONDOWN, lib.SDL_JOYBUTTONUP):
            it = event.jbutton
            return PadReport(it.which, ReportKind.BUTTON, it.button, float(it.state))
        if kind == lib.SDL_JOYHATMOTION:
            it = event.jhat
            return PadReport(it.which, ReportKind.HAT, it.hat, float(it.value))
        if kind == lib.SDL_CONTROLLERSENSORUPDATE:
            it = event.csensor
            stamp = float(getattr(it, "timestamp_us", 0))
            return PadReport(it.which, ReportKind.SENSOR, it.sensor, content=(stamp, *it.data))
        if kind == lib.SDL_JOYDEVICEADDED:
            return PadReport(event.jdevice.which, ReportKind.ADDED)
        if kind == lib.SDL_JOYDEVICEREMOVED:
            return PadReport(event.jdevice.which, ReportKind.REMOVED)
        return None

    def open_speaker(self) -> bool:
        """Open the audio device for ``beep``, which takes time; return False without one."""
        lib = self.lib
        # samples that the card buffers: 23 ms
        wanted = lib.SDL_AudioSpec(_RATE_HZ, lib.AUDIO_S16SYS, 1, 512)
        with _quiet():  # ALSA complains on standard error of machines without a sound card
            if lib.SDL_InitSubSystem(lib.SDL_INIT_AUDIO) == 0:
                self._speaker = lib.SDL_OpenAudioDevice(None, 0, ctypes.byref(wanted), None, 0)
        if self._speaker:
            lib.SDL_PauseAudioDevice(self._speaker, 0)
        return bool(self._speaker)

    def beep(self) -> None:
        """Play a short tone on the speaker, or ring the terminal's bell; never wait."""
        if self._speaker:
            self.lib.SDL_QueueAudio(self._speaker, self._tone, len(self._tone))
        elif sys.stderr.isatty():
            sys.stderr.write("\a")
            sys.stderr.flush()

    def _guid(self, guid: object) -> str:
        text = ctypes.create_string_buffer(_GUID_SIZE)
        self.lib.SDL_JoystickGetGUIDString(guid, text, _GUID_SIZE)
        return text.value.decode()


class OpenPad:
    """An open device whose controls are read by the names of SDL's mapping."""

    def __init__(self, sdl: Sdl, index: int) -> None:
        """Open it. Raises errors.DeviceFault if that fails, or SDL has no mapping for it."""
        lib = sdl.lib
        self.facts = sdl.facts(index)
        self._lib = lib
        self._pad = lib.SDL_GameControllerOpen(index) if self.facts.mapping else None
        if not self._pad:
            raise DeviceFault(
                f"{self.facts.name} does not open as a gamepad",
                where=self.facts.guid,
                got=sdl.error() or "SDL has no mapping for it",
                remedy="tandem pads map asks for each control in turn",
            )
        joystick = lib.SDL_GameControllerGetJoystick(self._pad)
        self.device: int = lib.SDL_JoystickInstanceID(joystick)
        self.has_sensor = self._begin_sensors()
        self._names = self._buttons_by_number()

    def value(self, name: str) -> float:
        """Return a control's value by SDL's name: an axis -1 to 1, a trigger or button 0 to 1."""
        if name in AXES:
            raw = self._lib.SDL_GameControllerGetAxis(self._pad, _AXES.index(name))
            return max(float(raw) / _FULL, -1.0)
        return float(self._lib.SDL_GameControllerGetButton(self._pad, BUTTONS.index(name)))

    def button_name(self, number: int) -> str:
        """Return the name of a button number in SDL's mapping; "" if it has none."""
        return self._names.get(number, "")

    def axis_number(self, name: str) -> int:
        """Return the number of the device's axis for this control; -1 if there is none."""
        bind = self._lib.SDL_GameControllerGetBindForAxis(self._pad, _AXES.index(name))
        is_axis = bind.bindType == self._lib.SDL_CONTROLLER_BINDTYPE_AXIS
        return int(bind.value.axis) if is_axis else -1

    def rumble(self, seconds: float) -> bool:
        """Rumble; return False if the pad cannot."""
        ms = round(seconds * 1e3)
        lib = self._lib
        return bool(lib.SDL_GameControllerRumble(self._pad, _RUMBLE_FULL, _RUMBLE_FULL, ms) == 0)

    def close(self) -> None:
        self._lib.SDL_GameControllerClose(self._pad)

    def _begin_sensors(self) -> bool:
        """Switch the gyro on, which reports all the time; return whether it works."""
        lib = self._lib
        sensor = lib.SDL_SENSOR_GYRO
        if not lib.SDL_GameControllerHasSensor(self._pad, sensor):
            return False
        return bool(lib.SDL_GameControllerSetSensorEnabled(self._pad, sensor, 1) == 0)

    def _buttons_by_number(self) -> dict[int, str]:
        lib = self._lib
        binds = [
            (lib.SDL_GameControllerGetBindForButton(self._pad, n), name)
            for n, name in enumerate(BUTTONS)
        ] + [
            (lib.SDL_GameControllerGetBindForAxis(self._pad, n), name)
            for n, name in enumerate(_AXES)
        ]
        return {
            int(bind.value.button): name
            for bind, name in binds
            if bind.bindType == lib.SDL_CONTROLLER_BINDTYPE_BUTTON
        }


class RawPad:
    """An open device without a mapping, read to make one."""

    def __init__(self, sdl: Sdl, index: int) -> None:
        """Open it. Raises errors.DeviceFault."""
        self._lib = sdl.lib
        self._joystick = self._lib.SDL_JoystickOpen(index)
        if not self._joystick:
            raise DeviceFault("the device does not open", got=sdl.error())
        self.device: int = self._lib.SDL_JoystickInstanceID(self._joystick)
        axes = range(self._lib.SDL_JoystickNumAxes(self._joystick))
        # the axes' values with the hands off: pedals rest at one end
        self.rest = [self._lib.SDL_JoystickGetAxis(self._joystick, n) / _FULL for n in axes]

    def close(self) -> None:
        self._lib.SDL_JoystickClose(self._joystick)


def _library() -> ModuleType:
    os.environ.setdefault("SDL_VIDEODRIVER", "dummy")  # no window is wanted
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PySDL2 warns about where its binaries are
            import sdl2
    except ImportError as error:
        raise DeviceFault(
            "gamepads need PySDL2, which is not installed here",
            got=str(error),
            remedy="pip install 'tandem-cars[pads]'",
        ) from None
    library: ModuleType = sdl2
    return library


@contextmanager
def _quiet() -> Iterator[None]:
    """Discard everything that a C library writes to standard error."""
    kept = os.dup(2)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(nowhere, 2)
        yield
    finally:
        os.dup2(kept, 2)
        os.close(kept)
        os.close(nowhere)


def _tone() -> bytes:
    count = int(_BEEP_S * _RATE_HZ)
    turn = 2 * pi * _BEEP_HZ / _RATE_HZ
    # of 32767: well heard, and not at its loudest
    return array("h", (int(12_000 * sin(turn * n)) for n in range(count))).tobytes()
