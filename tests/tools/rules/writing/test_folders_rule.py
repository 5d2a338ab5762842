"""A folder that is too wide is refused, and one that waits to be parted may only get narrower."""

import pytest

from tests.tools.rules.writing import folders_rule
from tests.tools.rules.writing.folders_rule import MOST


def _files(folder: str, count: int) -> list[str]:
    return [f"{folder}/{number}.py" for number in range(count)]


def test_a_folder_that_is_too_wide_is_refused():
    assert folders_rule.refusals(_files("a", MOST), {}) == []
    (found,) = folders_rule.refusals(_files("a", MOST + 1), {})
    assert found.startswith(f"a: {MOST + 1} files and folders")


def test_a_folder_counts_as_one_entry_whatever_it_holds():
    files = [*_files("a", MOST - 1), *_files("a/b", MOST)]
    assert folders_rule.entries(files) == {"a": MOST, "a/b": MOST}
    assert folders_rule.refusals(files, {}) == []


def test_a_folder_of_which_each_file_is_one_of_a_kind_may_be_wide():
    assert folders_rule.refusals(_files("host_bridge/cli/commands", 40), {}) == []


def test_a_folder_that_waits_may_only_get_narrower():
    files = _files("a", 20)
    assert folders_rule.refusals(files, {"a": 20}) == []
    for count in (19, 21):
        (found,) = folders_rule.refusals(files, {"a": count})
        assert f"a: 20 files and folders, and the table of folders_rule.py says {count}" in found


def test_nothing_to_look_at_passes_nothing():
    with pytest.raises(ValueError, match="no file"):
        folders_rule.refusals([], {})


def test_a_marker_for_type_checkers_is_no_entry():
    assert folders_rule.entries([*_files("a", MOST), "a/py.typed"]) == {"a": MOST}
