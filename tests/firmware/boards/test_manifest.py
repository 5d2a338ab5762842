"""Each board's list of files is all that it needs, and nothing besides; and it starts of them."""

import ast
import os
import shutil
import sys
from pathlib import Path

import pytest

from firmware import manifest
from host_bridge.config.boards import pin_module
from host_bridge.config.boards.schema import PARTS
from tests.firmware.worlds import micropython_command
from tests.support import patience
from tests.support.evidence import some

ROOT = Path(__file__).resolve().parents[3]
FIRMWARE = ROOT / "firmware"
VIRTUAL = Path(__file__).resolve().parents[1] / "drivers" / "virtual"
PORTS = {"rp2": "pico", "stm32": "nucleo_f767zi", "esp32": "esp32s3_devkitc"}
CHOSEN = [
    file.relative_to(FIRMWARE).as_posix()
    for folder in ("boards", "drivers")
    for file in sorted((FIRMWARE / folder).rglob("*.py"))
    if file.name != "__init__.py" and f"{folder}/{file.name}" not in manifest.NOT_DEPLOYED
]
LISTED = {
    port: tuple(file for file in CHOSEN if manifest.is_for(file, port)) for port in manifest.PORTS
}
# what makes a part of the pins module is named by its row there, and by no import
DRIVERS = {kind.driver or name.partition(".")[2] for name, kind in PARTS.items() if kind.row}
MADE = {FIRMWARE / f"drivers/parts/{name}.py" for name in DRIVERS - {"pulses", "vesc"}}
STARTS = """
import sys
sys.path[:] = {paths!r} + [p for p in sys.path if p]
from bench import bench
bench.reset(30 if {port!r} == "rp2" else 48, {port!r})
import time
if not hasattr(time, "sleep_ms"):  # CPython
    time.sleep_ms = lambda ms: None
if {port!r} == "esp32":
    sys.platform = "esp32"
import pins
from firmware.boards import start
from firmware.boards.store import Store

class Starts:
    failed, folder = 0, ""

bench.voltages[pins.BATTERY[1]] = 50_000
link = start.make_link(pins)
board = start.make_board(pins, Starts(), link, Store(("a", "b")), lambda: bench.now_us)
app = start.make_app(board)
print("started", sorted(m for m in sys.modules if m.startswith("firmware.box")))
"""


def imported(file):
    """Files of firmware/ that this one imports when it runs, in functions too."""
    tree = ast.parse(file.read_text())
    guarded = [n for n in ast.walk(tree) if isinstance(n, ast.If) and "TYPE_CH" in ast.dump(n.test)]
    unseen = {id(node) for branch in guarded for node in ast.walk(branch)}
    for node in ast.walk(tree):
        is_import = isinstance(node, ast.ImportFrom) and id(node) not in unseen
        if is_import and node.module and node.module.startswith("firmware"):
            for alias in node.names:
                yield from (_file(f"{node.module}.{alias.name}"), _file(node.module))


def _file(name):
    path = ROOT / (name.replace(".", "/") + ".py")
    return path if path.exists() else None


def reached(port):
    """What the board of this port can come to import; the other ports' files it never does."""
    others = {FIRMWARE / f"boards/ports/{other}.py" for other in PORTS if other != port}
    found, todo = set(), [FIRMWARE / "boards" / "start.py", *some(MADE)]
    while todo:
        file = todo.pop()
        if file not in found | others:
            found.add(file)
            todo += [other for other in imported(file) if other]
    files = {file.relative_to(FIRMWARE).as_posix() for file in found}
    return {file for file in files if file.startswith(("boards/", "drivers/"))}


@pytest.mark.parametrize("port", PORTS)
def test_a_boards_files_are_those_that_it_can_reach(port):
    files = {file for file in LISTED[port] if not file.endswith("__init__.py")}
    assert reached(port) == files


@pytest.mark.parametrize("port", PORTS)
def test_nothing_that_is_listed_is_missing(port):
    for file in some(LISTED[port]):
        assert (FIRMWARE / file).exists(), file


def test_what_only_some_ports_get_is_there_and_somebodys():
    assert {port for _, ports in manifest.SOME for port in ports} <= set(manifest.PORTS)
    assert {file for file, _ in manifest.SOME} <= set(CHOSEN)
    assert set(CHOSEN) == {file for files in LISTED.values() for file in files}


@pytest.mark.parametrize("file", sorted(MADE))
def test_what_a_row_of_the_pins_module_names_makes_its_part(file):
    tree = ast.parse(file.read_text())
    assert "make" in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]


@pytest.mark.micropython
@pytest.mark.parametrize("port", PORTS)
@pytest.mark.parametrize("runtime", ["cpython", 64])
def test_a_board_starts_of_its_own_files_alone(port, runtime, tmp_path):
    if port == "esp32" and runtime != "cpython":
        pytest.skip("a MicroPython of another port does not let itself be called esp32")
    left_out = set(manifest.NOT_DEPLOYED) - ({"c_library.py"} if runtime == "cpython" else set())
    for file in FIRMWARE.rglob("*.py"):
        name = file.relative_to(FIRMWARE).as_posix()
        folder = name.split("/")[0]
        is_own = name in LISTED[port] or name.endswith("__init__.py")
        if (folder not in ("boards", "drivers") or is_own) and name not in left_out:
            (tmp_path / "firmware" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, tmp_path / "firmware" / name)
    text = pin_module(PORTS[port], "f1tenth").replace('LINK = "usb"', 'LINK = "uart"')
    tx, rx = ('"PD8"', '"PD9"') if port == "stm32" else (0, 1)
    text = text.replace("UARTS = (", f'UARTS = (("link", 0, {tx}, {rx}, 921_600),')
    (tmp_path / "pins.py").write_text(text)
    paths = [str(tmp_path), str(VIRTUAL)]
    (tmp_path / "go.py").write_text(STARTS.format(paths=paths, port=port))
    command = [sys.executable, "-S"] if runtime == "cpython" else micropython_command(runtime)
    done = patience.run(
        [*command, "go.py"],
        cwd=tmp_path,
        env={**os.environ, "MICROPYPATH": ".frozen", "PYTHONPATH": ""},
        text=True,
        within_s=60,
    )
    assert done.stdout == "started []\n", done.stderr
