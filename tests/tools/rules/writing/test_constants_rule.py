"""A number that nothing explains is refused; one that says itself what it is needs no comment."""

import pytest

from tests.tools.rules.writing import constants_rule
from tests.tools.rules.writing.constants_rule import unexplained


def _lines(text):
    return [line for line, _ in unexplained(text)]


@pytest.mark.parametrize(
    "constant",
    [
        "LIMIT_MS = 300",
        "LIMIT_S = -0.3",
        "LIMIT: float = 5.0",
        "LIMIT = const(300)",
        "LOW, HIGH = 3, 5",
        "DELAYS_S = (0.0, 0.05, 0.15)",
        "KEPT = 100",
        "KEPT = 256",
        "SPAN_US = 300 * TICK_US",
    ],
)
@pytest.mark.parametrize("head", ["", "class A:\n"])
def test_a_constant_needs_a_comment(constant, head):
    text = head + (f"    {constant}\n" if head else f"{constant}\n")
    number = text.count("\n")
    assert set(_lines(text)) == {number}
    assert _lines(text.rstrip() + "  # two steps of the car\n") == []
    indent = "    " if head else ""
    assert _lines(f"{head}{indent}# Two steps of the car\n{indent}{constant}\n") == []
    assert _lines(f"{head}{indent}# Limits of a drive\n{indent}A = B\n{indent}{constant}\n") == []
    assert _lines(f"{head}{indent}# Limits of a drive\n\n{indent}{constant}\n") != []


@pytest.mark.parametrize(
    "constant",
    [
        "NONE, FIRST = 0, 1",
        "MASK = 0xFFFF",
        "MASK = (1 << 30) - 1",
        "US_PER_MS = 1000",
        "SAMPLES = _WINDOW_S / 0.001",
        "WORDS = ROWS[3:7]",
        "NAME = 'limit 300'",
        "class Stop:\n    ID = 41",
        "class Wrong:\n    exit_code = 5",
    ],
)
def test_a_constant_that_says_what_it_is_needs_none(constant):
    assert _lines(constant + "\n") == []


@pytest.mark.parametrize(
    "table",
    [
        "ROWS = (('speed', 300, 'mm/s'), ('time', 20, 'ms'))",
        "KEYS = number('volts', 1.0, 24.0)",
        "COSTS = {'first': 300}",
        "CASES = [Case('loss', 'one frame in ten', lambda line: lossy(line, 0.1))]",
    ],
)
def test_a_tables_columns_have_their_names(table):
    assert _lines(table + "\n") == []


@pytest.mark.parametrize(
    ("statement", "count"),
    [
        ("sleep(0.3)", 1),
        ("if speed > 300:\n        stop()", 1),
        ("x = [5.0, 7.0]", 2),
        ("x = max(y, 1e-9)", 1),
        ("x = y * 9.81", 1),
        ("x = -300", 1),
        ("x = lambda: 300", 1),
        ("x = time_us * 1e-6", 0),
        ("x //= 1000", 0),
        ("x = hours * 3600 + 24 * days", 0),
        ("x = y >> 12 & 0x1F", 0),
        ("x |= 32", 0),
        ("x = row[7]", 0),
        ("x = text[:40]", 0),
        ("x = y**3", 0),
        ("x = round(y, 6)", 0),
        ("for axis in range(3):\n        x = axis", 0),
        ("x = min(y, 0xFFFF)", 0),
        ("x = y + 256", 0),
        ("plot(x, alpha=0.3, figsize=(16, 8.6))", 0),
        ("mkdir(mode=0o700)", 0),
        ("say(f'{x:5.1f} of 300')", 0),
    ],
)
def test_a_number_in_a_function_needs_a_name_or_a_comment(statement, count):
    assert len(_lines(f"def f():\n    {statement}\n")) == count
    assert _lines(f"def f():\n    # So long it takes\n    {statement}\n") == []


@pytest.mark.parametrize(
    ("docstring", "lines"),
    [
        ("Open the loop for 300 us.", []),
        ("Open the loop for 300us, twice.", []),
        ("Open the loop for 0.3 ms.", [3]),
        ("Open the loop for 1300 us, or 300.5.", [3]),
        ("Open the loop.", [3]),
    ],
)
def test_a_docstring_explains_the_numbers_that_it_names(docstring, lines):
    assert _lines(f'def f():\n    """{docstring}"""\n    glitch(300)\n') == lines
    nested = f'def f():\n    """{docstring}"""\n\n    def g():\n        glitch(300)\n'
    assert _lines(nested) == [line + 2 for line in lines]


def test_a_default_is_a_constant():
    (found,) = unexplained("def f(limit_ms=300):\n    return limit_ms\n")
    assert found == (1, "f has 300: say in a comment why it is so much")
    assert _lines("def f(limit_ms=300):  # two steps\n    return limit_ms\n") == []


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("def f():\n    run(\n        300,  # two steps\n        500,\n    )\n", [4]),
        ("def f():\n    run(  # two steps of each\n        300,\n        500,\n    )\n", []),
        ("def f():\n    run(\n        300,\n        500,\n    )  # two steps of each\n", []),
        ("def f():\n    run(\n        # two steps\n        300,\n    )\n", []),
        ("def f():\n    run(300)\n    # two steps\n", [2]),
        ("def f():\n    # two steps\n    run(300)\n    run(500)\n", []),
        ("def f():\n    # two steps\n    if x:\n        run(500)\n", [4]),
        ("def f():\n    if x:\n        # two steps\n        y()\n    run(500)\n", [5]),
        ("X = 300  # noqa: E501\n", [1]),
        ("X = 300  # type: ignore[assignment]\n", [1]),
        ("# --- limits\nX = 300\n", [2]),
        ("X = 300  #\n", [1]),
        ("X = '# two steps', 300\n", [1]),
    ],
)
def test_a_comment_explains_what_it_stands_at(text, lines):
    assert _lines(text) == lines


def _tree(tmp_path, text):
    folder = tmp_path / "host_bridge" / "cars"
    folder.mkdir(parents=True)
    (folder / "car.py").write_text(text)
    return tmp_path


def test_a_refusal_says_where_and_what_to_do(tmp_path, capsys):
    root = _tree(tmp_path, "X_MS = 300\n\n\ndef f():\n    sleep(0.3)\n")
    found = constants_rule.refusals(root, {})
    assert found == [
        "host_bridge/cars/car.py:1: X_MS has 300: say in a comment why it is so much",
        "host_bridge/cars/car.py:5: 0.3: say in a comment why it is so much, or make it a constant "
        "that says so",
    ]
    assert constants_rule.main([str(root)]) == 1
    assert capsys.readouterr().out.splitlines()[:2] == found


def test_a_folder_that_waits_may_only_get_better(tmp_path):
    root = _tree(tmp_path, "X = 300\nY = 500\n")
    assert constants_rule.refusals(root, {"host_bridge/cars": 2}) == []
    for count in (1, 3, 0):
        (found,) = constants_rule.refusals(root, {"host_bridge/cars": count})
        assert (
            f"2 numbers that nothing explains, and the table of constants_rule.py says {count}"
            in found
        )


def test_an_empty_folder_passes_nothing(tmp_path):
    with pytest.raises(ValueError, match="no file of"):
        constants_rule.refusals(tmp_path)
