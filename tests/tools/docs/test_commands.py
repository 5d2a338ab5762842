"""Each command line of the pages, and of the commands' own help, is one that its command takes."""

import contextlib
import io
import re
import shlex
from collections.abc import Iterator
from importlib import import_module

import pytest

from host_bridge.cli.main import COMMANDS, find, parser_of
from tests.tools.docs import commands_reference, staging

_BEGINS = re.compile(r"(?:\.venv/bin/)?tandem ([a-z].*)")
_ENDS = re.compile(r"\s{2,}|\s#\s| & | && | \| | > | < |; |\s\(")  # a comment, another command
_MENTION = re.compile(r"`tandem ([a-z][^`]*)`")
# A mention in a sentence names an option without its value, or a command without the rest
_IS_SHORT = re.compile(r"expected (at least )?one argument|are required|one of the arguments")
# Names that stand for a vocabulary of the reader's own
_TRUSTED = re.compile(r"--trust-code \S+ ?")  # which every command takes
_OF_OTHERS = re.compile(r"--as (name|NAME|nav2)\b")


def blocks(text: str) -> Iterator[str]:
    """Each line of code in a page, with those that go on after a backslash made one."""
    fence, begun = "", ""
    for line in text.splitlines():
        if line.startswith("```"):
            fence = "" if fence else line[3:].strip() or "sh"
        elif fence.split()[:1] == ["sh"] or (not fence and line.startswith("    ")):
            begun += line.strip()
            if begun.endswith("\\"):
                begun = begun[:-1]
                continue
            yield begun
            begun = ""


def lines(page: str) -> Iterator[tuple[str, bool]]:
    """Each command line of a page, and whether it is only mentioned in a sentence."""
    text = (staging.ROOT / page).read_text("utf-8")
    for line in blocks(text):
        if found := _BEGINS.match(line):
            yield found[1], False
    for found in _MENTION.finditer(re.sub(r"```.*?```", "", text, flags=re.DOTALL)):
        yield found[1], True


def is_for_a_shell(line: str) -> bool:
    """Whether a shell takes the line as it stands: what explains it follows a #."""
    found = re.search(r"\S\s{2,}(\S)", line)
    return found is None or found[1] == "#"


def refusal(line: str) -> str:
    """What the command says to this line; empty if it takes it."""
    words = shlex.split(_TRUSTED.sub("", _ENDS.split(line)[0]))
    if {"...", "…"} & set(words) or _OF_OTHERS.search(line):
        return ""
    command = find(words[0])
    errors = io.StringIO()
    with contextlib.redirect_stderr(errors), contextlib.redirect_stdout(io.StringIO()):
        try:
            parser_of(command, import_module(command.module)).parse_args(words[1:])
        except SystemExit as end:
            return errors.getvalue().strip().rpartition("\n")[2] if end.code else ""
    return ""


@pytest.mark.process
@pytest.mark.smoke
def test_each_command_line_of_the_pages_is_taken():
    found = [
        (page, line, is_mention)
        for page in staging.tracked()
        if page.endswith(".md") and page != "CHANGELOG.md"
        for line, is_mention in lines(page)
    ]
    assert len(found) > 300
    as_text = [
        f"{page}: {it}" for page, it, is_mention in found if not (is_mention or is_for_a_shell(it))
    ]
    assert as_text == [], "an explanation behind a command begins with #"
    refused = [
        f"{page}: tandem {line}: {why}"
        for page, line, is_mention in found
        if (why := refusal(line)) and not (is_mention and _IS_SHORT.search(why))
    ]
    assert refused == []


def test_each_example_of_the_help_is_taken():
    parsers = [parser_of(command, import_module(command.module)) for command in COMMANDS]
    parsers += [inner for parser in parsers for _, inner in commands_reference.subcommands(parser)]
    examples = [
        found[1]
        for parser in parsers
        for line in re.sub(r"\\\n\s*", "", parser.epilog or "").splitlines()
        if line.startswith("  ") and (found := _BEGINS.match(line.strip()))
    ]
    assert len(examples) > 50
    assert [f"{it}: {why}" for it in examples if (why := refusal(it))] == []


def test_a_line_that_a_command_does_not_take_is_noticed():
    assert refusal("drive --car sim://nigel --lockstep   # a comment") == ""
    assert is_for_a_shell("drive --car sim://nigel   # a comment")
    assert not is_for_a_shell("drive --car sim://nigel   an explanation")
    assert "no option --fast" in refusal("drive --car sim://nigel --fast")
    assert _IS_SHORT.search(refusal("flash"))
