"""The README's Python runs as it stands there, and prints what is said of it."""

import re
import sys
from pathlib import Path
from textwrap import dedent

import pytest

import sim_mock
from tests.support import patience

README = Path(sim_mock.__file__).with_name("README.md").read_text()
EXAMPLE = re.compile(r"^(    import .+?)\n\nIt prints `(.+?)`", re.MULTILINE | re.DOTALL)


@pytest.mark.process
def test_the_example_of_a_thousand_cars_prints_what_it_says():
    [(example, promised)] = EXAMPLE.findall(README)
    done = patience.run(
        [sys.executable, "-c", dedent(example)],
        cwd=Path(sim_mock.__file__).parent.parent,
        text=True,
        check=True,
        within_s=120,
    )
    assert done.stdout == f"{promised}\n"
