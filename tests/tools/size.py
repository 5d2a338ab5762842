"""How large the car's program is: bytes of each folder per chip, and the heap after start-up.

Of what ``tandem flash`` puts on a board: constants folded, compiled by mpy-cross for the chips of
CHIPS. The MicroPythons of this machine say what is in use after the car has started; a chip has its
machine code on the heap as well, so that of the modules that were loaded is added for it. The
numbers are kept in tests/size_ledger.csv, so that growth is seen.

    python tests/tools/size.py [--write]
"""

import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from host_bridge.config.boards import pin_module
from host_bridge.errors import TandemError
from host_bridge.flash.job import program_for
from host_bridge.flash.program import LAUNCHER, compiled
from sim_mock import micropython
from tests.tools.native_code import native_size

ROOT = Path(__file__).resolve().parents[2]
LEDGER = ROOT / "tests" / "size_ledger.csv"
HEAP_SCRIPT = ROOT / "tests" / "device" / "heap_after_start.py"
BOARD_SCRIPT = ROOT / "tests" / "device" / "heap_of_board.py"
VIRTUAL = ROOT / "tests" / "firmware" / "drivers" / "virtual"
TOTAL = "total"
HEAP = "heap after start"
# On the virtual machine, launcher and pins included
BOARD_HEAPS = {
    wiring: f"heap of a pico after start: {wiring}"
    for wiring in ("f1tenth", "f1tenth_vesc", "autorally")
}
HEAPS = (HEAP, *BOARD_HEAPS.values())
# What an RP2040 has free, fresh: 190 000 with the 192 kB of MicroPython before 1.20, 216 000 since
PICO_FREE = 190_000
_HEAP_WITHIN_S = 60.0

# what mpy-cross calls it, which chips it is
CHIPS = (
    ("armv6m", "RP2040"),
    ("armv7emsp", "RP2350, STM32F4, STM32F7"),
    ("xtensawin", "ESP32, ESP32-S3"),
)
BITS = {64: "x64", 32: "x86"}  # of this machine's MicroPythons, as mpy-cross calls them
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


def compiled_for(chip: str, sources: dict[str, str]) -> dict[str, bytes]:
    """Each .mpy by its path, of texts by theirs. Raises errors.VehicleFileFault."""
    return compiled(sources, chip, lambda done, total: None)


def heap_sizes() -> Sizes:
    """Bytes of heap in use after start-up, for each MicroPython that is here; and on an RP2040 and
    an RP2350, if it is one of 32 bits."""
    sizes: Sizes = {}
    for bits in BITS:
        command = micropython.find(bits)
        if command:
            said = _said(command, HEAP_SCRIPT, ROOT)
            sizes[HEAP, f"unix{bits}"] = int(said[-1])
            for wiring in BOARD_HEAPS:
                sizes |= _board_heap(command, bits, wiring)
    return sizes


def _board_heap(command: list[str], bits: int, wiring: str) -> Sizes:
    program = program_for("rp2")
    with tempfile.TemporaryDirectory() as folder:
        slot = Path(folder)
        for path, mpy in compiled_for(BITS[bits], program).items():
            (slot / path).parent.mkdir(parents=True, exist_ok=True)
            (slot / path).write_bytes(mpy)
        (slot / "pins.py").write_text(pin_module("pico", wiring))
        (slot / "launcher.py").write_bytes(LAUNCHER.read_bytes())
        script = slot / "main.py"
        script.write_bytes(BOARD_SCRIPT.read_bytes())
        *modules, taken = _said(command, script, VIRTUAL)
    part, heap = BOARD_HEAPS[wiring], int(taken)
    sizes = {(part, f"unix{bits}"): heap}
    if bits == 32:
        for chip in PORT_CHIPS["rp2"]:
            sizes[part, chip] = heap + _native(program, modules, chip)
    return sizes


def _native(program: dict[str, str], modules: list[str], chip: str) -> int:
    """Bytes of machine code of these modules."""
    loaded = {path: program[path] for path in map(_path_of, modules) if path in program}
    return sum(map(native_size, compiled_for(chip, loaded).values()))


def _path_of(module: str) -> str:
    return module.replace(".", "/") + ".py"


def _said(command: list[str], script: Path, *folders: Path) -> list[str]:
    path = os.pathsep.join([".frozen", *map(str, folders)])
    done = subprocess.run(
        [*command, str(script)],
        cwd=script.parent,
        env={**os.environ, "MICROPYPATH": path},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_HEAP_WITHIN_S,
        check=True,
    )
    return done.stdout.split()


def read_ledger(path: Path = LEDGER) -> Sizes:
    """The sizes that were kept; none without a ledger."""
    if not path.exists():
        return {}
    with path.open(newline="") as file:
        return {(row["part"], row["on"]): int(row["bytes"]) for row in csv.DictReader(file)}


def write_ledger(sizes: Sizes, path: Path = LEDGER) -> None:
    """Keep ``sizes``; what could not be measured here stays as it was."""
    kept = read_ledger(path)
    heaps = {key: size for key, size in kept.items() if key[0] in HEAPS}
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("part", "on", "bytes"))
        for (part, on), size in sorted({**heaps, **sizes}.items()):
            writer.writerow((part, on, size))


def table(sizes: Sizes, kept: Sizes) -> Iterator[str]:
    """The lines to print: a row for each part, the change against the ledger in brackets."""
    columns = [chip for chip, _ in CHIPS]
    yield f"{'bytes of .mpy':<24}" + "".join(f"{chip:>18}" for chip in columns)
    parts = sorted({part for part, _ in sizes} - {TOTAL, *HEAPS})
    for part in [*parts, TOTAL]:
        yield f"{part:<24}" + "".join(_cell(sizes, kept, (part, chip)) for chip in columns)
    for key in sizes:
        if key[0] in HEAPS:
            yield f"{key[0]}, {key[1]}: {_cell(sizes, kept, key).strip()} bytes"
    for bits in BITS:
        if (HEAP, f"unix{bits}") not in sizes:
            yield f"{HEAP}, unix{bits}: not measured, there is no {bits}-bit MicroPython"


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
