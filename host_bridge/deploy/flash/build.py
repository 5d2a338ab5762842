"""The files for a board, made and checked before the board is touched."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

from firmware.manifest import NOT_DEPLOYED
from host_bridge.config.boards import BoardType, load_board, pin_module
from host_bridge.config.boards.pins.checking import load_needs
from host_bridge.config.vehicle.image import own_table_hash
from host_bridge.core import Vehicle
from host_bridge.core.errors import RefusedFault
from host_bridge.deploy.flash.board.board import OLDEST, BoardFacts
from host_bridge.deploy.flash.program.constant_folding import fold_constants
from host_bridge.deploy.flash.program.flattening import flattened
from host_bridge.deploy.flash.program.image import where_to_get
from host_bridge.deploy.flash.program.name_shortening import shorten_names
from host_bridge.deploy.flash.program.program import (
    ROOT,
    Progress,
    compile_program,
    hash_of,
    launcher_files,
    sources_for,
)
from host_bridge.link.protocol.wire import own_protocol_hash

# The hashes, computed here from the same tables: otherwise a board would have to load tables that
# it never uses, which would take a third of a second
_PROTOCOL = "firmware/protocol/version.py"
_PROTOCOL_HASHED = "def protocol_hash(table):\n    return bytearray(%r)\n"
_PARAMETERS = "firmware/core/settings/table_hash.py"
_PARAMETERS_HASHED = "def table_hash(rows, table):\n    return bytearray(%r)\n"


@dataclass(frozen=True)
class ProgramBuild:
    """A program for a board and a wiring: path within a slot -> bytes.

    A runstop box has no vehicle.
    """

    board: BoardType
    wiring: str
    vehicle: Vehicle | None
    program: dict[str, bytes]
    launcher: dict[str, bytes]

    @property
    def size(self) -> int:
        return sum(map(len, self.program.values()))

    @property
    def hash(self) -> str:
        """A hash of the whole program, which names this very version."""
        lines = "".join(f"{path} {hash_of(data)}\n" for path, data in sorted(self.program.items()))
        return hashlib.sha256(lines.encode()).hexdigest()[:16]


def build_program(
    board_name: str, wiring: str, vehicle_of: Callable[[str], Vehicle], progress: Progress
) -> ProgramBuild:
    """Compile the program for a board. ``wiring`` is a vehicle's name or path, or a runstop box's.

    Raises errors.VehicleFileFault: a board or vehicle file that is wrong, pins that the board
    lacks, a port without a program.
    """
    board = load_board(board_name)
    vehicle = None if board.is_box(wiring) else vehicle_of(wiring)
    sources = sources_of(board_name, wiring)
    program = compile_program(sources, board.chip.mpy_arch, progress)
    name = load_needs(board, wiring).wiring
    return ProgramBuild(board, name, vehicle, program, launcher_files())


def sources_of(board_name: str, wiring: str) -> dict[str, str]:
    """Return the slot's files before mpy-cross: path -> text. Raises errors.VehicleFileFault."""
    return {
        "pins.py": pin_module(board_name, wiring),
        **program_for(load_board(board_name).chip.port),
    }


def program_for(port: str, left_out: tuple[str, ...] = NOT_DEPLOYED) -> dict[str, str]:
    """Return the car's program for boards of this port, folded and with short names: path -> text.

    Raises errors.VehicleFileFault for a port without a program.
    """
    files = sources_for(port, left_out)
    sources = {f"firmware/{file}": (ROOT / "firmware" / file).read_text() for file in files}
    sources[_PROTOCOL] = _PROTOCOL_HASHED % own_protocol_hash()
    sources[_PARAMETERS] = _PARAMETERS_HASHED % own_table_hash()
    return shorten_names(fold_constants(flattened(sources)))


def refuse_wrong(board: BoardType, facts: BoardFacts, where: str) -> None:
    """Raise errors.RefusedFault for a board of another kind, or a MicroPython too old."""
    if not facts.machine.startswith(board.machine):
        raise RefusedFault(
            f"this board is not a {board.title}",
            where=where,
            expected=board.machine,
            got=facts.machine or "a board that does not say what it is",
            remedy="give its own --board; tandem vehicles --help says how a new board is described",
        )
    if facts.version[:2] < OLDEST:
        raise RefusedFault(
            "its MicroPython is too old for the program",
            where=where,
            expected=f"{OLDEST[0]}.{OLDEST[1]} or newer",
            got=".".join(map(str, facts.version)),
            remedy=f"tandem flash ... --runtime FILE, with {where_to_get(board)}",
        )
