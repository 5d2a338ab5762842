"""Each tutorial does what it says: its files saved, its commands run, its output compared."""

import sys
from pathlib import Path

import pytest

from tests.tools.docs import contents, staging, walking

PROGRAMS = Path(sys.executable).parent
PAGES = [page for _, page in dict(contents.SECTIONS)["Tutorials"]]
WITH_ROS = "host_bridge/ros2/first_node"  # tests/ros walks it, where there is a ROS 2


@pytest.mark.process(drives=True)
@pytest.mark.parametrize("page", [it for it in PAGES if it != WITH_ROS])
def test_a_tutorial_is_walked(page, tmp_path):
    assert walking.walk(staging.ROOT / f"{page}.md", tmp_path, PROGRAMS) >= 3


PAGE = """
Save this as `a.txt`:

```toml
x = 1
```

```sh
cat a.txt; echo more
```
```text
x = …
more
```

```sh by hand
tandem drive
```

```sh fails
false
```
"""


def test_a_page_is_read_as_files_commands_and_what_they_print():
    found = walking.steps(PAGE)
    assert [(it.kind, it.name, it.expected) for it in found] == [
        ("file", "a.txt", []),
        ("sh", "", ["x = …", "more"]),
        ("sh fails", "", []),
    ]


@pytest.mark.process
@pytest.mark.smoke
def test_a_page_is_walked_and_what_it_shows_wrongly_is_refused(tmp_path):
    page = tmp_path / "page"
    for name, text, refusal in (
        ("right", PAGE, None),
        ("other output", PAGE.replace("\nmore\n", "\nless\n"), "not printed: less"),
        ("fails", PAGE.replace("cat a.txt", "cat b.txt"), "exit code 1"),
        ("does not fail", PAGE.replace("\nfalse", "\ntrue"), "exit code 0"),
    ):
        page.write_text(text)
        folder = tmp_path / name
        folder.mkdir()
        if refusal is None:
            assert walking.walk(page, folder, PROGRAMS) == 2
        else:
            with pytest.raises(AssertionError, match=refusal):
                walking.walk(page, folder, PROGRAMS)


@pytest.mark.parametrize(
    ("expected", "output", "missing"),
    [
        (["a…c", "…", "d"], "abc\nx\nd  \n", None),
        (["a", "b"], "b\na\n", "b"),
        (["a"], "xa\n", "a"),
        ([], "", None),
    ],
)
def test_lines_are_compared_in_their_order(expected, output, missing):
    assert walking.first_missing(expected, output) == missing
