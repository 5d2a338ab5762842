"""The pages of the commands, made of the parsers that the commands themselves are run by."""

import argparse
import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from host_bridge.cli.main import COMMANDS, CommandRow, parser_of
from tests.tools.docs.markdown import code, literal, plain, section, table

_WIDTH = 80  # columns in which argparse folds the usage


def write(folder: Path) -> None:
    """Write a page for each command, and the page that lists them."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = {command.name: page_of(command) for command in COMMANDS}
    for name, text in {**pages, "index": _index()}.items():
        (folder / f"{name}.md").write_text(text, "utf-8")


def page_of(command: CommandRow) -> str:
    """Return the page of one command, with those of its subcommands below."""
    parser = parser_of(command, import_module(command.module))
    below = [section(2, code(inner.prog), *_parts(inner, 3)) for _, inner in subcommands(parser)]
    return section(1, f"tandem {command.name}", *_parts(parser, 2), *below)


def _index() -> str:
    groups = list(dict.fromkeys(command.group for command in COMMANDS))
    parts = []
    for group in groups:
        rows = [
            [f"[`tandem {it.name}`]({it.name}.md)", plain(it.summary)]
            for it in COMMANDS
            if it.group == group
        ]
        parts.append(section(2, group, table(["command", "what it does"], rows)))
    names = "\n".join(command.name for command in COMMANDS)
    return section(
        1,
        "Commands",
        "Each page is what `tandem COMMAND --help` says, made of the command itself. What each "
        "exit code means is told [with the command line](../../host_bridge/cli/README.md).",
        *parts,
        f"```{{toctree}}\n:hidden:\n\n{names}\n```",
    )


def _parts(parser: argparse.ArgumentParser, level: int) -> Iterator[str]:
    yield plain_paragraphs(parser.description or "")
    yield literal(re.sub(r"^usage: ", "", _usage(parser)))
    rows = [_row(parser, action) for action in _shown(parser)]
    if rows:
        yield table(["argument", "what it does"], rows)
    if parser.epilog:
        yield section(level, "Notes and examples", literal(parser.epilog))


def _usage(parser: argparse.ArgumentParser) -> str:
    formatter = argparse.RawDescriptionHelpFormatter(parser.prog, width=_WIDTH)
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups)
    return formatter.format_help().strip()


def _shown(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [
        action
        for action in parser._actions
        if action.help != argparse.SUPPRESS
        and not isinstance(action, (argparse._HelpAction, argparse._SubParsersAction))
    ]


def _row(parser: argparse.ArgumentParser, action: argparse.Action) -> list[str]:
    formatter = parser._get_formatter()
    name = formatter._format_action_invocation(action)
    text = formatter._expand_help(action) if action.help else ""
    return [code(name), plain(text)]


def subcommands(
    parser: argparse.ArgumentParser,
) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """Yield the subcommands of a command by their names."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def plain_paragraphs(text: str) -> str:
    """Return paragraphs as they are read."""
    return "\n\n".join(plain(part) for part in text.split("\n\n"))
