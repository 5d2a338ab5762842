"""Flattening of a board's program: which paths and names it has on a board."""

import pytest

from host_bridge.deploy.flash.program.flattening import flattened
from host_bridge.deploy.flash.program.traceback_names import translate_traceback
from tests.host_bridge.deploy.flash.program.made_programs import (
    WITH_MADE_PROGRAMS,
    made_program,
)
from tests.support.evidence import every, some

GUARD = "firmware/core/stops/guard.py"


def test_a_file_in_a_room_moves_up_and_its_imports_follow():
    found = flattened(
        {
            "firmware/core/stops/__init__.py": "",
            GUARD: "A = 1\n",
            "firmware/app.py": "from firmware.core.stops.guard import A\n\nB = A\n",
        }
    )
    assert found == {
        "firmware/core/guard.py": "A = 1\n",
        "firmware/app.py": "from firmware.core.guard import A\n\nB = A\n",
    }


def test_a_room_whose_name_a_module_has_too():
    text = 'from firmware.core.motion import limits\nNAME = "firmware.core.motion.motion"\n'
    found = flattened({"firmware/core/motion/motion.py": "", "firmware/app.py": text})
    assert set(found) == {"firmware/core/motion.py", "firmware/app.py"}
    assert found["firmware/app.py"] == (
        'from firmware.core import limits\nNAME = "firmware.core.motion"\n'
    )


def test_two_files_that_would_get_one_path_are_refused():
    with pytest.raises(ValueError, match=r"a board has firmware/core/guard\.py already"):
        flattened({GUARD: "", "firmware/core/guard.py": ""})
    with pytest.raises(ValueError, match="already"):
        flattened({GUARD: "", "firmware/core/link/guard.py": ""})


def test_a_room_with_a_text_of_its_own_is_refused():
    with pytest.raises(ValueError, match="nothing of its own"):
        flattened({"firmware/core/stops/__init__.py": "A = 1\n", GUARD: ""})


@WITH_MADE_PROGRAMS
@pytest.mark.parametrize("port", ["rp2", "stm32", "esp32"])
def test_a_boards_program_has_no_rooms(port):
    program = made_program(port)
    assert every(path.count("/") <= 2 for path in some(program))
    assert "firmware/core/guard.py" in program
    assert every("core.stops" not in text for text in program.values())


def test_a_traceback_of_a_flat_module_is_translated():
    told = 'File "firmware.core.guard", line 1, in _a'
    assert translate_traceback(told) == told  # no function is at its first line
    line = _line_of("def beat(", GUARD)
    assert translate_traceback(f'File "firmware.core.guard", line {line}, in _a') == (
        f'File "firmware.core.guard", line {line}, in Guard.beat'
    )


def _line_of(text, path):
    from host_bridge.deploy.flash.program.program import ROOT

    lines = (ROOT / path).read_text().splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)
