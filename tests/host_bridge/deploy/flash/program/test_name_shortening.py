"""Private names become short ones, and a program does the same as before."""

import pytest

from host_bridge.deploy.flash.program.name_shortening import shorten_names

BASE = "firmware/base.py"
USER = "firmware/user.py"


def one(text: str) -> str:
    return shorten_names({USER: text})[USER]


def carried_out(text: str) -> dict:
    names: dict = {}
    exec(compile(text, USER, "exec"), names)
    return names


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("_limit = [1]\ndef f():\n    return _limit", "_a = [1]\ndef f():\n    return _a"),
        ("def _find():\n    pass\nx = _find", "def _a():\n    pass\nx = _a"),
        ("class _Row:\n    pass\nx = _Row()", "class _a:\n    pass\nx = _a()"),
        ("def f(speed, angle=1):\n    return speed", "def f(_b, _a=1):\n    return _b"),
        ("def f(x: int) -> int:\n    return x", "def f(_a: int) -> int:\n    return _a"),
    ],
    ids=["a table", "a function", "a class", "arguments", "an annotation"],
)
def test_what_is_asked_for_at_home_alone_is_short(text, short):
    assert one(text) == short


def test_attributes_and_methods_share_the_short_names_of_their_class():
    text = (
        "class A:\n    _most = 3\n    def __init__(self):\n        self._left = self._most\n"
        "    def _take(self):\n        self._left -= 1\n"
    )
    assert one(text) == (
        "class A:\n    _b = 3\n    def __init__(self):\n        self._a = self._b\n"
        "    def _c(self):\n        self._a -= 1\n"
    )


def test_a_class_and_those_that_inherit_from_it_call_a_thing_alike():
    files = {
        BASE: "class A:\n    def go(self):\n        return self._step() + self._own()\n"
        "    def _own(self):\n        return 1\n",
        USER: "from firmware.base import A\nclass B(A):\n    def _step(self):\n        return 2\n"
        "    def _own(self):\n        return 10 + super()._own()\n",
    }
    short = shorten_names(files)
    names = carried_out(short[BASE])
    own = short[USER].replace("from firmware.base import A\n", "")
    exec(compile(own, USER, "exec"), names)
    assert names["B"]().go() == 13
    assert "_own" not in short[BASE] + short[USER]
    assert "_step" not in short[BASE] + short[USER]


@pytest.mark.parametrize(
    "text",
    [
        "_here = 1\nx = globals()['_here']",
        "def f(speed):\n    return speed\nf(speed=1)",
        "class A:\n    _kept = 2\nx = A()._kept",
        "_count = 0\ndef f():\n    global _count\n    _count = 1",
        "from firmware.base import _theirs\nx = _theirs",
        "def f(self):\n    return 1",
        "x = __name__",
        "_ = 3",
    ],
)
def test_what_is_asked_for_in_another_way_keeps_its_name(text):
    assert one(text) == text


def test_an_argument_takes_no_name_that_its_function_asks_for():
    text = (
        "_table = [5]\ndef f(at, _a):\n    return _table[at] + _a\n"
        "def g(at):\n    def inner(by):\n        return at + by\n    return inner(2)\n"
    )
    before, after = carried_out(text), carried_out(one(text))
    assert before["f"](0, 3) == after["f"](0, 3) == 8
    assert before["g"](4) == after["g"](4) == 6


@pytest.mark.parametrize(
    "text",
    [
        "_a = 1\n_limit = 4\ndef f():\n    global _a\n    _a = 2\n    return _limit + _a",
        "_limit = 4\ndef f():\n    _a = 2\n    return _limit + _a",
        "class A:\n    _limit = 4\n    _a = 2\n    def f(self):\n        return self._limit\n"
        "def f():\n    return A().f() + A()._a",
    ],
    ids=["a shared name", "a name within a function", "a name asked for from outside"],
)
def test_no_short_name_is_one_that_somebody_else_has_there(text):
    assert carried_out(text)["f"]() == carried_out(one(text))["f"]() == 6


def test_lines_and_what_no_name_is_stay_as_they_are():
    text = '"""_doc"""\n\n\ndef f(\n    wide,  # _note\n):\n    return wide, "grün", wide\n'
    assert one(text) == text.replace("wide", "_a")
