"""A check that looked at nothing has shown nothing."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.evidence import every, holds_for, some
from tests.tools.rules.program import evidence_rule

ROOT = Path(__file__).resolve().parents[4]
_AS_LONG_AS_THEIRS = {
    "chain", "combinations", "enumerate", "items", "pairwise", "permutations", "product",
    "reversed", "sorted", "values", "zip",
}  # fmt: skip


def test_every_of_nothing_is_an_error():
    nothing: list[int] = []
    with pytest.raises(AssertionError, match="nothing to look at"):
        every(value == 1 for value in nothing)
    assert every([1, 2])
    assert not every([0, 1])
    assert not every([1, 0])


def test_every_stops_at_the_first_that_is_not_so():
    seen = []
    assert not every(seen.append(value) or value < 2 for value in (1, 2, 3))
    assert seen == [1, 2]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("assert all(x for x in y)", [1]),
        ("def is_so(y):\n    return not all(map(bool, y))", [2]),
        ("so = map(all, rows)", [1]),
        ("assert y.all()", []),
        ("assert every(y)  # all(y)", []),
        ("parser.add_argument('--all')\nif options.all: run()", []),
    ],
)
def test_the_uses_of_all_are_found(text, lines, tmp_path, capsys):
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "test_it.py").write_text(text)
    assert evidence_rule.main([str(tmp_path)]) == (1 if lines else 0)
    told = capsys.readouterr().out.splitlines()
    assert [line.partition(": ")[0] for line in told] == [f"folder/test_it.py:{n}" for n in lines]


def test_some_of_nothing_is_an_error():
    with pytest.raises(AssertionError, match="nothing to look at"):
        some(value for value in [])
    assert some(value for value in [1, 2]) == [1, 2]


def is_never_empty(looked_at: ast.expr) -> bool:
    """Whether it is seen in the text that there is something: written out, a constant of the file,
    a range, ``some`` of it."""
    if isinstance(looked_at, ast.Tuple | ast.List | ast.Constant | ast.Dict | ast.Set):
        return True
    if isinstance(looked_at, ast.Name | ast.Attribute):
        return (looked_at.id if isinstance(looked_at, ast.Name) else looked_at.attr).isupper()
    if not isinstance(looked_at, ast.Call):
        return False
    called = looked_at.func
    name = called.id if isinstance(called, ast.Name) else getattr(called, "attr", "")
    if name in _AS_LONG_AS_THEIRS:
        whole = looked_at.args or [called.value] if isinstance(called, ast.Attribute) else []
        return every(map(is_never_empty, looked_at.args or whole))
    return name in ("range", "some")


def checks(node: ast.AST, may_be_left_out: bool = False) -> Iterator[bool]:
    """Each check below a node: whether it is in a loop that may have nothing to go through."""
    for child in ast.iter_child_nodes(node):
        is_loop = isinstance(child, ast.For | ast.AsyncFor)
        left_out = may_be_left_out or (is_loop and not is_never_empty(child.iter))
        is_raising = isinstance(child, ast.With) and any(
            "raises" in ast.unparse(item) for item in child.items
        )
        if isinstance(child, ast.Assert) or is_raising:
            yield may_be_left_out
        if not isinstance(child, ast.Assert):
            yield from checks(child, left_out)


def functions_in(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        is_function = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        if is_function and node.name.startswith("test_"):
            yield node


def test_a_test_that_checks_one_by_one_has_something_to_check():
    """Otherwise an empty list passes: ``for it in some(...)``."""
    seen, empty = 0, []
    for path in sorted(ROOT.joinpath("tests").rglob("test_*.py")):
        for test in functions_in(path):
            found = list(checks(test))
            seen += 1
            if found and not any(not left_out for left_out in found):
                empty.append(f"{path.relative_to(ROOT)}:{test.lineno} {test.name}")
    assert seen > 1000
    assert empty == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("for x in y:\n  assert x", [True]),
        ("for x in some(y):\n  assert x", [False]),
        ("for x in (1, 2):\n  assert x", [False]),
        ("for x in zip(A, some(y)):\n  assert x", [False]),
        ("for x in zip(A, y):\n  assert x", [True]),
        ("for x in d.items():\n  assert x", [True]),
        ("for x in D.items():\n  assert x", [False]),
        ("for x in y:\n  for z in (1,):\n    assert x", [True]),
        ("for x in y:\n  with pytest.raises(E):\n    x()", [True]),
        ("assert y\nfor x in y:\n  assert x", [False, True]),
        ("for x in range(3):\n  assert x", [False]),
    ],
)
def test_the_checks_of_a_text_are_found(text, found):
    assert list(checks(ast.parse(text))) == found


def test_each_case_that_fails_is_named_and_why():
    def is_small(kind, number):
        if number == 4:
            raise KeyError(number)
        with pytest.raises(ZeroDivisionError):
            kind(number) // 0
        assert number < 7, f"{number} is large"

    cases = [(int, number) for number in range(10)]
    with pytest.raises(AssertionError) as told:
        holds_for(cases, is_small)
    assert str(told.value).splitlines() == [
        "4 of 10 cases:",
        "int, 4: KeyError: 4",
        *(f"int, {number}: AssertionError: {number} is large" for number in (7, 8, 9)),
    ]
    with pytest.raises(AssertionError, match="10 of 10 cases"):
        holds_for(cases, lambda kind, number: pytest.fail("never"))
    assert holds_for(cases[:4], is_small)
    with pytest.raises(AssertionError, match="nothing to look at"):
        holds_for([], is_small)
