"""A small file that a single other one imports is refused, with the file that it belongs into."""

import pytest

from tests.tools.rules.writing.small_files_rule import LEAST_LINES, imports_of, refusals

SMALL = "x = 1\n"
ENOUGH = SMALL * LEAST_LINES


@pytest.mark.parametrize(
    "line",
    [
        "import a.small",
        "from a import small",
        "from a.small import x",
        "from . import small",
        "from .small import x",
        "def later():\n    from a.small import x",
    ],
)
def test_one_importer_is_found_by_any_import(line):
    texts = {"a/small.py": SMALL, "a/large.py": line + "\n" + ENOUGH}
    (found,) = refusals(texts, {})
    assert found.startswith("a/small.py: under 30 lines, and only a/large.py imports it")


@pytest.mark.parametrize(
    ("texts", "count"),
    [
        ({"a/small.py": ENOUGH, "a/large.py": "import a.small\n" + ENOUGH}, 0),
        ({"a/small.py": SMALL, "a/large.py": ENOUGH}, 0),  # found by its name, or started
        ({"a/small.py": SMALL, "a/b.py": "import a.small\n", "a/c.py": "import a.small\n"}, 0),
        ({"a/__init__.py": SMALL, "b/large.py": "import a\n" + ENOUGH}, 0),
        ({"a/small.py": SMALL, "tests/test_small.py": "import a.small\n"}, 0),
        (
            {
                "a/small.py": SMALL,
                "a/large.py": "import a.small\n" + ENOUGH,
                "tests/test_small.py": "import a.small\n",
            },
            1,  # that it has a test of its own keeps nobody from moving it
        ),
        ({"tests/small.py": SMALL, "tests/test_a.py": "from tests import small\n"}, 1),
        ({"a/small.py": SMALL, "a/__init__.py": "from a.small import x\n"}, 1),
        (
            {
                "host_bridge/api/tandem/small.py": SMALL,
                "host_bridge/api/tandem/large.py": "from tandem.small import x\n" + ENOUGH,
            },
            1,
        ),
    ],
)
def test_small_and_of_a_single_importer_are_both_needed(texts, count):
    assert len(refusals(texts, {})) == count


def test_a_reason_to_stand_alone_counts_as_long_as_it_is_needed():
    texts = {"a/small.py": SMALL, "a/large.py": "import a.small\n" + ENOUGH}
    assert refusals(texts, {"a/small.py": "another takes its place"}) == []
    texts["a/third.py"] = "import a.small\n"
    (found,) = refusals(texts, {"a/small.py": "another takes its place"})
    assert found.endswith("needs none any more")
    (found,) = refusals({"a/large.py": ENOUGH}, {"a/small.py": "it was there"})
    assert found.startswith("a/small.py: has its reason")


def test_a_relative_import_is_from_the_files_own_package():
    text = "from .. import b\nfrom .c import d\nimport e\n"
    assert [*imports_of("x/y/z.py", text)] == [("x", "b"), ("x.y.c", "d"), ("e", "")]
    assert [*imports_of("x/y/__init__.py", text)] == [("x", "b"), ("x.y.c", "d"), ("e", "")]


def test_nothing_to_look_at_passes_nothing():
    with pytest.raises(ValueError, match="no file"):
        refusals({}, {})
