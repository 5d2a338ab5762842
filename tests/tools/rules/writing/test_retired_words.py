"""A word that was given up is refused where its row holds, with what to say in its place."""

import pytest

from tests.tools.rules.writing import retired_words
from tests.tools.rules.writing.retired_words import BOTH, CODE, PRODUCT, ROWS, Retired


def _found(tmp_path, file, text):
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return retired_words.refusals(tmp_path, [file])


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.word)
def test_each_row_is_refused_where_it_holds_and_nowhere_else(row, tmp_path):
    name = row.word if row.is_class else f"_{row.word}_of_car"
    in_product = ("host_bridge/car.py", (CODE, PRODUCT, BOTH))
    for file, where in (in_product, ("tests/a.py", (CODE, BOTH))):
        found = _found(tmp_path, file, f"import os\n{name} = 1\n")
        expected = f"{file}:2: {name!r}: {row.word} is retired; say {row.instead}"
        assert (expected in found) == (row.where in where)
        assert row.where in where or row.word not in str(found).replace(name, "")
    words = row.word.replace("_", " ")
    found = _found(tmp_path, "README.md", f"A page.\n\nIt has a {words.capitalize()}, here.\n")
    expected = f"README.md:3: {row.word!r} is retired in prose too; say {row.instead}"
    assert (expected in found) == (row.where == BOTH)


@pytest.mark.parametrize(
    ("word", "name", "is_in"),
    [
        ("take_for", "_take_for_car", True),
        ("take_for", "TakeForCar", True),
        ("take_for", "TAKE_FOR", True),
        ("take_for", "mistake_for", False),
        ("take_for", "take_it_for", False),
        ("deed", "DEEDS", False),  # another row has the plural
        ("deed", "indeed", False),
        ("Order", "Order", True),
        ("Order", "_Order", True),
        ("Order", "order", False),
        ("Order", "OrderBook", False),
    ],
)
def test_a_word_is_found_by_the_parts_of_a_name(word, name, is_in):
    assert Retired(word, "another").is_in(name) == is_in


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ('"""Starts the\n\ncrew."""\n', [3]),
        ("def f():\n    # the crew\n    return 1\n", [2]),
        ('def f():\n    """A crew."""\n', [2]),
        ('print("the crew")\n', []),  # what a program says has a test of its own
        ("def test_a_crew_is_no_name(): pass\n", []),
        ("screw = 1\n", []),
    ],
)
def test_prose_is_comments_and_docstrings(text, lines, tmp_path):
    found = _found(tmp_path, "tests/test_car.py", text)
    assert [line.split(":")[1] for line in found] == [str(line) for line in lines]


def test_names_that_a_hash_covers_stay(tmp_path):
    table = "REFUSED_CREW = 3\nTABLE = (('crew_mm', 1),)\n"
    assert _found(tmp_path, "firmware/protocol/codes.py", table) == []
    assert _found(tmp_path, "host_bridge/car.py", "REFUSED_CREW, crew_mm = 1, 2\n") == []
    (found,) = _found(tmp_path, "host_bridge/car.py", "crew_m = 1\n")
    assert found.startswith("host_bridge/car.py:1: 'crew_m'")


def test_a_page_of_changes_may_tell_an_old_name(tmp_path):
    assert _found(tmp_path, "README.md", "the crew") != []
    for file in retired_words.TELLS:
        assert (retired_words.ROOT / file).is_file()
    (tmp_path / "README.md").write_text("a car")
    (tmp_path / "CHANGELOG.md").write_text("the crew")
    assert retired_words.refusals(tmp_path, ["README.md", "CHANGELOG.md"]) == []


def test_no_word_is_given_in_place_of_itself_or_of_another_that_is_retired():
    assert len({row.word for row in ROWS}) == len(ROWS)
    for row in ROWS:
        for name in row.instead.replace(",", " ").split():
            assert not any(other.is_in(name) for other in ROWS), (row, name)


def test_nothing_to_look_at_passes_nothing(tmp_path):
    with pytest.raises(ValueError, match="no page"):
        retired_words.refusals(tmp_path, ["a.txt"])
