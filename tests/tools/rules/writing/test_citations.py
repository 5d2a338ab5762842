"""Nothing cites what this repository has not; and what is planted is found."""

import re

import pytest

from tests.support import patience
from tests.support.evidence import every
from tests.tools.rules.writing import citations

ABSENT = "no-such-page" + ".md"  # in two parts, or this file would cite it
SAFETY = "SAFETY" + ".md"
PAGES = {
    "ARCHITECTURE.md": "# How\n\n## The parts\n\n| id | why |\n|---|---|\n| D4 | so |\n",
    f"firmware/core/{SAFETY}": "# Promises\n\n| id | what |\n|---|---|\n| S7 | refused |\n",
    "sim_mock/faults/README.md": "| 3 | somebody | something |\n",
    "firmware/README.md": "# The car\n",
    "firmware/app.py": "",
    "hardware/bom/car.csv": "",
    "tests/test_a.py": "",
    "tests/bench/__main__.py": "",
}

PLANTED = [
    # file, its text, words of the refusal
    ("firmware/core/a.py", f"# as {ABSENT} has it\n", "is not tracked"),
    ("firmware/core/a.py", f'"""See design/{ABSENT}."""\n', "is not tracked"),
    ("hardware/vehicles/a.toml", f"a = 1  # {ABSENT}\n", "is not tracked"),
    ("firmware/core/a.py", f"# {SAFETY} section 3\n", "section 3 of a page"),
    ("firmware/core/a.py", f"# ({SAFETY}, 3)\n", "section 3 of a page"),
    ("firmware/core/a.py", "# S8 wants it\n", "S8 is not defined"),
    ("firmware/core/a.py", "# S7 and (S12)\n", "S12 is not defined"),
    ("tests/a.py", '"""D9: time is an argument."""\n', "D9 is not defined"),
    ("sim_mock/a.py", 'SOURCE = "peers 3, 4: joy"\n', "peers 4 is not defined"),
    ("host_bridge/README.md", f"[this]({ABSENT})\n", "leads nowhere"),
    ("host_bridge/README.md", f"[this](../firmware/core/{SAFETY}#numbers)\n", "no heading"),
    ("host_bridge/README.md", "[this](#below)\n", "no heading"),
    ("host_bridge/README.md", "[this](../../elsewhere)\n", "leads nowhere"),
    ("host_bridge/README.md", "`firmware/apps.py` steps\n", "firmware/apps.py is not tracked"),
    ("host_bridge/README.md", "`cars/car.py` too\n", "cars/car.py is not tracked"),
    ("host_bridge/README.md", "    pytest tests/cars -q\n", "tests/cars is not tracked"),
    ("host_bridge/README.md", "`pytest tests/test_{a,b}.py`\n", "tests/test_b.py is not tracked"),
    ("host_bridge/README.md", "`python -m tests.nowhere`\n", "tests.nowhere is no program here"),
]
SOUND = [
    ("firmware/core/a.py", "# firmware/core/SAFETY.md and SAFETY.md say it\n"),
    ("firmware/core/a.py", "# README.md, of a folder above\n"),
    ("firmware/core/a.py", "# S7, D4; ESP32-S3, RP2040-D9\n"),
    ("hardware/wiring/a.toml", "# S1 is a switch, D9 a diode\n"),
    ("sim_mock/a.py", 'SOURCE = "peers 3: PX4 #18346"\n'),
    ("host_bridge/README.md", "`pytest tests/test_{a,a}.py tests` `python -m tests.bench.NAME`\n"),
    ("host_bridge/README.md", "`pytest tests/bench`; `python -m tests.bench --all`\n"),
    ("pyproject.toml", 'ignore = ["D105"]\n'),
    ("host_bridge/README.md", "[it](../ARCHITECTURE.md#the-parts) [a](../firmware) `./my.md`\n"),
    ("host_bridge/README.md", "[web](https://example.org/a.md) `firmware/app.py` `bom/car.csv`\n"),
]


def refused(file: str, text: str) -> list[str]:
    return [str(one) for one in citations.Library({**PAGES, file: text}).refusals()]


@pytest.mark.parametrize(("file", "text", "words"), PLANTED)
def test_what_leads_nowhere_is_refused_with_its_line(file, text, words):
    found = refused(file, text)
    assert len(found) == 1, found
    assert found[0].startswith(f"{file}:1: ")
    assert words in found[0]


@pytest.mark.parametrize(("file", "text"), SOUND)
def test_what_can_be_found_passes(file, text):
    assert refused(file, text) == []


@pytest.mark.process
def test_only_what_git_tracks_counts(tmp_path):
    """A page that lies in the folder and is not tracked is not there for a stranger."""

    def git(*words: str) -> None:
        patience.run(["git", *words], cwd=tmp_path, check=True, within_s=60)

    git("init", "-q")
    (tmp_path / "a.py").write_text(f"# {ABSENT} says it\n")
    git("add", "a.py")
    (tmp_path / ABSENT).write_text("# A plan\n")
    assert citations.main([str(tmp_path)]) == 1
    git("add", ABSENT)
    assert citations.main([str(tmp_path)]) == 0


@pytest.mark.process
def test_this_repository_cites_nothing_that_it_has_not():
    library = citations.library(citations.ROOT)
    assert [str(one) for one in library.refusals()] == []
    assert sum(len(re.findall(r"\bS\d+\b", text)) for text in library.texts.values()) > 100


@pytest.mark.process
def test_each_number_that_may_be_cited_has_a_page_with_rows():
    library = citations.library(citations.ROOT)
    assert every(
        page in library.texts and library.defined(letter) for letter, page, _ in citations.NUMBERED
    )
