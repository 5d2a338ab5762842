"""The dialect check refuses what it says it refuses, and lets the car's own style pass."""

from pathlib import Path

import pytest

from tests.tools.rules.program import dialect

PLANTED = [
    # file, source, word of the refusal
    ("firmware/core/motion/limits.py", "GAIN = 0.5\n", "float 0.5"),
    ("firmware/core/motion/limits.py", "def f(a):\n    return a / 2\n", "true division"),
    ("firmware/core/motion/limits.py", "def f(a):\n    a /= 2\n", "true division"),
    ("firmware/core/motion/limits.py", "def f(a):\n    return float(a)\n", "float()"),
    ("firmware/core/motion/limits.py", "import typing\n", "import of typing"),
    ("firmware/core/motion/limits.py", "from enum import Enum\n", "import of enum"),
    ("firmware/core/motion/limits.py", "import time\n", "import of time"),
    ("firmware/core/motion/limits.py", "import machine\n", "import of machine"),
    (
        "firmware/core/motion/limits.py",
        "from firmware.boards import pico\n",
        "import of firmware.boards",
    ),
    ("firmware/core/motion/limits.py", "from firmware import app\n", "import of firmware.app"),
    ("firmware/core/motion/limits.py", "from host_bridge import errors\n", "import of host_bridge"),
    ("firmware/core/motion/limits.py", "def f():\n    import os\n", "import of os"),
    ("firmware/core/motion/limits.py", "from . import codes\n", "import of ."),
    ("firmware/protocol/codec.py", "from firmware.core import limits\n", "firmware.core"),
    ("firmware/protocol/codec.py", "import machine\n", "import of machine"),
    ("firmware/drivers/servo.py", "from firmware.protocol import codes\n", "firmware.protocol"),
    ("firmware/drivers/servo.py", "def f(a):\n    return Pin(a)\n", "Pin()"),
    ("firmware/drivers/servo.py", "def f(a):\n    return machine.Pin(15)\n", "Pin()"),
    ("firmware/boards/pico.py", "from firmware.core import limits\n", "firmware.core"),
    ("firmware/app.py", "from firmware.boards import pico\n", "firmware.boards"),
    ("firmware/compat.py", "import typing\n", "import of typing"),
    (
        "firmware/core/motion/limits.py",
        "def f(a):\n    match a:\n        case 1: pass\n",
        "`match`",
    ),
    ("firmware/core/motion/limits.py", "def f(a, /):\n    pass\n", "positional-only"),
    ("firmware/core/motion/limits.py", "TABLE = {1: 2}\n", "dict display"),
    ("firmware/core/motion/limits.py", "class A:\n    TABLE = {1, 2}\n", "set display"),
    ("firmware/core/motion/limits.py", "def f():\n    return {}\n", "dict display"),
    ("firmware/core/motion/limits.py", "try:\n    A = 1\nexcept:\n    A = 2\n", "bare `except:`"),
    ("firmware/core/motion/limits.py", "def f():\n    return lambda: 1\n", "lambda"),
    ("firmware/core/motion/limits.py", "def f(a):\n    return f'{a}'\n", "f-string"),
    ("firmware/core/motion/limits.py", "def f(a):\n    print(a)\n", "print()"),
    (
        "firmware/core/motion/limits.py",
        "def step(a):\n    return [x for x in a]\n",
        "list comprehension",
    ),
    ("firmware/core/motion/limits.py", "def step(a):\n    return sum(x for x in a)\n", "generator"),
    ("firmware/core/motion/limits.py", "def step(a):\n    yield a\n", "yield"),
    ("firmware/core/motion/limits.py", "async def step(a):\n    await a\n", "await"),
    ("firmware/core/motion/limits.py", "start()\n", "work at import"),
    ("firmware/core/motion/limits.py", "TABLE = make_table()\n", "work at import"),
    ("firmware/core/motion/limits.py", "TABLE = (1, make(2))\n", "work at import"),
    ("firmware/core/motion/limits.py", "for i in (1, 2):\n    pass\n", "work at import"),
    ("firmware/core/motion/limits.py", "if DEBUG:\n    A = 1\n", "work at import"),
    (
        "firmware/core/motion/limits.py",
        "if sys.implementation.name:\n    A = 1\n",
        "work at import",
    ),
    (
        "firmware/core/motion/limits.py",
        "if TYPE_CHECKING:\n    pass\nelse:\n    import os\n",
        "of os",
    ),
]

PASSES = '''"""Words."""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.protocol import codes

if TYPE_CHECKING:
    from collections.abc import Sequence
const = micropython.const
LIMIT = const(1 << 20)
TABLE: "tuple[tuple[str, int], ...]" = (("a", -1), ("b", LIMIT // 2), (codes.HELD, len("abc")))
FIRST, SECOND = range(2)


def square_table() -> "list[int]":
    return [i * i for i in range(8)]


class Limit:
    """A limit."""

    LOW = 1

    def __init__(self, rows: "Sequence[int]") -> None:
        self.index = {row: 1 for row in rows}

    def step(self, now_us: int) -> int:
        try:
            return now_us // 2
        except ValueError:
            return 0
'''


@pytest.mark.parametrize(("file", "source", "word"), PLANTED)
def test_a_planted_violation_is_refused_with_its_line_reason_and_remedy(file, source, word):
    found = [refusal for refusal in dialect.refusals(source, file) if word in refusal.what]
    assert found, [str(refusal) for refusal in dialect.refusals(source, file)]
    assert found[0].file == file
    assert 1 <= found[0].line <= source.count("\n")
    assert found[0].why
    assert found[0].remedy


def test_the_cars_own_style_passes():
    assert list(dialect.refusals(PASSES, "firmware/core/motion/limits.py")) == []


def test_what_cpython_alone_runs_may_use_its_language_but_not_import_what_it_likes():
    file = "firmware/c_library.py"
    assert not list(dialect.refusals("PLANS = {}\n", file))
    assert len(list(dialect.refusals("import time\n", file))) == 1


def test_what_is_refused_in_a_step_may_be_done_when_configuring():
    body = "(self, a):\n    return [f'{x}' for x in a], {}\n"
    names = ("__init__", "configure", "load_rows", "_validate", "crc_table", "make")
    for name in names:
        assert list(dialect.refusals(f"def {name}{body}", "firmware/core/motion/limits.py")) == []
    assert len(list(dialect.refusals(f"def step{body}", "firmware/core/motion/limits.py"))) == 3


def test_a_pin_and_words_for_a_person_are_at_home_on_a_board():
    source = "from machine import Pin\n\n\ndef f():\n    print(f'{Pin(15)}')\n"
    assert list(dialect.refusals(source, "firmware/boards/pico.py")) == []


def test_a_whole_tree_is_walked_and_the_command_fails(tmp_path: Path, capsys):
    folder = tmp_path / "firmware" / "core"
    folder.mkdir(parents=True)
    (folder / "drive.py").write_text("def step():\n    return 1.5\n")
    assert dialect.main([str(tmp_path)]) == 1
    assert "firmware/core/drive.py:2: the float 1.5" in capsys.readouterr().out


def test_a_tree_without_violations_passes(tmp_path: Path):
    folder = tmp_path / "firmware" / "core"
    folder.mkdir(parents=True)
    (folder / "drive.py").write_text("def step():\n    return 1\n")
    assert dialect.main([str(tmp_path)]) == 0
