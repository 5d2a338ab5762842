"""The README's Python runs as it stands there, and prints what is said of it."""

import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import sim_mock

README = Path(sim_mock.__file__).with_name("README.md").read_text()
EXAMPLE = re.compile(r"^(    import .+?)\n\nIt prints `(.+?)`", re.MULTILINE | re.DOTALL)


def test_the_example_of_a_thousand_cars_prints_what_it_says():
    [(example, promised)] = EXAMPLE.findall(README)
    done = subprocess.run(
        [sys.executable, "-c", dedent(example)],
        cwd=Path(sim_mock.__file__).parent.parent,
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    assert done.stdout == f"{promised}\n"
