"""The pages for people with a soldering iron name commands and options that there are."""

import re
import sys
from functools import cache

import pytest

from hardware.drawing.harness import FOLDER
from tests.support import patience
from tests.support.evidence import every

_COMMAND = re.compile(r"`tandem ([^`]+)`")
PAGES = ("bring_up.md", "runstop.md", "README.md")


def commands():
    texts = ((FOLDER / page).read_text(encoding="utf-8") for page in PAGES)
    return sorted({command for text in texts for command in _COMMAND.findall(text)})


@cache
def help_of(command):
    run = [sys.executable, "-m", "host_bridge.cli.main", command, "--help"]
    return patience.run(run, text=True, within_s=60, check=True).stdout


def test_the_pages_name_commands():
    assert len(commands()) > 12


@pytest.mark.process
@pytest.mark.parametrize("command", commands())
def test_a_command_and_its_options_exist(command):
    name, *words = command.split()
    options = [word for word in words if word.startswith("--")]
    assert help_of(name)
    assert [option for option in options if option not in help_of(name)] == []


def test_every_link_of_the_pages_leads_somewhere():
    texts = ((FOLDER / page).read_text(encoding="utf-8") for page in PAGES)
    links = [link for text in texts for link in re.findall(r"\]\(([^)]+)\)", text)]
    assert every((FOLDER / link).exists() for link in links)
