"""The ``tandem`` command: a table of commands, each imported by its name only when it runs.

Each has a module of its own in ``commands/``, which offers ``add_arguments(parser)`` and
``run(args, host) -> int``; the first paragraph of its docstring describes it, the rest is shown
below the options.
"""

from __future__ import annotations

import errno
import os
import sys
from importlib import import_module

from host_bridge.core.errors import INTERRUPTED, DataFileFault, DeviceFault, TandemError, UsageFault
from host_bridge.core.system.printable import PrintableOutput

TYPE_CHECKING = False  # importing typing takes 3 ms, too long for tandem stop
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from types import ModuleType

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class CommandRow:
    """One row of the table of commands.

    A light command runs without the host's services, to start fast. One whose cars are all virtual
    runs as machine code where that is built.
    """

    def __init__(
        self,
        name: str,
        group: str,
        summary: str,
        *,
        is_light: bool = False,
        is_all_virtual: bool = False,
    ) -> None:
        self.name = name
        self.group = group
        self.summary = summary
        self.is_light = is_light
        self.is_all_virtual = is_all_virtual

    @property
    def module(self) -> str:
        """The command's own module, which is named as the command is."""
        return f"host_bridge.cli.commands.{self.name.replace('-', '_')}"


DRIVE = "Drive"
WATCH = "Watch"
STOP = "Stop and permit"
BOARDS = "Boards and parts"
TWINS = "Twins and tests"
LOGS = "Logs and calibration"
PROGRAMS = "Programs and ROS"
MACHINE = "This machine"
COMMANDS = (
    CommandRow("drive", DRIVE, "drive a car, and its twins, from this terminal"),
    CommandRow("station", DRIVE, "open a page: every car, one big stop, a seat, plots"),
    CommandRow("follow", DRIVE, "let twins follow a car that its RC drives"),
    CommandRow("pads", DRIVE, "list, try, map and test gamepads and wheels"),
    CommandRow("path", DRIVE, "make a path of a drive or a map, and compare drives with it"),
    CommandRow("map", DRIVE, "make a map of a drive with a LIDAR"),
    CommandRow("localise", DRIVE, "find a car in a map by its LIDAR"),
    CommandRow("monitor", WATCH, "show what cars do, live, and why they stopped"),
    CommandRow("cars", WATCH, "list the cars that are served now"),
    CommandRow("serve", WATCH, "own a car's line, and share it with every command"),
    CommandRow("invite", WATCH, "make a token to reach a car over the network"),
    CommandRow("accept", WATCH, "keep a token that somebody gave you"),
    CommandRow("guests", WATCH, "list who was invited to a car, and revoke it"),
    CommandRow("attest", WATCH, "say that a car stands off the ground, for a guest"),
    CommandRow("linktest", WATCH, "measure a network as a car that is driven over it feels it"),
    CommandRow("stop", STOP, "stop cars, now", is_light=True),
    CommandRow("arm", STOP, "let a car drive, once someone holds its deadman"),
    CommandRow("clear", STOP, "clear a stop or a fault whose cause is gone"),
    CommandRow("disarm", STOP, "take back the permission to drive of a car that stands"),
    CommandRow("stop-source", STOP, "let a program of yours stop a car, and never move it"),
    CommandRow("cap", STOP, "limit a car's speed, whoever drives it"),
    CommandRow("vehicles", BOARDS, "list the types of car, and check them against boards"),
    CommandRow("config", BOARDS, "show, read, write or compare a car's configuration"),
    CommandRow("identify", BOARDS, "show what is at each port: car, board, versions"),
    CommandRow("flash", BOARDS, "put the car's program onto a board, verified"),
    CommandRow("pair", BOARDS, "pair a runstop box with its car, by their cables"),
    CommandRow("hil", BOARDS, "measure a board on a bench; the result is one file"),
    CommandRow("selftest", BOARDS, "test a car on blocks: sensors, wheels, runstop"),
    CommandRow("trim", BOARDS, "set where straight ahead and standing still are"),
    CommandRow("backup", BOARDS, "write a car's configuration and pairing to a file"),
    CommandRow("restore", BOARDS, "write such a file back onto a car"),
    CommandRow("sim", TWINS, "run a virtual car alone, behind a serial port"),
    CommandRow("demo", TWINS, "let two cars drive together and stop, with numbers"),
    CommandRow("faults", TWINS, "inject every known fault into virtual cars"),
    CommandRow(
        "campaign", TWINS, "compute thousands of drives, and judge them", is_all_virtual=True
    ),
    CommandRow("record", LOGS, "log every byte to and from a car"),
    CommandRow("log", LOGS, "show what a log holds, or write it as tables"),
    CommandRow("replay", LOGS, "replay a log on a twin, and show how far apart they are"),
    CommandRow("why", LOGS, "say what stopped a car, and what each cause cost in metres"),
    CommandRow("calibrate", LOGS, "find a car's numbers in the logs of its drives"),
    CommandRow("ros", PROGRAMS, "connect a car to ROS 2, in the topics of F1TENTH and others"),
    CommandRow("planning-simulator", PROGRAMS, "be Autoware's simple_planning_simulator"),
    CommandRow("mavlink", PROGRAMS, "be a MAVLink rover for QGroundControl, MAVProxy, MAVSDK"),
    CommandRow("devkit", PROGRAMS, "let an AutoDRIVE Devkit script drive a car"),
    CommandRow("completion", MACHINE, "print the completion script for bash, zsh or fish"),
    CommandRow("doctor", MACHINE, "show what is missing or in the way on this machine"),
)
_BY_NAME = {command.name: command for command in COMMANDS}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code (``errors.EXIT_CODES``)."""
    words = list(sys.argv[1:] if argv is None else argv)
    with PrintableOutput():
        return _main(words)


def _main(words: list[str]) -> int:
    try:
        code = _run(words)
        if sys.stdout is not None:  # as it is where whoever started this has closed it
            sys.stdout.flush()
        return code
    except TandemError as error:
        return _print_error(error)
    except ImportError as error:  # TANDEM_FAST's has no name, and says itself what to do
        remedy = "make setup in a clone, else pip, installs what is missing" if error.name else ""
        return _print_error(DeviceFault(str(error), remedy=remedy))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # `tandem monitor | head`: nobody reads any more
        _print_no_more()
        return 0
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        _print_no_more()
        what = "there is no room for what is printed or written"
        return _print_error(DataFileFault(what, got=str(error), remedy="free some on that disk"))


def _print_no_more() -> None:
    """Drop what is left to print, which Python tries to write once more at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print_error(error: TandemError) -> int:
    text = f"tandem: {error}"
    if ".md" in text:
        from host_bridge.cli.output.page_places import with_pages  # a stop has no time for it

        text = with_pages(text)
    print(text, file=sys.stderr)
    return error.exit_code


def _run(words: list[str]) -> int:
    if not words or words[0] in ("-h", "--help", "help"):
        print(overview())
        return 0
    if words[0] in ("-V", "--version"):
        print(f"tandem {version()}")
        return 0
    if words == ["stop"]:
        from host_bridge.cli.commands.stop import stop_all  # without argparse, which takes 5 ms

        return stop_all()
    words = _trusting(words)
    command = find(words[0])
    if command.is_all_virtual or "--lockstep" in words:
        from sim_mock.runtime import compiled

        compiled.use_if_built()  # before the command imports what is compiled
    module = import_module(command.module)
    args = parser_of(command, module).parse_args(words[1:])
    args.command = command.name
    return int(module.run(args, None if command.is_light else _host()))


def _trusting(words: list[str]) -> list[str]:
    """Trust each ``--trust-code FILE``, which every command takes; return the other words."""
    while "--trust-code" in words[1:]:
        at = words.index("--trust-code", 1)
        if at + 1 == len(words):
            raise UsageFault("--trust-code needs a file", expected="--trust-code MODEL.yaml")
        from host_bridge.cars.virtual_cars import trust_code

        trust_code(words[at + 1])
        words = words[:at] + words[at + 2 :]
    return words


def find(name: str) -> CommandRow:
    """Return the command of this name. Raises errors.UsageFault that suggests the nearest name."""
    if name in _BY_NAME:
        return _BY_NAME[name]
    import difflib

    near = difflib.get_close_matches(name, _BY_NAME, 1)
    raise UsageFault(
        f"unknown command {name!r}",
        expected=f"one of {', '.join(_BY_NAME)}",
        remedy=f"did you mean tandem {near[0]}?" if near else "tandem --help lists them",
    )


def parser_of(command: CommandRow, module: ModuleType) -> argparse.ArgumentParser:
    """Return the command's own parser, with its text taken from the module's docstring."""
    import argparse

    from host_bridge.cli.arguments.command_parser import CommandParser

    head, _, rest = (module.__doc__ or command.summary).partition("\n\n")
    parser = CommandParser(
        prog=f"tandem {command.name}",
        description=head,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=command.name)
    module.add_arguments(parser)
    return parser


def overview() -> str:
    """Return the usage text that ``tandem`` alone prints: all commands, by group."""
    width = max(len(command.name) for command in COMMANDS)
    lines: list[str] = []
    group = ""
    for command in COMMANDS:
        if command.group != group:
            group = command.group
            lines += ["", f"{group}:"]
        lines.append(f"  {command.name:{width}} {command.summary}")
    listed = "\n".join(lines)
    return (
        "usage: tandem COMMAND ...\n\nDrives real and virtual cars together.\n"
        f"{listed}\n\n"
        "A car is a name that tandem cars lists, or a URI: serial:///dev/ttyACM0, sim://nigel.\n"
        "tandem COMMAND --help shows options and examples.\n"
        "--trust-code FILE, with any of them: a virtual car's model file may bring Python code of\n"
        "its own, which runs with all that you may do; only files that you name so are followed."
    )


def version() -> str:
    """Return the version of the installed distribution."""
    from importlib.metadata import version as version_of  # 30 ms, too long for a stop

    return version_of("tandem-cars")


def _host() -> object:
    from host_bridge.sharing.services import (
        make_host,  # imports asyncio, which a stop does not need
    )

    return make_host()


if __name__ == "__main__":
    sys.exit(main())
