"""The files beside a release: they say the same as the project does."""

import ast
import re

import pytest
import yaml

from tests.support.evidence import every
from tests.tools.release import checks

ROOT = checks.ROOT
FORMS = sorted(
    path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config"
)
KINDS = {"markdown", "textarea", "input", "dropdown", "checkboxes"}


def test_whoever_cites_it_cites_this_version():
    data = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert str(data["version"]) == checks.version_of()
    assert data["license"] in (ROOT / "pyproject.toml").read_text()
    assert {"cff-version", "message", "title", "authors"} <= data.keys()


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_an_issues_form_asks_for_something_that_has_to_be_there(path):
    form = yaml.safe_load(path.read_text())
    assert {"name", "description", "body"} <= form.keys()
    assert every(part["type"] in KINDS for part in form["body"])
    asked = [part for part in form["body"] if part["type"] != "markdown"]
    assert len({part["id"] for part in asked}) == len(asked)
    assert any(part.get("validations", {}).get("required") for part in asked)


def test_the_container_gets_all_that_the_wheel_is_made_of():
    text = (ROOT / "Containerfile").read_text()
    copied = {name for line in re.findall(r"^COPY (.+)$", text, re.M) for name in line.split()[:-1]}
    assert every((ROOT / name).exists() for name in copied)
    assert set(_rooms()) <= copied
    assert {"pyproject.toml", "README.md", "LICENSE", "requirements-drive.lock"} <= copied


def test_no_text_of_the_wheel_sends_its_user_to_a_makefile_that_only_a_clone_has():
    targets = re.findall(r"^([a-z]+):.*## ", (ROOT / "Makefile").read_text(), re.M)
    command = re.compile(rf"\bmake ({'|'.join(targets)})\b")
    assert command.search("make setup installs it")
    files = [file for room in _rooms() for file in (ROOT / room).rglob("*.py")]
    assert len(files) > 500
    found = {
        f"{file.relative_to(ROOT)}: {text}"
        for file in files
        for text in _shown(ast.parse(file.read_text("utf-8")))
        if command.search(text) and "clone" not in text
    }
    # is given only where there is a Makefile
    assert found == {"sim_mock/runtime/compiled.py: make fast"}


def _rooms() -> list[str]:
    included = re.search(r"only-include = \[(.+)\]", (ROOT / "pyproject.toml").read_text())
    assert included
    return re.findall(r'"(\w+)"', included[1])


def _shown(tree: ast.AST) -> list[str]:
    """Each text of a file, but not its docstrings, of which only a command's help is shown."""
    hidden = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    return [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in hidden
    ]
