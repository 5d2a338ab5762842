"""Tracebacks of a board, whose functions have short names, in the names of the source."""

from pathlib import Path

import pytest

from host_bridge.deploy.flash.program.traceback_names import translate_traceback

ROOT = Path(__file__).resolve().parents[5]


def line_of(module, text):
    lines = (ROOT / (module.replace(".", "/") + ".py")).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.mark.parametrize(
    ("module", "text", "name"),
    [
        ("firmware.boards.store", "def load_into(", "Store.load_into"),
        ("firmware.boards.physical.board", "imu.step(now_us)", "PhysicalBoard._feel_imu"),
        ("firmware.core.deadlines", "difference = now_us - then_us", "elapsed_us"),
    ],
)
def test_a_function_has_the_name_that_the_source_gives_it(module, text, name):
    line = line_of(module, text)
    told = f'Traceback (most recent call last):\n  File "{module}", line {line}, in _b\nOSError: 5'
    assert translate_traceback(told) == told.replace("in _b", f"in {name}")


@pytest.mark.parametrize(
    "frame",
    [
        'File "firmware.core.gone", line 3, in _b',
        'File "firmware.core.deadlines", line 1, in <module>',
        'File "main.py", line 3, in _b',
        "no traceback at all",
    ],
)
def test_what_the_source_here_does_not_know_stays_as_it_was(frame):
    assert translate_traceback(frame) == frame


def test_a_line_of_no_function_keeps_the_boards_name(tmp_path):
    (tmp_path / "firmware").mkdir()
    (tmp_path / "firmware" / "few.py").write_text("import os\n\n\ndef f():\n    pass\n")
    assert translate_traceback('File "firmware.few", line 1, in _b', tmp_path).endswith("in _b")
    assert translate_traceback('File "firmware.few", line 5, in _b', tmp_path).endswith("in f")
