"""The files beside a release: they say the same as the project does."""

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
    project = (ROOT / "pyproject.toml").read_text()
    included = re.search(r"only-include = \[(.+)\]", project)
    assert included
    assert set(re.findall(r'"(\w+)"', included[1])) <= copied
    assert {"pyproject.toml", "README.md", "LICENSE", "requirements-drive.lock"} <= copied
