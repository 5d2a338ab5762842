"""The machine code in a .mpy is found: none of it is missed, nothing else is taken for it."""

import pytest

from tests.host_bridge.deploy.flash.program.made_programs import (
    WITH_MADE_PROGRAMS,
    made_program,
)
from tests.tools.size import size
from tests.tools.size.native_code import names_of, native_size

pytestmark = pytest.mark.process

CHIPS = [chip for chip, _ in size.CHIPS]
PLAIN = "A = ('one', b'two', 3.5, 1 << 40, (None, ...))\ndef f(x):\n    return x + 1\n"
NATIVE = "@micropython.{}\ndef g(x):\n    return x\n"


def mpy_of(chip: str, text: str) -> bytes:
    return size.compiled_for(chip, {"one.py": text})["one.mpy"]


@pytest.mark.parametrize("chip", CHIPS)
def test_bytecode_and_constants_are_no_machine_code(chip):
    assert native_size(mpy_of(chip, PLAIN)) == 0


@pytest.mark.parametrize("emitter", ["native", "viper"])
@pytest.mark.parametrize("chip", CHIPS)
def test_one_function_is_some_two_are_twice_as_much(chip, emitter):
    one = native_size(mpy_of(chip, PLAIN + NATIVE.format(emitter)))
    two = native_size(mpy_of(chip, PLAIN + NATIVE.format(emitter) * 2))
    assert 0 < one < len(mpy_of(chip, PLAIN + NATIVE.format(emitter)))
    assert two == 2 * one


@WITH_MADE_PROGRAMS
@pytest.mark.parametrize("chip", CHIPS)
def test_every_file_of_the_car_is_read_to_its_end(chip):
    assert sum(map(native_size, size.compiled_for(chip, made_program("rp2")).values())) > 0


def test_another_format_is_refused():
    mpy = mpy_of(CHIPS[0], PLAIN)
    with pytest.raises(ValueError, match=r"no \.mpy of format 6"):
        native_size(bytes([mpy[0], 5]) + mpy[2:])
    with pytest.raises(ValueError, match="layout"):
        native_size(mpy + b"\0")


def test_names_are_those_that_the_text_spells_and_none_that_every_micropython_has():
    text = "def far_away(x):\n    return x.near_by + len(x)\n"
    found = names_of(mpy_of("armv6m", text))
    assert {"far_away", "near_by"} <= found
    assert not {"len", "__init__"} & found
