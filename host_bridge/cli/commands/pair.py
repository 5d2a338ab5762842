"""``tandem pair``: give a car and its runstop box a key of their own, by their cables."""

from __future__ import annotations

import argparse
import contextlib
import os
import secrets
import shlex
from collections.abc import Callable, Iterator

from host_bridge.cli.arguments.arg_types import whole
from host_bridge.config.boards import BoardType, load_board
from host_bridge.core import KnownCar
from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.core.system.running import run_async
from host_bridge.deploy.flash.board.board import BoardFacts, RawBoard
from host_bridge.deploy.flash.board.control_period import lengthen_control_period
from host_bridge.deploy.flash.board.pairing_key import (
    KEY,
    board_id_of,
    check,
    check_kind,
    refuse_heap_without_room,
    store,
)
from host_bridge.deploy.flash.board.repl import BAUD, ask_for_repl, raw_board
from host_bridge.deploy.flash.precheck import uri_of
from host_bridge.sharing.services import Host

EPILOG = """\
examples:
  tandem pair --car /dev/ttyACM0 --box /dev/ttyACM1 --name red
  tandem pair --car /dev/ttyACM0 --forget   it trusts no box any more, and needs none
  tandem pair --car /dev/ttyUSB0 --repl /dev/ttyACM0 --box /dev/ttyACM1   the car's link is a UART
  tandem pair --virtual box.key             for tandem sim nigel --key box.key, and runstop_box

Both are on cables at once, flashed, the car not armed. A key of 16 random bytes is written to each
at its REPL, read back by its hash, and then each is reset. From then on the car accepts a "run" of
this box alone; any box can still stop it. It needs this box, whatever its vehicle file says:
without it the car can be armed on a stand only, and the box's silence stops it. Only --forget ends
that: a key that was damaged, or came with another board's flash, is lost and not forgotten. No
message carries a key, this host keeps none, and a new key replaces the old one: a lost box is
replaced by pairing another. --name is the car's name in the stops of the box: "box of red". A car
whose steps are too slow with a box gets a longer control period, which is printed; after --forget,
"tandem config write CAR step_s=0.01" takes it back.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Give a car and its runstop box a key of their own."
    parser.epilog = EPILOG
    parser.add_argument("--car", metavar="PORT", help="the serial port of the car's board")
    parser.add_argument(
        "--repl", metavar="PORT", help="the port of the car's REPL, if its link is a UART"
    )
    parser.add_argument("--box", metavar="PORT", help="the serial port of the box's board")
    parser.add_argument("--name", default="", help="the car's name on the box, at most 9 letters")
    parser.add_argument("--forget", action="store_true", help="erase the key of the car")
    parser.add_argument("--virtual", metavar="FILE", help="write a key for a virtual car and box")
    parser.add_argument(
        "--baud", type=whole, default=BAUD, help="the baud rate of a REPL on a UART"
    )


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 once both hold the key. Raises errors.TandemError."""
    given = (bool(args.car), bool(args.box), bool(args.forget), bool(args.virtual))
    key = secrets.token_bytes(KEY)
    if given == (False, False, False, True):
        _write_virtual(args.virtual, key)
    elif given == (True, True, False, False):
        _pair(args, key, host)
    elif given == (True, False, True, False):
        _forget(args)
        print(
            f"{args.car} knows no runstop box any more; whether it needs one, its vehicle file says"
        )
    else:
        raise UsageFault(
            "the boards to pair are not named",
            expected="--car PORT --box PORT, or --car PORT --forget, or --virtual FILE",
            remedy="tandem pair --help has examples",
        )
    return 0


def _pair(args: argparse.Namespace, key: bytes, host: Host) -> None:
    """Give both the key, the car first.

    If the box fails after that, the car reports another key: anything can stop it, nothing can arm
    it. If the car's heap has no room for a key, that is refused before either is written to.
    """
    if args.box in (args.car, args.repl):
        raise UsageFault("one port is one board", expected="--car and --box, two ports")
    with raw_board(args.box, args.baud) as board:
        check(board, args.box, "box")
    with _car_board(args) as board:
        check(board, args.car, "car")
        name = refuse_heap_without_room(board, args.car)
        facts = board.facts()
    with _car_board(args) as board:
        _give(board, args.car, "car", key, args.name)
    with raw_board(args.box, args.baud) as board:
        _give(board, args.box, "box", key, args.name)
    print(f"{args.car} believes the run of the box at {args.box} from now on, and of no other")
    print("it is armed without this box on a stand only; tandem pair --forget ends that")
    if name:
        run_async(_lengthen(args.car, host, load_board(name), facts))


async def _lengthen(port: str, host: Host, board: BoardType, facts: BoardFacts) -> int:
    """Lengthen the car's control period if needed, for a box's messages take time in its steps.

    Raises errors.TandemError.
    """
    release, expected_car = (
        ".".join(map(str, facts.version)),
        KnownCar(board_id_of(facts.unique_id)),
    )
    message = await lengthen_control_period(uri_of(port), host, board, release, expected_car)
    if message:
        print(message)
    return 0


@contextlib.contextmanager
def _car_board(args: argparse.Namespace) -> Iterator[RawBoard]:
    """Yield the car's board at its REPL, which is the port of its link unless that is a UART."""
    if args.repl not in (None, args.car):
        ask_for_repl(args.car)
    with raw_board(args.repl or args.car, args.baud) as board:
        yield board


def _give(board: RawBoard, port: str, kind: str, key: bytes, name: str) -> None:
    check(board, port, kind)
    store(board, key, name)


def _forget(args: argparse.Namespace) -> None:
    """Erase the car's key. A board without a cipher can use no key, but may have one to erase."""
    with _car_board(args) as board:
        check_kind(board, args.car, "car")
        store(board, bytes(KEY), "")


def _write_virtual(path: str, key: bytes) -> None:
    opener: Callable[[str, int], int] = lambda name, flags: os.open(name, flags, 0o600)  # noqa: E731
    try:
        with open(path, "x", opener=opener) as made:
            made.write(key.hex() + "\n")
    except OSError as error:
        raise DataFileFault(
            "the key was not written",
            where=path,
            got=error.strerror or str(error),
            remedy="a file that is there is left alone: name another one",
        ) from None
    file = shlex.quote(path)
    print(f"{path}: tandem sim VEHICLE --key {file}, and tandem sim runstop_box --key {file}")
