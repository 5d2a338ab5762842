"""The ``tandem`` command: a table of commands, each imported by its name only when it runs.

A command's module offers ``add_arguments(parser)`` and ``run(args, host) -> int``; the first
paragraph of its docstring describes it, the rest is shown below the options.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module

from host_bridge.core.errors import DeviceFault, TandemError, UsageFault
from host_bridge.core.system.printable import PrintableOutput

TYPE_CHECKING = False  # importing typing takes 3 ms, too long for tandem stop
if TYPE_CHECKING:
    import argparse
    from collections.abc import Sequence
    from types import ModuleType

INTERRUPTED = 130  # the shells' convention: 128 plus the number of SIGINT


class Command:
    """One line of the overview.

    A light command runs without the host's services, to start fast.
    """

    def __init__(self, name: str, module: str, summary: str, is_light: bool = False) -> None:
        self.name = name
        self.module = module
        self.summary = summary
        self.is_light = is_light


_CLI = "host_bridge.cli.commands"
COMMANDS = (
    Command("stop", "host_bridge.cli.commands.stop", "stop cars, now", is_light=True),
    Command("demo", "host_bridge.cli.commands.demo", "two cars drive and stop, with numbers"),
    Command("drive", f"{_CLI}.drive", "drive a car, and its twins, from this terminal"),
    Command("follow", f"{_CLI}.follow", "let twins follow a car that its RC drives"),
    Command("devkit", f"{_CLI}.devkit", "let an AutoDRIVE Devkit script drive a car"),
    Command("ros", f"{_CLI}.ros", "a car in ROS 2's topics, as F1TENTH's stack has them"),
    Command(
        "planning-simulator",
        f"{_CLI}.planning_simulator",
        "be Autoware's simple_planning_simulator",
    ),
    Command(
        "arm",
        "host_bridge.cli.car_actions.request",
        "let a car drive, once someone holds its deadman",
    ),
    Command("clear", "host_bridge.cli.car_actions.request", "forget a stop whose cause is gone"),
    Command("disarm", "host_bridge.cli.car_actions.request", "from HOLD back to STANDBY"),
    Command("cap", f"{_CLI}.cap", "limit a car's speed, whoever drives it"),
    Command("pads", f"{_CLI}.pads", "gamepads and wheels: list, try, map, test"),
    Command("station", f"{_CLI}.station", "a page: every car, one big stop, a seat"),
    Command("monitor", f"{_CLI}.monitor", "what cars do, live, and why they stopped"),
    Command("serve", f"{_CLI}.serve", "own a car's line, and share it with every command"),
    Command("record", f"{_CLI}.record", "log every byte to and from a car"),
    Command("cars", f"{_CLI}.cars", "the cars that are served now"),
    Command("vehicles", f"{_CLI}.vehicles", "the types of car there are"),
    Command("config", f"{_CLI}.config", "show, read, write or compare a car's configuration"),
    Command(
        "identify",
        "host_bridge.cli.commands.identify",
        "what is at each port: car, board, versions",
    ),
    Command("flash", "host_bridge.cli.commands.flash", "the car's program onto a board, verified"),
    Command("pair", "host_bridge.cli.commands.pair", "a runstop box with its car, by their cables"),
    Command(
        "hil", "host_bridge.cli.commands.hil", "a board on a bench, measured; one file to send"
    ),
    Command(
        "selftest", "host_bridge.cli.commands.selftest", "a car on blocks: sensors, wheels, runstop"
    ),
    Command("path", f"{_CLI}.path", "a path of a drive or a map, and how well it was driven"),
    Command("trim", f"{_CLI}.trim", "where straight ahead and standing still are"),
    Command("backup", f"{_CLI}.backup", "a car's numbers and pairing to a file"),
    Command("restore", f"{_CLI}.backup", "and back onto a car"),
    Command("sim", f"{_CLI}.sim", "a virtual car alone, behind a serial port"),
    Command("log", f"{_CLI}.log", "what a log holds"),
    Command(
        "replay", f"{_CLI}.replay", "a log against the twin of its car, and how far that is off"
    ),
    Command("calibrate", f"{_CLI}.calibrate", "a car's numbers, out of logs of its drives"),
    Command("faults", f"{_CLI}.faults", "what goes wrong elsewhere, done to virtual cars"),
    Command(
        "completion",
        "host_bridge.cli.commands.completion",
        "let bash, zsh or fish complete all this",
    ),
    Command("doctor", f"{_CLI}.doctor", "what is missing or in the way on this machine"),
)
_BY_NAME = {command.name: command for command in COMMANDS}


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; return the exit code (``errors.EXIT_CODES``)."""
    words = list(sys.argv[1:] if argv is None else argv)
    with PrintableOutput():
        return _main(words)


def _main(words: list[str]) -> int:
    try:
        return _run(words)
    except TandemError as error:
        return _told(error)
    except ImportError as error:  # TANDEM_FAST's has no name, and says itself what to do
        remedy = "make setup installs what is missing" if error.name else ""
        return _told(DeviceFault(str(error), remedy=remedy))
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # `tandem monitor | head`: nobody reads any more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def _told(error: TandemError) -> int:
    print(f"tandem: {error}", file=sys.stderr)
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
    module = import_module(command.module)
    args = parser_of(command, module).parse_args(words[1:])
    args.command = command.name
    return int(module.run(args, None if command.is_light else _host()))


def _trusting(words: list[str]) -> list[str]:
    """Trust each ``--trust-code FILE``, which every command takes; return the other words."""
    while "--trust-code" in words[1:]:
        at = words.index("--trust-code", 1)
        if at + 1 == len(words):
            raise UsageFault("--trust-code: which file?", expected="--trust-code MODEL.yaml")
        from host_bridge.cars.virtual_cars import trust_code

        trust_code(words[at + 1])
        words = words[:at] + words[at + 2 :]
    return words


def find(name: str) -> Command:
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


def parser_of(command: Command, module: ModuleType) -> argparse.ArgumentParser:
    """Return the command's own parser, with its text taken from the module's docstring."""
    import argparse

    head, _, rest = (module.__doc__ or command.summary).partition("\n\n")
    parser = argparse.ArgumentParser(
        prog=f"tandem {command.name}",
        description=head,
        epilog=rest,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(command=command.name)
    module.add_arguments(parser)
    return parser


def overview() -> str:
    """Return the usage text that ``tandem`` alone prints."""
    lines = "\n".join(f"  {command.name:9} {command.summary}" for command in COMMANDS)
    return (
        "usage: tandem COMMAND ...\n\nDrives real and virtual cars together.\n\n"
        f"{lines}\n\n"
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
    from host_bridge.config.store import make_host  # imports asyncio, which a stop does not need

    return make_host()


if __name__ == "__main__":
    sys.exit(main())
