"""The text of a board file for a car with other sensors than its base: on the base's pins."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from host_bridge.config.boards import board_path, load_board
from host_bridge.config.boards.facts import BoardType
from host_bridge.config.boards.reading import read_wiring
from host_bridge.config.new_vehicle.questions import HALL, UART, Answers, Tables
from host_bridge.config.new_vehicle.text import toml
from host_bridge.config.vehicle.document import VehicleDocument
from host_bridge.core.errors import UsageFault

_TABLES = ("channels", "encoders")
# Pairs of pins with a whole UART, UART0's first (RP2040's and RP2350's data sheets, functions F2)
_RP2_LINES = ((0, 1), (12, 13), (16, 17), (4, 5), (8, 9))
_UART0 = 3  # so many of them are UART0's


def needs_own_wiring(answers: Answers, board: str, wired_as: str) -> bool:
    """Return whether the board's wiring of this name has other parts than the car."""
    given = load_board(board).wirings.get(wired_as)
    if given is None:
        return False
    if any(part in given for part in _absent(answers)):
        return True
    if (answers["link"] == UART) != ("link" in given):
        return True
    encoders = given.get("encoders", {}).values()
    if answers["encoder"] != HALL:
        return any(it["kind"] == "hall" for it in encoders)
    return any(it["kind"] != "hall" or it["magnets"] != answers["magnets"] for it in encoders)


def board_text(answers: Answers, tables: Tables, board: str, wired_as: str, name: str) -> str:
    """Return the board file with ``[wiring.NAME]``, of the board's wiring ``wired_as``.

    ``tables`` are those of the car that was wired so. Raises UsageFault where the pins of its
    encoders cannot serve.
    """
    given = load_board(board).wirings[wired_as]
    encoders = {slot: _encoder(answers, it, board) for slot, it in given["encoders"].items()}
    absent = _absent(answers)
    wiring = {part: it for part, it in given.items() if part not in absent}
    if answers["link"] == UART and "link" not in wiring:
        wiring["link"] = _link(load_board(board), wired_as, tables["channels"], absent)
    return "\n".join(_lines(answers, board, name, {**wiring, "encoders": encoders})) + "\n"


def _link(
    board: BoardType, wired_as: str, channels: list[dict[str, Any]], absent: Sequence[str]
) -> dict[str, int]:
    """Return two free pins of the board that are one UART's. Raises UsageFault."""
    wiring = read_wiring(board, wired_as, channels)
    parts = [part for part in (wiring.parts if wiring else ()) if part.slot not in absent]
    taken = {wire.pin for part in parts for wire in part.wires}
    vesc = {wire.pin for part in parts if part.slot == "vesc" for wire in part.wires}
    for place, (tx, rx) in enumerate(_RP2_LINES):
        same_uart = _RP2_LINES[:_UART0] if place < _UART0 else _RP2_LINES[_UART0:]
        is_vescs = any(vesc & set(pins) for pins in same_uart)
        if board.chip.port == "rp2" and not is_vescs and not {tx, rx} & taken:
            return {"tx": tx, "rx": rx}
    raise UsageFault(
        f"no two pins of {board.name} are found that are free for the line to its computer",
        where="--link",
        expected="a free UART of an RP2040 or RP2350",
        got=UART,
        remedy="answer usb, and add link = { tx = PIN, rx = PIN } to its wiring yourself: "
        "hardware/boards/README.md",
    )


def _absent(answers: Answers) -> list[str]:
    """Return the parts of a wiring that this car does not have: the program waits for none."""
    fitted = {
        "imu": answers["gyro"],
        "rc": answers.get("rc", True),
        "link": answers["link"] == UART,
    }
    return [part for part, is_fitted in fitted.items() if not is_fitted]


def _encoder(answers: Answers, given: Mapping[str, Any], board: str) -> dict[str, Any]:
    if answers["encoder"] != HALL and given["kind"] != "hall":
        return dict(given)
    if answers["encoder"] == HALL and given["kind"] in ("hall", "quadrature"):
        pin = given["hall"] if given["kind"] == "hall" else given["a"]
        return {"kind": "hall", "hall": pin, "magnets": answers["magnets"]}
    raise UsageFault(
        f"the encoder of this car does not fit on the pins that {board} has for its base",
        expected=f"an encoder as there: {given['kind']}",
        got=answers["encoder"],
        remedy="begin with a car that counts so, or copy the board file and wire your own: "
        "hardware/boards/README.md",
    )


def _lines(a: Answers, board: str, name: str, wiring: Mapping[str, Any]) -> Iterator[str]:
    own = VehicleDocument(board_path(board)).values
    yield f"# {a['title']} on a {own['title']}: written by `tandem vehicles new`. Correct the pins"
    yield "# where you wire yours otherwise; tandem vehicles --check says whether they can serve."
    for key, value in own.items():
        if key not in ("reserved", "wiring", "wired_as"):
            yield f"{key} = {toml(value)}"
    yield from ("", "[reserved]                     # used on the board itself")
    yield from (f"{key} = {toml(value)}" for key, value in own.get("reserved", {}).items())
    yield from ("", f"[wiring.{name}]")
    yield from (f"{key} = {toml(value)}" for key, value in wiring.items() if key not in _TABLES)
    for table in _TABLES:
        yield from ("", f"[wiring.{name}.{table}]")
        yield from (f"{_key(key)} = {toml(value)}" for key, value in wiring[table].items())


def _key(name: str) -> str:
    return name if name.replace("_", "").isalnum() else toml(name)
