"""The one seam for all that drives: what an input is, what it sees, and what it may want.

An input is a person's hands (a keyboard, a gamepad, a page) or a program (a file, a manoeuvre, a
script, ROS 2). It wants; it sends nothing itself. A hundred times a second the session asks it for
a ``Wish`` and makes one claim of it for all cars; an input that heard something new may wake the
session in between. Kinds of inputs are found by the entry point ``tandem.inputs``: its name is what
``tandem drive --input NAME:REST`` says, its value is a callable that makes the input of REST, and
of what else the command line gave for it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Protocol

from host_bridge.domain.reports import CarMotion, CarStatus, Power
from host_bridge.domain.reports import Inputs as CarInputs
from host_bridge.domain.vehicle import Vehicle

# A deadman that is held anew is shown in neutral first: some steps of a car, and some lost frames
NEUTRAL_US = 100_000


@dataclass(frozen=True, slots=True)
class Wish:
    """What an input wants at this moment. The default is to let go.

    An input says three things of itself here. **Silence**: ``heard_us`` is when its device or
    program was last heard, in ``Setting.now_us``; a wish that is older than the source's lease is
    not sent, so the source falls silent at the cars. **Freeze**: ``input_count`` counts the reports
    of its device, modulo 2**16; a car whose vehicle file asks for it stops when that stands still
    while the deadman is held. **Loss**: ``lost`` is why the device is gone for good; the cars are
    stopped for that.
    """

    steer_rad: float = 0.0  # to the left
    speed_mps: float = 0.0
    brake: float = 0.0  # 0 to 1
    is_held: bool = False  # the deadman, now; of a program: that it is ready to drive
    permits_autonomy: bool = False  # held to let a program drive: nothing is claimed besides
    is_by_hand: bool = False  # of a program's: whoever may let it drive has taken over
    input_count: int = 0
    lights: int = 0
    heard_us: int | None = None  # None: at this moment
    lost: str = ""


class Order(Enum):
    """What an input asks for besides driving."""

    STOP = "stop"
    ARM = "arm"
    QUIT = "quit"
    INTERRUPT = "quit by Ctrl-C"
    END = "it has come to its end"
    FROZE = "the terminal froze while the deadman was held"


@dataclass(frozen=True)
class Reach:
    """How far an input may go with all its cars: the least of the vehicles' and the source's."""

    speed_mps: float
    reverse_mps: float
    steer_rad: float


@dataclass(frozen=True, slots=True)
class SeenCar:
    """One car as it was last heard; None for what it has not said yet."""

    name: str
    is_known: bool  # its link holds
    vehicle: Vehicle | None
    status: CarStatus | None
    motion: CarMotion | None
    inputs: CarInputs | None
    power: Power | None
    stranger: str = ""  # names both, while another car is at the place of this one


@dataclass(frozen=True, slots=True)
class Observed:
    """What an input sees at a step: the newest picture of the cars, which does not change."""

    cars: tuple[SeenCar, ...]
    is_driving: bool  # all cars are armed: what is wished for counts
    is_permitted: bool  # whoever has to hold the deadman of a program does; True if nobody has to
    is_woken: bool = False  # asked between two beats, because the input woke the session


class Setting(Protocol):
    """What an input is opened with."""

    @property
    def vehicles(self) -> Sequence[Vehicle]: ...

    @property
    def seconds(self) -> float | None:
        """The time to drive, if that was said."""

    @property
    def speed_mps(self) -> float | None:
        """The top speed that was asked for, if one was."""

    @property
    def is_virtual(self) -> bool:
        """True where no car of metal is among them."""

    def now_us(self) -> int:
        """Monotonic microseconds, the time of ``step``."""

    def reach(self, source: str) -> Reach:
        """The limits of this source here. Raises errors.TandemError for cars without it."""

    def lease_s(self, source: str) -> float:
        """The time for which its claim lasts. Raises errors.TandemError for cars without it."""

    def wake(self) -> None:
        """Ask to be asked now, for something new was heard; call it in the event loop.

        Between two beats that is done once; what comes after it waits for the beat. It does nothing
        for an input that ``is_computed``.
        """


class Screen(Protocol):
    """Where whoever sits at an input sees the cars."""

    def size(self) -> tuple[int, int]:
        """Columns and rows."""

    def show(self, lines: Sequence[str]) -> None:
        """The whole screen, line by line, styled. Never waits."""


class Input(ABC):
    """Something that drives. ``source`` is under which name of the vehicle file it claims: set it
    by the end of ``open``. Only ``step`` has to be written."""

    source = "script"
    outlives_stops = False  # with nobody at the terminal it waits to be armed again, and goes on
    is_person = False  # a deadman in somebody's hand, which lets programs drive real cars, too
    is_computed = False  # it asks nothing but ``now_us`` and the cars: virtual time will do for it
    reads_terminal = False  # the keys of the terminal are its own: nobody else can read them
    lets_apart = False  # of a person's: lets a program drive by another grip than its own driving

    async def open(self, setting: Setting) -> None:  # noqa: B027 - most have nothing to do
        """Begin. Raises errors.TandemError for what cannot be driven so."""

    @abstractmethod
    def step(self, now_us: int, observed: Observed) -> Wish:
        """The wish at this moment. Called a hundred times a second, and when it woke the session;
        never waits."""

    def orders(self) -> Sequence[Order]:
        """Hand over what was asked for besides driving since the last call."""
        return ()

    def let_go(self) -> None:  # noqa: B027 - most have nothing to do
        """The drive was halted: the deadman has to be held anew."""

    def words(self, now_us: int) -> str:
        """Say what whoever drives has to know of it, in a sentence; "" if there is nothing."""
        return ""

    def hint(self, now_us: int) -> str:
        """Say, of a person's, what the hand has to do next."""
        return ""

    def progress_s(self) -> tuple[float, float] | None:
        """The time that is done, and the whole, where it has an end."""
        return None

    def report(self) -> Sequence[str]:
        """Say in lines what there is to tell of the whole drive, once that is over."""
        return ()

    def figures(self) -> Mapping[str, object]:
        """The same for a program, as JSON takes it."""
        return {}

    def screen(self) -> Screen | None:
        """Give, of a person's, what the cars are shown on, if it has one."""
        return None

    async def close(self) -> None:  # noqa: B027 - most have nothing to do
        """Give back whatever ``open`` took."""
