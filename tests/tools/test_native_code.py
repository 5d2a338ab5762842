"""The machine code in a .mpy is found: none of it is missed, nothing else is taken for it."""

from pathlib import Path

import pytest

from tests.tools import size
from tests.tools.native_code import native_size

CHIPS = [chip for chip, _ in size.CHIPS]
PLAIN = "A = ('one', b'two', 3.5, 1 << 40, (None, ...))\ndef f(x):\n    return x + 1\n"
NATIVE = "@micropython.{}\ndef g(x):\n    return x\n"


def mpy_of(folder: Path, chip: str, text: str) -> bytes:
    (folder / "one.py").write_text(text)
    return size.compiled(Path("one.py"), chip, folder)


@pytest.mark.parametrize("chip", CHIPS)
def test_bytecode_and_constants_are_no_machine_code(chip, tmp_path):
    assert native_size(mpy_of(tmp_path, chip, PLAIN)) == 0


@pytest.mark.parametrize("emitter", ["native", "viper"])
@pytest.mark.parametrize("chip", CHIPS)
def test_one_function_is_some_two_are_twice_as_much(chip, emitter, tmp_path):
    one = native_size(mpy_of(tmp_path, chip, PLAIN + NATIVE.format(emitter)))
    two = native_size(mpy_of(tmp_path, chip, PLAIN + NATIVE.format(emitter) * 2))
    assert 0 < one < len(mpy_of(tmp_path, chip, PLAIN + NATIVE.format(emitter)))
    assert two == 2 * one


@pytest.mark.parametrize("chip", CHIPS)
def test_every_file_of_the_car_is_read_to_its_end(chip):
    assert sum(native_size(size.compiled(file, chip)) for file in size.firmware_files()) > 0


def test_another_format_is_refused(tmp_path):
    mpy = mpy_of(tmp_path, CHIPS[0], PLAIN)
    with pytest.raises(ValueError, match=r"no \.mpy of format 6"):
        native_size(bytes([mpy[0], 5]) + mpy[2:])
    with pytest.raises(ValueError, match="layout"):
        native_size(mpy + b"\0")
