"""How large the car's program is: bytes of each folder per chip, and the heap after start-up.

Of what ``tandem flash`` puts on a board: constants folded, compiled by mpy-cross for the chips of
CHIPS. The MicroPythons of this machine say what is in use after the car has started, and the least
heap in which a Pico's starts (board_heap.py). The numbers are kept in
tests/tools/size/size_ledger.csv, so that growth is seen.

    python tests/tools/size/size.py [--write]
"""

import csv
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from host_bridge.config.boards.heap import runtime_heaps
from host_bridge.core.errors import TandemError
from host_bridge.deploy.flash.build import program_for
from sim_mock.runtime import micropython
from tests.tools.size.board_heap import BITS, PICO, BoardHeap, compiled_for
from tests.tools.size.native_code import native_size

ROOT = Path(__file__).resolve().parents[3]
LEDGER = Path(__file__).with_name("size_ledger.csv")
HEAP_SCRIPT = ROOT / "tests" / "support" / "device" / "heap_after_start.py"
TOTAL = "total"
HEAP = "heap after start"
# On the virtual machine, launcher and pins included
BOARD_HEAPS = {
    wiring: f"heap of a pico after start: {wiring}"
    for wiring in ("f1tenth", "f1tenth_vesc", "autorally")
}
# The least heap that does, holes and what is there meanwhile included; without and with a key
NEEDS = {wiring: f"heap that a pico needs to start: {wiring}" for wiring in BOARD_HEAPS}
PAIRED_NEEDS = {wiring: f"{part}, paired" for wiring, part in NEEDS.items()}
IN_THE_LOOP = "autorally"  # the largest
HITL_NEEDS = f"heap that a pico needs for hardware in the loop: {IN_THE_LOOP}, paired"
HEAPS = (HEAP, *BOARD_HEAPS.values(), *NEEDS.values(), *PAIRED_NEEDS.values(), HITL_NEEDS)
# MicroPython keeps names in pools of twice the size each: 20, 40 ... 640. The name after those
# takes a pool of 1280, 7.7 kB in one piece
NAMES = {wiring: f"names of a pico: {wiring}, paired" for wiring in BOARD_HEAPS}
POOLS_HOLD = 1260
ON_A_BOARD = (*HEAPS, *NAMES.values())  # and of no folder
# A Pico's heap by release of MicroPython, as hardware/boards/runtime_heaps.csv has it
PICO_HEAPS = runtime_heaps("rp2040")
_HEAP_WITHIN_S = 60.0

# what mpy-cross calls it, which chips it is
CHIPS = (
    ("armv6m", "RP2040"),
    ("armv7emsp", "RP2350, STM32F4, STM32F7"),
    ("xtensawin", "ESP32, ESP32-S3"),
)
PORTS = ("rp2", "stm32", "esp32")
PORT_CHIPS = {"rp2": ("armv6m", "armv7emsp"), "stm32": ("armv7emsp",), "esp32": ("xtensawin",)}

Sizes = dict[tuple[str, str], int]  # (folder or HEAP, chip or build of MicroPython) -> bytes


def program_sizes() -> Sizes:
    """Bytes of each folder of the program, their total, and what each board gets, by chip."""
    programs = {port: program_for(port) for port in (*PORTS, "unix")}
    every = {path: text for program in programs.values() for path, text in program.items()}
    sizes: Sizes = {}
    for chip, _ in CHIPS:
        for path, mpy in compiled_for(chip, every).items():
            parts = {str(Path(path).parent): len(mpy), TOTAL: len(mpy)}
            for port in PORTS:
                if chip in PORT_CHIPS[port] and path.replace(".mpy", ".py") in programs[port]:
                    parts[f"board {port}"] = len(mpy)
                    parts[f"board {port}, native"] = native_size(mpy)
            for part, size in parts.items():
                sizes[part, chip] = sizes.get((part, chip), 0) + size
    return sizes


def heap_sizes() -> Sizes:
    """Bytes of heap in use after start-up, for each MicroPython that is here; and on an RP2040 and
    an RP2350, and what it takes to come so far, if it is one of 32 bits."""
    sizes: Sizes = {}
    for bits in BITS:
        command = micropython.find(bits)
        if command:
            sizes[HEAP, f"unix{bits}"] = _after_start(command)
            for wiring in BOARD_HEAPS:
                sizes |= _board_heap(BoardHeap(command, bits, wiring), bits, wiring)
    return sizes


def _board_heap(board: BoardHeap, bits: int, wiring: str) -> Sizes:
    part = BOARD_HEAPS[wiring]
    heap, modules = board.taken("car")
    sizes = {(part, f"unix{bits}"): heap}
    if bits == 32:
        native = {chip: board.native(modules, chip) for chip in PORT_CHIPS["rp2"]}
        sizes |= {(part, chip): heap + native[chip] for chip in native}
        sizes[NEEDS[wiring], PICO] = board.needed("car") + native[PICO]
        sizes |= _paired(board, wiring)
    return sizes


def _paired(board: BoardHeap, wiring: str) -> Sizes:
    modules = board.taken("car paired")[1]
    native = board.native(modules, PICO)
    sizes = {
        (PAIRED_NEEDS[wiring], PICO): board.needed("car paired") + native,
        (NAMES[wiring], PICO): len(board.names(modules)),
    }
    if wiring == IN_THE_LOOP:
        native = board.native(board.taken("hitl paired")[1], PICO)
        sizes[HITL_NEEDS, PICO] = board.needed("hitl paired") + native
    return sizes


def _after_start(command: list[str]) -> int:
    done = subprocess.run(
        [*command, str(HEAP_SCRIPT)],
        env={**os.environ, "MICROPYPATH": os.pathsep.join([".frozen", str(ROOT)])},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_HEAP_WITHIN_S,
        check=True,
    )
    return int(done.stdout)


def read_ledger(path: Path = LEDGER) -> Sizes:
    """The sizes that were kept; none without a ledger."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {(row["part"], row["on"]): int(row["bytes"]) for row in csv.DictReader(file)}


def write_ledger(sizes: Sizes, path: Path = LEDGER) -> None:
    """Keep ``sizes``; what could not be measured here stays as it was."""
    kept = read_ledger(path)
    heaps = {key: size for key, size in kept.items() if key[0] in ON_A_BOARD}
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("part", "on", "bytes"))
        for (part, on), size in sorted({**heaps, **sizes}.items()):
            writer.writerow((part, on, size))


def table(sizes: Sizes, kept: Sizes) -> Iterator[str]:
    """The lines to print: a row for each part, the change against the ledger in brackets."""
    columns = [chip for chip, _ in CHIPS]
    yield f"{'bytes of .mpy':<24}" + "".join(f"{chip:>18}" for chip in columns)
    parts = sorted({part for part, _ in sizes} - {TOTAL, *ON_A_BOARD})
    for part in [*parts, TOTAL]:
        yield f"{part:<24}" + "".join(_cell(sizes, kept, (part, chip)) for chip in columns)
    for key in sizes:
        if key[0] in HEAPS and key[1] != PICO:
            yield f"{key[0]}, {key[1]}: {_cell(sizes, kept, key).strip()} bytes"
    yield from pico_table(sizes, kept)
    for bits in BITS:
        if (HEAP, f"unix{bits}") not in sizes:
            yield f"{HEAP}, unix{bits}: not measured, there is no {bits}-bit MicroPython"


def pico_table(sizes: Sizes, kept: Sizes) -> Iterator[str]:
    """A Pico's heap: a row for each car, without and with a key of its own, and for hardware in the
    loop, with what each release of MicroPython leaves it. Nothing where nothing was measured."""
    rows = [
        (f"{wiring}{key}", BOARD_HEAPS[wiring] if not key else "", needs[wiring])
        for wiring in BOARD_HEAPS
        for key, needs in (("", NEEDS), (", with a key", PAIRED_NEEDS))
    ]
    rows.append((f"{IN_THE_LOOP}, with a key, in the loop", "", HITL_NEEDS))
    rows = [row for row in rows if (row[2], PICO) in sizes]
    if not rows:
        return
    left = [f"left of {release}" for release in PICO_HEAPS]
    heads = ("after the start", "to start", *left, f"names of {POOLS_HOLD}")
    yield f"{'bytes of heap on a Pico':<34}" + "".join(f"{head:>18}" for head in heads)
    for title, after, needs in rows:
        cells = [_cell(sizes, kept, (part, PICO)) for part in (after, needs)]
        cells += [f"{heap - sizes[needs, PICO]:>18}" for heap in PICO_HEAPS.values()]
        names = [part for w, part in NAMES.items() if needs == PAIRED_NEEDS[w]]
        cells += [_cell(sizes, kept, (part, PICO)) for part in names]
        yield f"{title:<34}" + "".join(cells)


def _cell(sizes: Sizes, kept: Sizes, key: tuple[str, str]) -> str:
    if key not in sizes:
        return " " * 18
    size = sizes[key]
    change = f" ({size - kept[key]:+d})" if key in kept and kept[key] != size else ""
    return f"{size}{change}".rjust(18)


def main(arguments: list[str]) -> int:
    """Print the table; with --write keep it."""
    try:
        sizes = {**program_sizes(), **heap_sizes()}
    except TandemError as error:
        print(f"size: {error}", file=sys.stderr)
        return 1
    print("\n".join(table(sizes, read_ledger())))
    if "--write" in arguments:
        write_ledger(sizes)
        print(f"kept in {LEDGER.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
