"""The interface for everything that drives: the input, its context, and its setpoints.

An input is a person's device (a keyboard, a gamepad, a page) or a program (a file, a manoeuvre, a
script, ROS 2). It sends nothing itself: a hundred times a second the session asks it for a
setpoint, a ``DriveCommand``, and makes one claim of it for all cars. An input that has heard
something new may wake the session between two ticks.

Kinds of input are found by the entry point ``tandem.inputs``. The entry's name is the NAME in
``tandem drive --input NAME:REST``; its value is a callable that makes the input from REST and the
other options of the command line.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from math import isfinite
from typing import Any, Protocol

from host_bridge.core.reports import CarMotion, CarStatus, Power
from host_bridge.core.reports import Inputs as CarInputs
from host_bridge.core.system.quickly_made import quickly_made
from host_bridge.core.vehicle import Vehicle

# A deadman that is pressed anew is sent with neutral setpoints for so long first: enough for
# several control periods of a car and for some lost frames
NEUTRAL_US = 100_000


@quickly_made
@dataclass(frozen=True, slots=True)
class DriveCommand:
    """The setpoint that an input wants at this moment. The default lets go of the deadman.

    An input reports three failures of itself here. **Silence**: ``heard_us`` is when its device or
    program was last heard, in ``InputContext.now_us``; a command that is older than the source's
    lease is not sent, so the source falls silent at the cars. **Freeze**: ``input_count`` counts
    the reports of its device, modulo 2**16; a car whose vehicle file asks for it stops when the
    count stands still while the deadman is held. **Loss**: ``lost`` says why the device is gone for
    good; the cars are stopped for that reason.
    """

    steer_rad: float = 0.0  # to the left
    speed_mps: float = 0.0
    brake: float = 0.0  # 0 to 1
    is_held: bool = False  # the deadman is held; for a program: it is ready to drive
    permits_autonomy: bool = False  # held to let a program drive; then no actuator is claimed
    is_by_hand: bool = False  # for a program: the person who supervises it has taken over
    input_count: int = 0
    lights: int = 0
    heard_us: int | None = None  # None: at this moment
    lost: str = ""


_KINDS = {
    "steer_rad": float, "speed_mps": float, "brake": float, "is_held": bool,
    "permits_autonomy": bool, "is_by_hand": bool, "input_count": int, "lights": int,
}  # fmt: skip
_REAL = tuple(name for name, kind in _KINDS.items() if kind is float)


def in_pythons_types(command: DriveCommand) -> DriveCommand:
    """Return the command with numbers and truths of Python's own types.

    An input may be foreign code, and NumPy's are not what machine code takes. Raises TypeError and
    ValueError for what is no number, or not finite.
    """
    if not all(type(getattr(command, name)) is kind for name, kind in _KINDS.items()):
        made = {name: kind(getattr(command, name)) for name, kind in _KINDS.items()}
        command = replace(command, **made)
    for name in _REAL:
        if not isfinite(value := getattr(command, name)):
            raise ValueError(f"{name} is {value}, which is no finite number")
    return command


# A lower setpoint alone lets a car roll on: if it is faster by more than this, it is braked as well
_FAST_MPS, _BRAKE_S_PER_M = 0.1, 0.5


def brake_for(now_mps: float, wanted_mps: float) -> float:
    """Return the brake, 0 to 1, of a car that drives at ``now_mps`` and is to be slower."""
    return min(max(_BRAKE_S_PER_M * (now_mps - wanted_mps - _FAST_MPS), 0.0), 1.0)


class OperatorRequest(Enum):
    """A request of an input besides driving; the operator's keys and the input's end are such."""

    STOP = "stop"
    ARM = "arm"
    UNLOCK = "clear, and arm nothing"
    QUIT = "quit"
    INTERRUPT = "quit by Ctrl-C"
    END = "it has come to its end"
    FROZE = "the terminal froze while the deadman was held"


@dataclass(frozen=True)
class InputLimits:
    """The limits of an input with all its cars: the lowest of the vehicles' and the source's."""

    speed_mps: float
    reverse_mps: float
    steer_rad: float


@quickly_made
@dataclass(frozen=True, slots=True)
class SeenCar:
    """One car as it was last heard; a field is None until its first report."""

    name: str
    is_online: bool  # its link holds
    vehicle: Vehicle | None
    status: CarStatus | None
    motion: CarMotion | None
    inputs: CarInputs | None
    power: Power | None
    stranger: str = ""  # names both cars while another car answers in place of this one


@quickly_made
@dataclass(frozen=True, slots=True)
class Observed:
    """An immutable snapshot of the cars, given to an input at each step."""

    cars: tuple[SeenCar, ...]
    is_driving: bool  # all cars are armed, so that the command takes effect
    is_permitted: bool  # the person whose deadman a program needs holds it; True if none is needed
    is_between_ticks: bool = (
        False  # this step lies between two ticks, because the input woke the session
    )


class SensedTurn(Protocol):
    """One turn of a virtual car's LIDAR; inf is no wall in range, nan a ray without a return."""

    @property
    def taken_us(self) -> int: ...
    @property
    def first_rad(self) -> float: ...
    @property
    def step_rad(self) -> float: ...
    @property
    def ranges_m(self) -> Iterable[float]: ...


class VirtualSensors(Protocol):
    """The sensors of a virtual car in this process, in the car's own time."""

    why_no_scan: str

    @property
    def now_us(self) -> int: ...

    def truth(self) -> tuple[float, ...]:
        """Return x, y, yaw and more of the centre of gravity."""

    def scan(self) -> SensedTurn | None: ...

    def say_pose(self, pose: tuple[float, float, float], rest: Any) -> None:
        """Send a pose on its way to whoever drives by it."""

    def heard_poses(self) -> list[tuple[tuple[float, float, float], Any]]:
        """Return what has arrived of the poses that were sent, as the car's faults have it."""


class InputContext(Protocol):
    """The context with which an input is opened: vehicles, limits, clock and wake-up."""

    @property
    def vehicles(self) -> Sequence[Vehicle]: ...

    @property
    def car_names(self) -> Sequence[str]:
        """The names by which the cars are served here, in the order of ``vehicles``."""

    @property
    def seconds(self) -> float | None:
        """The duration of the drive in s; None if none was given."""

    @property
    def speed_mps(self) -> float | None:
        """The top speed that was asked for in m/s, None if none was."""

    @property
    def is_virtual(self) -> bool:
        """True if all cars are virtual."""

    @property
    def is_lockstep(self) -> bool:
        """True in virtual time, which waits for what a step computes."""

    @property
    def sensors(self) -> Sequence[VirtualSensors]:
        """The sensors of the cars, in lockstep; empty for cars in the time of the world."""

    def now_us(self) -> int:
        """Return the monotonic time in us, on the same clock as ``Input.step``."""

    def limits(self, source: str) -> InputLimits:
        """Return the limits of this source here. Raises errors.TandemError for cars without it."""

    def lease_s(self, source: str) -> float:
        """Return the lease of this source's claims in s.

        Raises errors.TandemError for cars without it.
        """

    def wake(self) -> None:
        """Ask the session for a step now, because something new was heard.

        Call it in the event loop.

        One wake-up is served between two ticks; further ones wait for the next tick. Does nothing
        for an input that ``is_computed``.
        """


class Screen(Protocol):
    """The display on which the person at an input sees the cars."""

    def size(self) -> tuple[int, int]:
        """Return the columns and rows."""

    def show(self, lines: Sequence[str]) -> None:
        """Show the whole screen, given as styled lines. Never blocks."""


class Input(ABC):
    """The base class of everything that drives; only ``step`` has to be written.

    ``source`` is the name of the vehicle file's source under which it claims; it is final when
    ``open`` returns.
    """

    source = "script"
    outlives_stops = False  # after a stop with nobody at the terminal it waits to be armed again
    is_person = False  # a person holds its deadman; that also lets programs drive real cars
    is_computed = False  # it depends on ``now_us`` and the cars only, so it can run in virtual time
    reads_terminal = False  # it reads the terminal's keys, so nothing else may
    has_separate_enable = False  # a person enables programs by another button than their deadman

    async def open(self, context: InputContext) -> None:  # noqa: B027 - most have nothing to do
        """Begin. Raises errors.TandemError for cars or a context that it cannot drive."""

    @abstractmethod
    def step(self, now_us: int, observed: Observed) -> DriveCommand:
        """Return the command of this moment. Never blocks.

        Called a hundred times a second, and once more after it woke the session.
        """

    def requests(self) -> Sequence[OperatorRequest]:
        """Return the requests besides driving since the last call, and forget them."""
        return ()

    def let_go(self) -> None:  # noqa: B027 - most have nothing to do
        """Handle that the drive was halted: the deadman has to be released and held anew."""

    def status_text(self, now_us: int) -> str:
        """Return a sentence about its state for the person who drives; "" if there is none."""
        return ""

    def hint(self, now_us: int) -> str:
        """Return, for a person's input, what the person has to do next."""
        return ""

    def progress_s(self) -> tuple[float, float] | None:
        """Return the time done and the total time in s; None for an input without an end."""
        return None

    def limit_notes(self) -> Sequence[str]:
        """Return sentences on what will be driven otherwise than asked, once it is open.

        They are told on the screen, in JSON and in the log.
        """
        return ()

    def report(self) -> Sequence[str]:
        """Return lines about the whole drive, for the summary once it is over."""
        return ()

    def figures(self) -> Mapping[str, object]:
        """Return the figures of the whole drive as a mapping that JSON takes."""
        return {}

    def screen(self) -> Screen | None:
        """Return a person's display for the cars; None if this input has none."""
        return None

    async def close(self) -> None:  # noqa: B027 - most have nothing to do
        """Release whatever ``open`` took."""
