"""The programs that a board is sent at its raw REPL find the modules that ``tandem flash`` put."""

import ast

import pytest

from firmware.manifest import METAL
from host_bridge.deploy.flash.program.program import ROOT
from host_bridge.deploy.hil import bench, same_bytes
from tests.host_bridge.deploy.flash.program.made_programs import (
    WITH_MADE_PROGRAMS,
    made_program,
)
from tests.support.evidence import some

SENT = {
    **{name: bench.program(name) for name in ("steps", "heap", "guard_share")},
    "same_bytes": same_bytes.program("/a"),
}
# They run by "mpremote mount . run", on the files of the repository
MOUNTED = sorted({path.stem for path in bench.FOLDER.glob("*.py")} - {*SENT})
# Each port has its own board; what sets the clock is an RP2040's and is asked for on one only
OF_SOME_PORTS = {"firmware.boards.rp2040_clock"}


@pytest.fixture(scope="module")
def flashed():
    """Port -> module -> the names that it has, of what ``tandem flash`` puts on a board."""
    return {port: dict(map(module_of, made_program(port).items())) for port in METAL}


def module_of(item):
    path, text = item
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    names |= {node.name for node in ast.walk(ast.parse(text)) if hasattr(node, "name")}
    return path.removesuffix(".py").replace("/", "."), names


def has(modules, module, what):
    return f"{module}.{what}" in modules or what in modules.get(module, ())


def imports(text):
    """Yield (module, name) of each import from the car's program."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("firmware"):
            for alias in node.names:
                yield node.module, alias.name


@pytest.mark.parametrize("name", MOUNTED)
def test_what_a_script_imports_by_mpremote_is_in_the_repository(name):
    files = (ROOT / "firmware").rglob("*.py")
    sources = {file.relative_to(ROOT).as_posix(): file.read_text() for file in files}
    modules = dict(map(module_of, sources.items()))
    for module, what in some(imports((bench.FOLDER / f"{name}.py").read_text())):
        assert has(modules, module, what), f"from {module} import {what}"


@WITH_MADE_PROGRAMS
@pytest.mark.parametrize("name", SENT)
@pytest.mark.parametrize("port", METAL)
def test_what_a_program_imports_is_on_a_board(flashed, port, name):
    modules = flashed[port]
    for module, what in some(imports(SENT[name])):
        if module in OF_SOME_PORTS and port != "rp2":
            continue
        assert has(modules, module, what), f"from {module} import {what}"
