"""The heap that a car takes on an RP2040: what ``tandem flash`` puts there, started in a 32-bit
MicroPython of this machine. A chip has its machine code on the heap, too: that is added."""

import os
import subprocess
import tempfile
from pathlib import Path

from host_bridge.config.boards import pin_module
from host_bridge.deploy.flash.build import program_for
from host_bridge.deploy.flash.program.program import LAUNCHER, compile_program
from tests.tools.size.native_code import names_of, native_size

ROOT = Path(__file__).resolve().parents[3]
SCRIPT = ROOT / "tests" / "support" / "device" / "heap_of_board.py"
VIRTUAL = ROOT / "tests" / "firmware" / "drivers" / "virtual"
ROM_NAMES = Path(__file__).with_name("rom_names.txt")
PICO = "armv6m"
BITS = {64: "x64", 32: "x86"}  # of this machine's MicroPythons, as mpy-cross calls them
# What a car has loaded at its start and let go of (core/settings/overlay.py, boards/start.py)
LET_GO = (
    *(f"firmware.core.{name}" for name in ("params", "checked_params", "writing")),
    *(f"firmware.protocol.{name}" for name in ("messages", "to_board", "to_host", "boxes")),
)
ALL = 0
_STEP = 1_000
_MOST_HOLES = 80_000
_WITHIN_S = 120.0


def compiled_for(chip: str, sources: dict[str, str]) -> dict[str, bytes]:
    """Each .mpy by its path, of texts by theirs. Raises errors.VehicleFileFault."""
    return compile_program(sources, chip, lambda done, total: None)


class BoardHeap:
    """Of one wiring of a Pico, under the MicroPython that ``command`` starts."""

    def __init__(self, command: list[str], bits: int, wiring: str) -> None:
        self._command = command
        self._program = program_for("rp2")
        self._folder = tempfile.TemporaryDirectory()
        self._slot = Path(self._folder.name)
        for path, mpy in compiled_for(BITS[bits], self._program).items():
            (self._slot / path).parent.mkdir(parents=True, exist_ok=True)
            (self._slot / path).write_bytes(mpy)
        (self._slot / "pins.py").write_text(pin_module("pico", wiring))
        (self._slot / "launcher.py").write_bytes(LAUNCHER.read_bytes())

    def taken(self, what: str) -> tuple[int, list[str]]:
        """Bytes after the start of a ``car`` or of ``hitl``, and the modules that it loaded."""
        done = self._run(what, ALL)
        done.check_returncode()
        *modules, taken = done.stdout.split()
        return int(taken), modules

    def native(self, modules: list[str], chip: str) -> int:
        """Bytes of machine code of these modules."""
        loaded = self._texts_of(modules)
        return sum(map(native_size, compiled_for(chip, loaded).values()))

    def names(self, modules: list[str]) -> set[str]:
        """Names that a chip with these modules keeps on its heap, for it has them not in its flash;
        the path of each file is one, too. Those of modules that were let go of stay."""
        loaded = self._texts_of([*modules, *LET_GO])
        loaded["launcher.py"] = LAUNCHER.read_text()
        loaded["pins.py"] = (self._slot / "pins.py").read_text()
        found = {f"/a/{path.removesuffix('.py')}.mpy" for path in loaded}
        for mpy in compiled_for(PICO, loaded).values():
            found |= names_of(mpy)
        rom = ROM_NAMES.read_text().partition("\n\n")[2].split()
        return found - set(rom)

    def needed(self, what: str) -> int:
        """The least heap in which it starts, within a thousand bytes: what it takes, what it takes
        meanwhile, and the holes between."""
        low, _ = self.taken(what)
        high = low + _MOST_HOLES
        while high - low > _STEP:
            middle = (low + high) // 2
            low, high = (low, middle) if self._starts_in(what, middle) else (middle, high)
        return high

    def _texts_of(self, modules: list[str]) -> dict[str, str]:
        paths = [module.replace(".", "/") + ".py" for module in modules]
        return {path: self._program[path] for path in paths if path in self._program}

    def _starts_in(self, what: str, size: int) -> bool:
        done = self._run(what, size)
        if done.returncode and "MemoryError" not in done.stderr + done.stdout:  # of builds either
            done.check_returncode()
        return not done.returncode

    def _run(self, what: str, size: int) -> subprocess.CompletedProcess[str]:
        path = os.pathsep.join([".frozen", str(self._slot), str(VIRTUAL)])
        return subprocess.run(
            [*self._command, str(SCRIPT), what, str(size)],
            cwd=self._slot,
            env={**os.environ, "MICROPYPATH": path},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_WITHIN_S,
            check=False,
        )
