"""What is left of a program's names once its constants are folded, and what has to stay."""

import subprocess

import pytest

from firmware.core.settings.params import TABLE
from firmware.core.settings.table_hash import table_hash
from firmware.protocol.frame import crc_table
from firmware.protocol.messages import TO_BOARD, TO_HOST
from firmware.protocol.plant import PLANT
from host_bridge.deploy.flash.build import program_for
from host_bridge.deploy.flash.program.constant_folding import fold_constants
from host_bridge.deploy.flash.program.flattening import flattened, text_for_board
from host_bridge.deploy.flash.program.program import ROOT, sources_for
from tests.firmware.worlds import micropython_command
from tests.host_bridge.deploy.flash.program.made_programs import (
    WITH_MADE_PROGRAMS,
    made_program,
)
from tests.support import patience
from tests.support.evidence import some

CODES = "firmware/codes.py"
USER = "firmware/user.py"
TABLES = """
from firmware.compat import array
from firmware.core.settings import params
from firmware.core.settings.table_hash import table_hash
from firmware.protocol import messages, plant
from firmware.protocol.codec import Layout
assert not isinstance(params.TABLE, tuple)
print(list(params.TABLE))
print(bytes(table_hash(params.TABLE, None)))
for kind in messages.TO_BOARD + messages.TO_HOST + plant.PLANT:
    assert isinstance(kind.LAYOUT, Layout) and not kind.FIELDS
    made = kind()
    print((made.numbers, made.texts, bytes(made.shape), made.size))
    print(([getattr(made, name) for name in made.numbers], list(made.values)))
"""


def user_of(codes, text):
    """What becomes of ``text``, which may import from the module of ``codes``."""
    return fold_constants({CODES: codes, USER: text})[USER]


def lines_of(text):
    """Those that are not empty, without the blanks behind them."""
    return [line.rstrip() for line in text.splitlines() if line.strip()]


@pytest.mark.parametrize(
    "codes",
    [
        "HELD = 2\n",
        "HELD = const(2)\n",
        "FREE, HELD = 1, 2\n",
        "(A, B, HELD) = range(3)\n",
        "_ONE = 1\nHELD = _ONE << 1 | 0\n",
        "A = HELD = 2\n",
    ],
)
def test_a_constant_takes_its_names_place_and_its_import_goes(codes):
    found = user_of(codes, "from firmware.codes import HELD\ndef f(x):\n    return x & HELD\n")
    assert lines_of(found) == ["def f(x):", "    return x & 2"]


def test_it_is_found_as_a_part_of_its_module_and_under_another_name():
    text = "from firmware import codes as c\nfrom firmware.codes import A as B\nX = [c.A, B]\n"
    found = fold_constants({"firmware/__init__.py": "", CODES: "A = -3\n", USER: text})
    assert lines_of(found[USER]) == ["X = [(-3), (-3)]"]


def test_what_nobody_asks_for_by_name_is_gone_and_lines_keep_their_numbers():
    codes = '"""Numbers."""\n\nA, B = (\n    1,\n    2,\n)\n\n\ndef f():\n    return A + B\n'
    found = fold_constants({CODES: codes})[CODES]
    assert found.splitlines()[9] == "    return 1 + 2"
    assert lines_of(found) == ['"""Numbers."""', "def f():", "    return 1 + 2"]


def test_what_is_for_type_checkers_alone_goes():
    text = (
        "from firmware.codes import CHECKS, Kind, micropython, ptr8\n"
        "if CHECKS:\n    from firmware.codes import Other\n"
        "const = micropython.const\n"
        "@micropython.viper\ndef f(data: ptr8, kind: Kind) -> Kind:\n    x: Kind = data\n"
    )
    codes = "CHECKS = False\nptr8 = None\nclass Kind: pass\nclass micropython: pass\n"
    assert lines_of(user_of(codes, text)) == [
        "if False:",
        "    from firmware.codes import Other",
        "@micropython.viper",
        "def f(data: ptr8, kind: Kind) -> Kind:",
        "    x: Kind = data",
    ]


@pytest.mark.parametrize(
    ("codes", "text"),
    [
        ("A = 1 << 30\n", "X = [A]\n"),  # an object on a chip
        ("A = -(1 << 30)\n", "X = [A]\n"),
        ("A = 1\nA = 2\n", "X = [A]\n"),
        ("A = 1\ndef f():\n    global A\n    A = 2\n", "X = [A]\n"),
        ("A = len('x')\n", "X = [A]\n"),
        ("A = 'text'\n", "X = [A]\n"),
        ("A = 1.5\n", "X = [A]\n"),
        ("A = B\nB = A\n", "X = [A]\n"),
        ("A = 1\n", "def f(A):\n    return A\n"),  # another one of that name
        ("A = 1\n", "A = A + 1\n"),
    ],
)
def test_what_is_no_constant_or_has_a_doubtful_name_stays(codes, text):
    text = "from firmware.codes import A\n" + text
    both = fold_constants({CODES: codes, USER: text})
    assert both == {CODES: codes, USER: text}


LATE = (
    "    from firmware.codes import A\n    return A\n",
    "    from firmware import codes\n    return codes.A\n",
)


@pytest.mark.parametrize("late", LATE)
def test_what_is_asked_for_within_a_function_stays_where_it_is(late):
    both = {CODES: "A = 1\n", USER: "def f():\n" + late}
    assert fold_constants(both) == both


def test_what_is_passed_on_is_still_there_to_be_had():
    sources = {
        "firmware/deep.py": "class A: pass\n",
        CODES: "from firmware.deep import A\n",
        USER: "from firmware.codes import A\nX = A()\n",
    }
    assert fold_constants(sources) == sources


def test_a_long_name_given_as_a_text_is_spelled_as_a_name_too():
    text = "from firmware.codes import get\n"
    text += "X = get('speed_max_mm_s'), get('short'), get('a long text')\n"
    found = user_of("def get(name): pass\n", text)
    assert found == "0 and (speed_max_mm_s,); " + text


@pytest.mark.micropython
def test_the_programs_tables_are_walked_as_they_were(tmp_path):
    for path, text in {**program_for("unix"), "main.py": text_for_board(TABLES)}.items():
        place = tmp_path / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text)
    said = patience.run(
        [*micropython_command(64), str(tmp_path / "main.py")],
        stdin=subprocess.DEVNULL,
        check=True,
        text=True,
        within_s=60,
    ).stdout.splitlines()
    assert said[0] == str([(row[0], "", *row[2:]) for row in TABLE])  # units are hashed alone
    assert said[1] == str(bytes(table_hash(TABLE, crc_table())))
    made = [kind() for kind in TO_BOARD + TO_HOST + PLANT]
    assert said[2::2] == [
        str((each.numbers, each.texts, bytes(each.shape), each.size)) for each in made
    ]
    assert said[3::2] == [
        str(([getattr(each, name) for name in each.numbers], list(each.values))) for each in made
    ]


@WITH_MADE_PROGRAMS
@pytest.mark.parametrize("port", ["rp2", "stm32", "esp32", "unix"])
def test_every_line_of_the_program_keeps_its_number(port):
    sources = {f"firmware/{it}": (ROOT / "firmware" / it).read_text() for it in sources_for(port)}
    before = flattened(sources)
    for path, text in some(made_program(port).items()):
        if not path.endswith(("version.py", "table_hash.py")):
            assert text.count("\n") == before[path].count("\n"), path
