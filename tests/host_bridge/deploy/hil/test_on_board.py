"""The programs that a board is sent at its raw REPL find the modules that ``tandem flash`` put."""

import ast

import pytest

from firmware.manifest import METAL
from host_bridge.deploy.flash.build import program_for
from host_bridge.deploy.hil import bench, same_bytes
from tests.support.evidence import some

SENT = {
    **{name: bench.program(name) for name in ("steps", "heap", "guard_share")},
    "same_bytes": same_bytes.program("/a"),
}
# Each port has its own board; what sets the clock is an RP2040's and is asked for on one only
OF_SOME_PORTS = {"firmware.boards.rp2040_clock"}


@pytest.fixture(scope="module")
def flashed():
    """Port -> module -> the names that it has, of what ``tandem flash`` puts on a board."""
    return {port: dict(map(module_of, program_for(port).items())) for port in METAL}


def module_of(item):
    path, text = item
    names = {node.id for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Name)}
    names |= {node.name for node in ast.walk(ast.parse(text)) if hasattr(node, "name")}
    return path.removesuffix(".py").replace("/", "."), names


def imports(text):
    """Yield (module, name) of each import from the car's program."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("firmware"):
            for alias in node.names:
                yield node.module, alias.name


@pytest.mark.parametrize("name", SENT)
@pytest.mark.parametrize("port", METAL)
def test_what_a_program_imports_is_on_a_board(flashed, port, name):
    modules = flashed[port]
    for module, what in some(imports(SENT[name])):
        if module in OF_SOME_PORTS and port != "rp2":
            continue
        is_module = f"{module}.{what}" in modules
        assert is_module or what in modules[module], f"from {module} import {what}"
