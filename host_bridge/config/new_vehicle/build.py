"""Makes the files of a new type of car of the answers, and checks them before anything is kept."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from host_bridge.config import boards, load_vehicle
from host_bridge.config.new_vehicle.questions import LIKE, QUESTIONS, Answers, Question, Tables
from host_bridge.config.new_vehicle.text import vehicle_text
from host_bridge.config.new_vehicle.wiring import board_text, needs_own_wiring
from host_bridge.config.vehicle.vehicle import vehicle_tables
from host_bridge.core import Vehicle, WiringReport
from host_bridge.core.errors import VehicleFileFault


@dataclass(frozen=True)
class NewVehicle:
    """The new files: texts by path, the vehicle as it was read, and its check on the board."""

    texts: dict[Path, str]
    board: str  # a name, or the path of the new board file
    vehicle: Vehicle
    report: WiringReport


def base_tables(like: str) -> Tables:
    """Return the checked tables of the base. Raises VehicleFileFault."""
    return vehicle_tables(like)[1]


def open_questions(answers: Answers, tables: Tables) -> Iterator[Question]:
    """Yield each question about this car in its order; answer one before you ask for the next."""
    for question in QUESTIONS:
        if question.name != LIKE and question.is_asked(answers, tables):
            yield question


def make(path: Path, answers: Answers, tables: Tables, board: str) -> NewVehicle:
    """Make the files, and read and check them in a folder of their own.

    Raises UsageFault for an answer that cannot be, VehicleFileFault for a car that is refused.
    """
    wired_as = tables["wired_as"] or Path(answers[LIKE]).stem
    texts, own_board = {}, board
    if needs_own_wiring(answers, board, wired_as):
        board_path = path.with_name(f"{path.stem}_{Path(board).stem}.toml")
        texts[board_path] = board_text(answers, tables, board, wired_as, path.stem)
        wired_as, own_board = path.stem, str(board_path)
    texts = {path: vehicle_text(answers, tables, wired_as), **texts}
    vehicle, report = _checked(texts, path, own_board)
    return NewVehicle(texts, own_board, vehicle, report)


def _checked(texts: dict[Path, str], path: Path, board: str) -> tuple[Vehicle, WiringReport]:
    """Read the texts as files of the same names, beside the base if that is a file."""
    with tempfile.TemporaryDirectory(prefix="tandem-new-") as folder:
        for own, text in texts.items():
            (Path(folder) / own.name).write_text(text, encoding="utf-8")
        name = str(Path(folder) / path.name)
        try:
            vehicle = load_vehicle(name)
        except VehicleFileFault as fault:
            raise _refused(fault, path, folder) from fault
        is_own = Path(board) in texts
        (report,) = boards.check_all(
            str(Path(folder) / Path(board).name) if is_own else board, name
        )
    return vehicle, report


def _refused(fault: VehicleFileFault, path: Path, folder: str) -> VehicleFileFault:
    """Return the fault with the file's own name: nothing was written, so it has no line."""

    def without_folder(text: str) -> str:
        return text.replace(f"{folder}/", "")

    return VehicleFileFault(
        f"{without_folder(fault.what)}; nothing was written",
        where=without_folder(fault.where),
        expected=without_folder(fault.expected),
        got=without_folder(fault.got),
        remedy=without_folder(fault.remedy),
    )
