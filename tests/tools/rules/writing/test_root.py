"""What lies at the top of the repository: six folders, pages for people, files of tools."""

import re
from pathlib import Path

import pytest

from host_bridge.cli.main import version
from tests.support import patience
from tests.support.evidence import every, some

ROOT = Path(__file__).resolve().parents[4]
FOLDERS = {"calibration", "firmware", "hardware", "host_bridge", "sim_mock", "tests"}
PAGES = {
    "README.md",
    "ARCHITECTURE.md",
    "GLOSSARY.md",
    "CONTRIBUTING.md",
    "CHANGELOG.md",
    "SECURITY.md",
    "LICENSE",
}
TOOL_FILES = {
    ".ci",
    ".github",
    ".git-blame-ignore-revs",
    ".gitignore",
    ".pre-commit-config.yaml",
    "CITATION.cff",
    "Containerfile",
    "Makefile",
    "pyproject.toml",
    "requirements-drive.lock",
    "requirements-fast.lock",
    "requirements-micropython.lock",
    "requirements.lock",
}


@pytest.mark.process
def test_the_top_holds_six_folders_pages_and_tool_files():
    listed = patience.run(["git", "ls-files"], cwd=ROOT, text=True, check=True, within_s=60)
    there = {path.partition("/")[0] for path in listed.stdout.splitlines()}
    assert there == FOLDERS | PAGES | TOOL_FILES


def test_each_folder_has_its_page():
    assert [name for name in FOLDERS if not (ROOT / name / "README.md").is_file()] == []


PAGES_OF_FOLDERS = sorted(
    path.relative_to(ROOT).as_posix()
    for folder in FOLDERS - {"tests"}
    for path in (ROOT / folder).rglob("README.md")
)


@pytest.mark.parametrize("page", PAGES_OF_FOLDERS)
def test_a_folders_page_names_every_module_in_it(page):
    text = (ROOT / page).read_text()
    there = (ROOT / page).parent.glob("*.py")
    modules = {path.stem for path in there} - {"__init__", "__main__"}
    told = set(re.findall(r"`(?:[\w/]+/)?(\w+)(?:\.py)?`", text))
    assert modules - told == set()


@pytest.mark.parametrize("page", PAGES_OF_FOLDERS)
def test_a_folders_page_names_no_module_that_is_not_there(page):
    """By its path from the page's folder, from the top, or from the top's folder that it is in."""
    folder = (ROOT / page).parent
    told = re.findall(r"`(\w[\w./]*\.py)`", (ROOT / page).read_text())
    homes = (folder, ROOT, ROOT / page.partition("/")[0])
    assert [it for it in told if not any((home / it).exists() for home in homes)] == []


CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
KINDS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]


def test_the_newest_version_of_the_changelog_is_this_one_and_so_is_the_ros_packages():
    heads = re.findall(r"^## (.+)$", CHANGELOG, re.MULTILINE)
    found = [
        re.match(r"\[(\d+\.\d+\.\d+)\]( - (\d{4}-\d\d-\d\d|unreleased))?$", it) for it in heads
    ]
    versions = [it[1] for it in found if it]
    assert len(versions) == len(heads)
    declared = re.search(r'^version = "(.+)"$', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)
    ros = (ROOT / "host_bridge/ros2/tandem_ros/package.xml").read_text()
    assert declared
    assert versions[0] == declared[1] == version()
    assert f"<version>{versions[0]}</version>" in ros
    assert versions == sorted(versions, key=lambda it: tuple(map(int, it.split("."))), reverse=True)


def test_the_changelog_has_the_kinds_of_keep_a_changelog_in_their_order():
    for section in some(re.split(r"^## ", CHANGELOG, flags=re.MULTILINE)[1:]):
        kinds = re.findall(r"^### (.+)$", section, re.MULTILINE)
        assert kinds == [it for it in KINDS if it in kinds] != []


def test_an_entry_of_the_changelog_is_one_sentence():
    entries = re.findall(r"^\* (.+(?:\n  .+)*)", CHANGELOG, re.MULTILINE)
    assert len(entries) > 100
    ends = r"[.!?](?=\s+[A-Z`])|\.$"
    assert [it for it in entries if len(re.findall(ends, it.replace("\n", " "))) != 1] == []


def test_the_glossary_has_each_word_once_in_a_whole_row():
    text = (ROOT / "GLOSSARY.md").read_text()
    rows = [line.split("|")[1:-1] for line in text.splitlines() if line.startswith("| ")]
    terms = [row[0].strip() for row in rows if row[0].strip() != "term"]
    assert len(terms) == len(set(terms)) > 60
    assert every(len(row) == 3 and row[2].strip() for row in rows)


def test_the_glossary_is_sorted_by_the_fields_terms():
    text = (ROOT / "GLOSSARY.md").read_text()
    terms = re.findall(r"^\| (.+?) \|", text, re.MULTILINE)[1:]
    assert terms == sorted(terms, key=str.lower)
    assert len(terms) > 60


def words_of_the_code():
    paths = (path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))
    return {word for path in paths for word in re.findall(r"\w+", path.read_text("utf-8"))}


@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "host_bridge/inputs/README.md"])
def test_a_page_names_no_class_and_no_function_that_the_code_has_not(page):
    prose = re.sub(r"```.*?```", "", (ROOT / page).read_text(), flags=re.DOTALL)
    named = re.findall(r"`([A-Z]\w+(?:\.\w+)?|_\w+)(?:\(\))?`", prose)
    assert len(named) > 3
    words = words_of_the_code()
    whole = [it for it in named if not it.endswith("_")]  # CHANNEL_ is how a family begins
    assert [it for it in whole if not words.issuperset(it.split("."))] == []
