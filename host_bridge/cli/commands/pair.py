"""``tandem pair``: give a car and its runstop box a key of their own, by their cables."""

from __future__ import annotations

import argparse
import binascii
import os
import secrets
from collections.abc import Callable
from typing import cast

from host_bridge.config.boards import Board, board_names, load_board
from host_bridge.config.store import Host
from host_bridge.core import KnownCar
from host_bridge.core.errors import DataFileFault, NotHeldFault, RefusedFault, UsageFault
from host_bridge.core.system.running import run_async
from host_bridge.deploy.flash.board.board import BoardFacts, RawBoard
from host_bridge.deploy.flash.board.control_period import lengthened
from host_bridge.deploy.flash.board.heap import refuse_too_little
from host_bridge.deploy.flash.board.repl import BAUD, raw_board
from host_bridge.deploy.flash.precheck import uri_of

EPILOG = """\
examples:
  tandem pair --car /dev/ttyACM0 --box /dev/ttyACM1 --name red
  tandem pair --car /dev/ttyACM0 --forget   it believes no box any more, and needs none
  tandem pair --virtual box.key             for tandem sim nigel --key box.key, and runstop_box

Both are on cables at once, flashed, the car not armed. A key of 16 random bytes is written to each
at its REPL, read back by its hash, and then each is reset. From then on the car believes a "run" of
this box alone; any box can still stop it. And it needs this box, whatever its vehicle file says:
without it it is armed on a stand only, and the box's silence stops it. Nothing but --forget ends
that: a key that was damaged, or came with another board's flash, is lost and not forgotten. No
message brings or says a key, this host keeps none, and a new one takes the place of the old: a box
that is lost is replaced by pairing another. --name is what the box calls its car in a stop: "box of
red". A car whose steps do not hold their beat with a box's words is given a longer one, and that is
said; after --forget, "tandem config write CAR step_s=0.01" takes it back.
"""
# From firmware/boards/keys.py and store.py
PATHS = ("/key_a.bin", "/key_b.bin")
KEY, BOARD_ID, NAME = 16, 8, 16
_KINDS = {"car": "a car", "box": "a runstop box"}
_ASK_KIND = """
try:
 sys.path.insert(0, _starts().folder)
 import pins
 print(repr(pins.PROGRAM))
except (AttributeError, ImportError):
 print("None")
"""
_ASK_WIRING = """
import pins
print(repr((pins.BOARD, pins.VEHICLE)))
"""
_ASK_CIPHER = """
try:
 import cryptolib
 print("True")
except ImportError:
 print("False")
"""
_ASK_KEY = f"""
_found = False
for _path in {PATHS}:
 try:
  with open(_path, "rb") as _file:
   _found = _found or any(_file.read()[4:{4 + KEY}])
 except OSError:
  pass
print(repr(_found))
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Give a car and its runstop box a key of their own."
    parser.epilog = EPILOG
    parser.add_argument("--car", metavar="PORT", help="the serial port of the car's board")
    parser.add_argument("--box", metavar="PORT", help="the serial port of the box's board")
    parser.add_argument("--name", default="", help="what the box calls its car, 9 letters or less")
    parser.add_argument("--forget", action="store_true", help="the car is to have no key any more")
    parser.add_argument("--virtual", metavar="FILE", help="write a key for a virtual car and box")
    parser.add_argument("--baud", type=int, default=BAUD, help="of a REPL on a UART")


def run(args: argparse.Namespace, host: Host) -> int:
    """Return 0 once both hold the key. Raises errors.TandemError."""
    given = (bool(args.car), bool(args.box), bool(args.forget), bool(args.virtual))
    key = secrets.token_bytes(KEY)
    if given == (False, False, False, True):
        _write_virtual(args.virtual, key)
    elif given == (True, True, False, False):
        _pair(args, key, host)
    elif given == (True, False, True, False):
        _forget(args.car, args.baud)
        print(
            f"{args.car} knows no runstop box any more; whether it needs one, its vehicle file says"
        )
    else:
        raise UsageFault(
            "what is to be paired?",
            expected="--car PORT --box PORT, or --car PORT --forget, or --virtual FILE",
            remedy="tandem pair --help has examples",
        )
    return 0


def _pair(args: argparse.Namespace, key: bytes, host: Host) -> None:
    """Give both the key, the car first.

    If the box fails after that, the car reports another key: anything can stop it, nothing can arm
    it. If the car's heap has no room for a key, that is refused before either is written to.
    """
    if args.car == args.box:
        raise UsageFault("one port is one board", expected="--car and --box, two ports")
    with raw_board(args.box, args.baud) as board:
        check(board, args.box, "box")
    with raw_board(args.car, args.baud) as board:
        check(board, args.car, "car")
        name = refuse_too_little_heap(board, args.car)
        facts = board.facts()
    _give(args.car, args.baud, "car", key, args.name)
    _give(args.box, args.baud, "box", key, args.name)
    print(f"{args.car} believes the run of the box at {args.box} from now on, and of no other")
    print("it is armed without this box on a stand only; tandem pair --forget ends that")
    if name:
        run_async(_lengthen(args.car, host, load_board(name), facts))


async def _lengthen(port: str, host: Host, board: Board, facts: BoardFacts) -> int:
    """Lengthen the car's control period if needed, for a box's messages take time in its steps.

    Raises errors.TandemError.
    """
    release, meant = ".".join(map(str, facts.version)), KnownCar(folded(facts.unique_id))
    said = await lengthened(uri_of(port), host, board, release, meant)
    if said:
        print(said)
    return 0


def refuse_too_little_heap(board: RawBoard, port: str) -> str:
    """Return the name of the car's board, "" for one that Tandem does not know.

    Raises errors.RefusedFault if a key would leave the car too little heap to start.
    """
    name, wiring = cast(tuple[str, str], board.asked(_ASK_WIRING))
    if name not in board_names():
        return ""
    refuse_too_little(load_board(name), wiring, board.facts(), True, port)
    return name


def _give(port: str, baud: int, kind: str, key: bytes, name: str) -> None:
    with raw_board(port, baud) as board:
        check(board, port, kind)
        store(board, key, name)


def _forget(port: str, baud: int) -> None:
    """Erase the car's key. A board without a cipher can use no key, but may have one to erase."""
    with raw_board(port, baud) as board:
        check_kind(board, port, "car")
        store(board, bytes(KEY), "")


def check_kind(board: RawBoard, port: str, kind: str) -> None:
    """Raise errors.RefusedFault for a board of another kind."""
    found = board.asked(_ASK_KIND)
    if found != kind:
        raise RefusedFault(
            f"this is no board with {_KINDS[kind]}'s program",
            where=port,
            expected=_KINDS[kind],
            got=_KINDS.get(str(found), "neither a car's nor a box's program"),
            remedy="swap --car and --box, or tandem flash it first",
        )


def check(board: RawBoard, port: str, kind: str) -> None:
    """Raise errors.RefusedFault for a board of another kind, or one that cannot use a key."""
    check_kind(board, port, kind)
    if not board.asked(_ASK_CIPHER):
        raise RefusedFault(
            "its MicroPython has no AES, so it can know no key",
            where=port,
            expected="the module cryptolib",
            remedy="put a MicroPython on it that has it (tandem flash --runtime FILE), or use the "
            "runstop loop or the receiver instead of a box",
        )


def has_key(board: RawBoard) -> bool:
    """Return whether a key is on the board; the key itself is not read."""
    return bool(board.asked(_ASK_KEY))


def store(board: RawBoard, key: bytes, name: str) -> None:
    """Write both files, so that no damaged one brings an old key back.

    Raises errors.NotHeldFault.
    """
    image = key + folded(board.facts().unique_id) + _padded(name)
    for path in PATHS:
        data = framed(image)
        board.replace(path, data)
        if not board.has(path, data):
            raise NotHeldFault(
                "the key that was read back is not the key that was written",
                where=board.where,
                remedy="say it again; if it stays so, the board's flash is worn",
            )


def framed(image: bytes) -> bytes:
    """Return a file in the format of firmware/boards/store.py, with counter 1."""
    data = (1).to_bytes(4, "little") + image
    return data + binascii.crc32(data).to_bytes(4, "little")


def folded(chip_id: bytes) -> bytes:
    """Return the board's id: the chip's id, folded as firmware/boards/keys.py does it."""
    found = bytearray(BOARD_ID)
    for at, byte in enumerate(chip_id):
        found[at % BOARD_ID] ^= byte
    return bytes(found)


def _padded(name: str) -> bytes:
    return name.encode()[:NAME].decode(errors="ignore").encode().ljust(NAME, b"\0")


def _write_virtual(path: str, key: bytes) -> None:
    opener: Callable[[str, int], int] = lambda name, flags: os.open(name, flags, 0o600)  # noqa: E731
    try:
        with open(path, "x", opener=opener) as file:
            file.write(key.hex() + "\n")
    except OSError as error:
        raise DataFileFault(
            "the key was not written",
            where=path,
            got=error.strerror or str(error),
            remedy="a file that is there is left alone: name another one",
        ) from None
    print(f"{path}: tandem sim VEHICLE --key {path}, and tandem sim runstop_box --key {path}")
