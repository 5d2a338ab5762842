"""A folder with too many entries is refused, and one with too few; exceptions are a short table."""

import pytest

from tests.tools.rules.writing import folders_rule
from tests.tools.rules.writing.folders_rule import FEW, LEAST, MOST, MOST_FEW, PAGE_LINES

README = "README.md"


def _files(folder: str, count: int) -> list[str]:
    return [f"{folder}/{number}.py" for number in range(count)]


def test_a_folder_that_is_too_wide_is_refused():
    assert folders_rule.refusals(_files("a", MOST), {}) == []
    (found,) = folders_rule.refusals(_files("a", MOST + 1), {})
    assert found.startswith(f"a: {MOST + 1} files and folders")


def test_a_folder_counts_as_one_entry_whatever_it_holds():
    files = [*_files("a", MOST - 1), *_files("a/b", MOST)]
    assert folders_rule.refusals(files, {}) == []
    assert len(folders_rule.refusals([*files, "a/c/1", "a/c/2", "a/c/3"], {})) == 1


def test_a_folder_of_which_each_file_is_one_of_a_kind_may_be_wide():
    others = ["host_bridge/cli/a", "host_bridge/cli/b", "host_bridge/c", "host_bridge/d"]
    assert folders_rule.refusals([*_files("host_bridge/cli/commands", 40), *others], {}) == []


def test_a_folder_of_too_few_is_refused_unless_the_table_gives_a_reason():
    files = [*_files("a", LEAST), *_files("a/b", LEAST - 1)]
    (found,) = folders_rule.refusals(files, {})
    assert found.startswith("a/b: 2 of the 3 entries")
    assert folders_rule.refusals(files, {"a/b": "why"}) == []


def test_what_heads_a_small_package_is_an_entry_of_it():
    assert folders_rule.refusals([*_files("a", LEAST - 1), "a/__init__.py"], {}) == []


def test_a_reason_that_is_needed_no_more_is_refused():
    (found,) = folders_rule.refusals(_files("a", LEAST), {"a": "why"})
    assert "needed no more" in found


def test_the_table_of_reasons_stays_short():
    assert len(FEW) <= MOST_FEW
    few = dict.fromkeys((f"a/{number}" for number in range(MOST_FEW + 1)), "why")
    files = [f"{folder}/1.py" for folder in few]
    (found,) = folders_rule.refusals(files, few)
    assert f"{MOST_FEW + 1} rows, {MOST_FEW} at most" in found


def test_a_package_of_ros_is_laid_out_as_ros_wants_it():
    others = [*_files("tests", LEAST), *_files("tests/ros", LEAST)]
    assert folders_rule.refusals([*others, "tests/ros/messages/a_msgs/msg/A.msg"], {}) == []


def test_nothing_to_look_at_passes_nothing():
    with pytest.raises(ValueError, match="no file"):
        folders_rule.refusals([], {})


def test_a_marker_for_type_checkers_is_no_entry():
    assert folders_rule.refusals([*_files("a", MOST), "a/py.typed"], {}) == []


def test_a_readme_of_more_than_a_page_is_refused():
    assert folders_rule.long_readmes({f"a/{README}": PAGE_LINES}) == []
    (found,) = folders_rule.long_readmes({f"a/{README}": 1, f"b/{README}": PAGE_LINES + 1})
    assert found.startswith(f"b/{README}: {PAGE_LINES + 1} lines")
    with pytest.raises(ValueError, match=r"no README\.md"):
        folders_rule.long_readmes({})
