"""All errors, in one tree. Imports nothing of ours.

Every error says what is wrong, where, what was expected, what was found, and what to do next. The
exit code of a command follows from the class; ``EXIT_CODES`` is the whole table.
"""

from __future__ import annotations

TYPE_CHECKING = False  # importing typing would delay tandem stop
if TYPE_CHECKING:
    from typing import ClassVar

# Exit code of a command that Ctrl-C ended, as shells count: 128 and the number of SIGINT
INTERRUPTED = 130


class TandemError(Exception):
    """The root of the tree. Fields that do not apply are empty, and are not shown."""

    exit_code: ClassVar[int] = 1
    meaning: ClassVar[str] = "something failed; the message says what"

    def __init__(
        self, what: str, *, where: str = "", expected: str = "", got: str = "", remedy: str = ""
    ) -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.expected = expected
        self.got = got
        self.remedy = remedy

    def __str__(self) -> str:
        head = f"{self.where}: {self.what}" if self.where else self.what
        rest = (("expected", self.expected), ("got", self.got), ("remedy", self.remedy))
        return "\n".join([head, *(f"  {name}: {text}" for name, text in rest if text)])

    def sentences(self) -> str:
        """Return what is wrong and what to do, for people who see beside it which car it is."""
        words = filter(None, (self.what, self.remedy))
        return " ".join(f"{it[0].upper()}{it[1:]}{'' if it[-1] in '.?' else '.'}" for it in words)


class NotHeldFault(TandemError):
    """A number or a promise that a command checks, and that did not hold."""

    exit_code = 1
    meaning = "a number or promise that was to be shown did not hold"


class UsageFault(TandemError):
    """A command line, URI or call that is invalid."""

    exit_code = 2
    meaning = "the command line or a URI is wrong"


class DeviceFault(TandemError):
    """A device, port or owner of a car that is missing, busy, forbidden or gone."""

    exit_code = 3
    meaning = "a device or the owner of a car is missing, busy, forbidden or gone"


class AnotherCarFault(DeviceFault):
    """Another car is there than the one that is meant; ``what`` names both."""


class ProtocolFault(TandemError):
    """The far end does not speak Tandem, or speaks another version of it."""

    exit_code = 4
    meaning = "the far end does not speak Tandem, or another version"


class VehicleFileFault(TandemError):
    """A vehicle, board or calibration file that is invalid."""

    exit_code = 5
    meaning = "a vehicle, board or calibration file is not right"


class RefusedFault(TandemError):
    """The car refused what was asked of it."""

    exit_code = 6
    meaning = "the car refused"


class OverrunFault(RefusedFault):
    """Cars were not armed because their steps overrun the control period; a longer one would do.

    ``cars`` are their names for commands, ``boards`` the ids of their boards.
    """

    cars: tuple[str, ...] = ()
    boards: tuple[bytes, ...] = ()


class DataFileFault(TandemError):
    """A command file or a log that is invalid, or cannot be read or written."""

    exit_code = 7
    meaning = "a file of commands or a log is not what it should be"

    @classmethod
    def unreadable(cls, path: object, error: OSError) -> DataFileFault:
        """Return the fault for a file that the system cannot read."""
        is_folder = isinstance(error, IsADirectoryError)
        got = "a folder" if is_folder else error.strerror or str(error)
        remedy = "name a file in it" if is_folder else "is its name right?"
        return cls("cannot be read", where=str(path), got=got, remedy=remedy)

    @classmethod
    def unwritable(cls, what: str, path: object, error: OSError) -> DataFileFault:
        """Return the fault for a file that the system cannot write; ``what`` is its kind."""
        return cls(
            f"{what} cannot be written",
            where=str(path),
            got=error.strerror or str(error),
            remedy="choose another file, in a folder that exists and has room",
        )

    @classmethod
    def in_the_way(cls, path: object) -> DataFileFault:
        """Return the fault for a file that exists already: none is ever overwritten."""
        return cls(
            "there is such a file already, and none is overwritten",
            where=str(path),
            expected="a name that is free",
            got="a file that would be lost",
            remedy="give another name or folder, or move that file away",
        )


class NotShownFault(TandemError):
    """A check without a verdict.

    Nothing failed, but the machine was too late or evidence is missing.
    """

    exit_code = 8
    meaning = "nothing failed, but something could not be judged: too busy a machine, no evidence"


_FAULTS = (
    NotHeldFault,
    UsageFault,
    DeviceFault,
    ProtocolFault,
    VehicleFileFault,
    RefusedFault,
    DataFileFault,
    NotShownFault,
)
EXIT_CODES: tuple[tuple[int, str], ...] = (
    (0, "done, and every number held"),
    *((fault.exit_code, fault.meaning) for fault in _FAULTS),
)
