"""The table of commands, and all that has to agree with it: files, help, completion, pages."""

from __future__ import annotations

import argparse
import re
from functools import cache
from importlib import import_module
from itertools import groupby
from pathlib import Path

from host_bridge.cli import main as cli
from host_bridge.cli.commands import completion
from tests.support.evidence import every, some

ROOT = Path(__file__).resolve().parents[3]
FOLDER = ROOT / "host_bridge/cli/commands"
PAGE = ROOT / "host_bridge/cli/README.md"


def rows_by_group() -> dict[str, dict[str, str]]:
    """The table: group -> name -> summary."""
    return {
        group: {command.name: command.summary for command in commands}
        for group, commands in groupby(cli.COMMANDS, lambda command: command.group)
    }


def test_the_folder_has_one_file_for_each_command_and_nothing_else():
    files = {path.name for path in FOLDER.iterdir() if path.name != "__pycache__"}
    named = {f"{command.name.replace('-', '_')}.py" for command in cli.COMMANDS}
    assert files == named | {"__init__.py"}
    assert len(named) == len(cli.COMMANDS)


def test_each_group_is_listed_once():
    groups = [group for group, _ in groupby(cli.COMMANDS, lambda command: command.group)]
    assert len(groups) == len(set(groups)) >= 7


def test_the_help_has_each_command_in_its_group_with_its_summary(capsys):
    assert cli.main(["--help"]) == 0
    shown: dict[str, dict[str, str]] = {}
    group = ""
    for line in capsys.readouterr().out.splitlines():
        if head := re.fullmatch(r"([A-Z][\w ]+):", line):
            group = head[1]
        elif row := re.fullmatch(r"  ([a-z-]+) +(\S.*)", line):
            shown.setdefault(group, {})[row[1]] = row[2]
    assert shown == rows_by_group()


def test_a_summary_is_a_short_line_that_begins_with_what_the_command_does():
    assert every(
        command.summary[0].islower() and command.summary[-1] != "." and len(command.summary) <= 60
        for command in cli.COMMANDS
    )


def test_the_completion_offers_types_of_board_only_where_one_is_meant():
    offered = {
        (command.name, option.words != ())
        for command in completion.describe_commands()
        for option in command.options
        if "--board" in option.names
    }
    assert {("flash", True), ("serve", False), ("restore", False), ("demo", False)} <= offered


def test_the_completion_offers_each_command_with_its_summary():
    known = [(command.name, command.summary) for command in completion.describe_commands()]
    assert known == [(command.name, command.summary) for command in cli.COMMANDS]


def test_the_page_lists_each_command_in_its_group():
    rows = re.findall(r"^\| (\w[\w ]+) \| ((?:`[a-z-]+`(?:, )?)+) \|$", PAGE.read_text(), re.M)
    listed = {group: re.findall(r"`([a-z-]+)`", names) for group, names in rows}
    assert listed == {group: list(names) for group, names in rows_by_group().items()}


def test_the_first_page_names_no_command_that_is_not_there():
    text = (ROOT / "README.md").read_text()
    named = set(re.findall(r"^    tandem ([a-z-]+)", text, re.M))
    named |= set(re.findall(r"`tandem ([a-z-]+)", text))
    assert named - {"--help"} <= {command.name for command in cli.COMMANDS}
    assert len(named) > 10


@cache
def parsers() -> list[tuple[str, argparse.ArgumentParser]]:
    """Every command's parser, and the parsers of what stands below it."""
    found = []
    for command in cli.COMMANDS:
        waiting = [cli.parser_of(command, import_module(command.module))]
        while waiting:
            parser = waiting.pop()
            found.append((command.name, parser))
            for action in parser._actions:
                if isinstance(action, argparse._SubParsersAction):
                    waiting += action.choices.values()
    return found


def test_no_placeholder_of_an_option_is_made_of_a_name_of_the_code():
    """One that is not given is made of it by argparse: NEUTRAL_US of --neutral-us."""
    made = [
        (name, action.dest)
        for name, parser in some(parsers())
        for action in parser._actions
        if action.nargs != 0 and not action.metavar and not action.choices and "_" in action.dest
    ]
    assert made == []


def test_a_wrong_word_for_an_option_is_refused_in_words_of_ours():
    """argparse's own refusal has the name of the function that reads the word."""
    asked, made = 0, []
    for name, parser in parsers():
        for action in (it for it in parser._actions if it.type is not None):
            asked += 1
            try:
                parser._get_value(action, "=")
            except argparse.ArgumentError as error:
                if error.message.startswith("invalid "):
                    made.append((name, action.dest, error.message))
    assert asked > 100
    assert made == []
