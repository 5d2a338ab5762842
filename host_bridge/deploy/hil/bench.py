"""A board on a bench: its ports, its raw REPL, its car, and its identity."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from host_bridge.core.errors import DeviceFault
from host_bridge.deploy.flash.board.board import RawBoard
from host_bridge.deploy.flash.board.repl import ask_for_repl, raw_board
from host_bridge.deploy.flash.program.flattening import text_for_board
from host_bridge.deploy.hil.host.paced_car import PacedCar, SameBoardCheck
from host_bridge.deploy.hil.host.port import NoAnswer, Port
from host_bridge.deploy.hil.report.limits import judged
from host_bridge.deploy.hil.report.report import Measurement

FOLDER = Path(__file__).with_name("on_board")
_BACK_S = 20.0  # a reset, the mounting of a file system, an RP2040's imports
_PACE_BEATS = 50  # half a second of a board's messages: the speed of its clock by ours


class HilBench:
    """The board's ports, and a factor for time limits.

    ``repl`` is the same port as ``link`` unless the link is a UART.
    """

    def __init__(
        self, link: str, repl: str, baud: int, patience: float, progress: Callable[[str], None]
    ) -> None:
        self.link, self.repl, self.baud = link, repl, baud
        self.patience, self.progress = patience, progress
        self.same_board = SameBoardCheck()

    @contextlib.contextmanager
    def board(self) -> Iterator[RawBoard]:
        """Yield the board at its raw REPL; reset it on leaving.

        A UART link is asked for the REPL first.
        """
        if self.repl != self.link:
            ask_for_repl(self.link, self.baud)
        with raw_board(self.repl, within_s=_BACK_S * self.patience) as board:
            yield board

    @contextlib.contextmanager
    def car(self, speed_mm_s: int, line: Any = None) -> Iterator[PacedCar]:
        """Yield the car at the link once its port is there; Ctrl-C stops it. Raises NoAnswer."""
        port = self._port(line if self.repl == self.link else None)
        car = PacedCar(port, speed_mm_s, self.progress, self.same_board)
        try:
            yield car
        except (KeyboardInterrupt, GeneratorExit):  # an interruption must leave no car armed
            with contextlib.suppress(NoAnswer, OSError):
                car.halt()
            raise
        finally:
            if line is None or self.repl != self.link:
                port.close()

    def _port(self, line: Any) -> Port:
        give_up_s = time.monotonic() + _BACK_S * self.patience
        while True:
            try:
                return Port(self.link, self.baud, self.patience, line)
            except OSError:
                if time.monotonic() > give_up_s:
                    raise
                # between two tries: a port takes some tenths of a second to come back
                time.sleep(0.1)


def facts(bench: HilBench) -> Iterator[tuple[dict[str, Any], Measurement]]:
    """Yield the board's own facts, and how long its REPL took, in seconds of the car's time.

    Only this host sees both ends of that. For a board slower than real time it is scaled by how
    much of its time passed in each of the host's seconds just before.
    """
    pace = _pace(bench)
    begun_s = time.monotonic()
    with bench.board() as board:
        took_s = (time.monotonic() - begun_s) * pace
        it, slots = board.facts(), board.slots()
        folder = slot_of(board)
        program = _program_hash(board, folder)
        found = {
            "machine": it.machine,
            "micropython": ".".join(map(str, it.version)),
            "chip_id": it.unique_id.hex(),
            "slot": folder,
            "is_on_trial": bool(slots and slots.is_on_trial),
            "program_hash": program,
        }
    how = "asked, entered, soft reset, its helpers understood"
    clock = f"this host's clock, {pace:.2f} s of the car's in each second"
    yield found, judged("repl", took_s, how, clock)


def _pace(bench: HilBench) -> float:
    """Return how much of the car's time passes in a second here: 1 for a real board.

    It is 1 too for a board that reports nothing, as when its REPL is open already.
    """
    with bench.car(0) as car, contextlib.suppress(NoAnswer):
        car.port.catch_up()
        for _ in range(_PACE_BEATS):
            car.port.advance(0)
        return min(car.port.us_per_s() / 1e6, 1.0)
    return 1.0


def _program_hash(board: RawBoard, folder: str) -> str:
    """Return the program's hash, as ``flash.build`` computes it."""
    lines = [f"{path} {digest}\n" for path, digest in sorted(board.hashes(folder).items())]
    program = "".join(line for line in lines if not line.startswith("config_"))
    return hashlib.sha256(program.encode()).hexdigest()[:16]


def slot_of(board: RawBoard) -> str:
    """Return the folder of the slot that runs. Raises DeviceFault if there is no launcher."""
    slots = board.slots()
    if slots is None:
        raise DeviceFault(
            "there is no car's program on this board",
            where=board.where,
            expected="a launcher and its slots",
            got="MicroPython alone",
            remedy="tandem flash it, or give --vehicle and --board here",
        )
    return f"/{'ab'[slots.slot]}"


def program(name: str, **names: object) -> str:
    """Return a program of ``on_board`` for a flashed board, with these names set before it."""
    heads = "".join(f"{key} = {value!r}\n" for key, value in names.items())
    return heads + text_for_board((FOLDER / f"{name}.py").read_text())
