"""Print the script that a shell needs to complete the words of ``tandem``.

The script is made from the commands themselves: their names, their options and the values that an
option may have. It starts no Python while you type, with one exception: after --car, and where a
command takes a car, it asks ``tandem cars`` for the cars that are served now. After --vehicle and
--board come the files that Tandem brings along.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module

from host_bridge.config import vehicle_names
from host_bridge.config.boards.reading import board_names

EPILOG = """\
examples:
  source <(tandem completion bash)          in ~/.bashrc
  source <(tandem completion zsh)           in ~/.zshrc, below compinit
  tandem completion fish > ~/.config/fish/completions/tandem.fish
"""
_KNOWN = {"--vehicle": vehicle_names, "--board": board_names}
_CARS = ("--car", "--twin")  # their values are asked for at the time of completion
_NAMES = "tandem cars --json 2>/dev/null | awk -F '\"' '/^ *\"name\":/ { print $4 }'"
_OTHERS = ("PORT", "ID")  # metavars of a --board that takes a port or an id, not a type of board


@dataclass(frozen=True)
class CommandOption:
    """One option of a command; ``words`` are its possible values."""

    names: tuple[str, ...]
    help: str
    takes: bool
    words: tuple[str, ...]


@dataclass(frozen=True)
class CommandDescription:
    """A command, and what may follow its name."""

    name: str
    summary: str
    options: tuple[CommandOption, ...]
    takes_car: bool


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line."""
    parser.description = "Print a script by which a shell completes the words of tandem."
    parser.epilog = EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("shell", choices=tuple(_SHELLS))


def run(args: argparse.Namespace, host: object) -> int:
    """Print the script for the chosen shell."""
    print("\n".join(_SHELLS[args.shell](describe_commands())))
    return 0


def describe_commands() -> list[CommandDescription]:
    """Return all commands, as their parsers declare them."""
    from host_bridge.cli.main import COMMANDS, parser_of  # which names this module

    parsers = [(command, parser_of(command, import_module(command.module))) for command in COMMANDS]
    return [
        CommandDescription(
            command.name,
            command.summary,
            tuple(_options(parser)),
            any(not action.option_strings and action.dest == "car" for action in parser._actions),
        )
        for command, parser in parsers
    ]


def _options(parser: argparse.ArgumentParser) -> Iterator[CommandOption]:
    """Yield a parser's options that are shown, with the values that are known beforehand."""
    for action in parser._actions:
        if action.option_strings and action.help != argparse.SUPPRESS:
            known = None if action.metavar in _OTHERS else _KNOWN.get(action.option_strings[-1])
            words = tuple(map(str, action.choices or (known() if known else ())))
            names = tuple(action.option_strings)
            yield CommandOption(names, action.help or "", action.nargs != 0, words)


# --- bash and zsh share one function: zsh emulates bash's completion (bashcompinit)


def _bash(commands: Sequence[CommandDescription]) -> Iterator[str]:
    yield "# of tandem completion bash"
    yield "_tandem() {"
    yield '  local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" found='
    yield f'  if [ "$COMP_CWORD" = 1 ]; then found={_quoted(c.name for c in commands)}'
    yield '  else case "${COMP_WORDS[1]} $before" in'
    for command in commands:
        for option in command.options:
            for name in option.names:
                if option.words:
                    yield f"    {_pattern(command.name, name)}) found={_quoted(option.words)};;"
                elif name in _CARS:
                    yield f'    {_pattern(command.name, name)}) found="$(_tandem_cars)";;'
                elif option.takes:
                    yield f"    {_pattern(command.name, name)}) compopt -o default 2>/dev/null;;"
    yield '    *) case "${COMP_WORDS[1]}" in'
    for command in commands:
        names = [name for option in command.options for name in option.names]
        cars = '" $(_tandem_cars)"' if command.takes_car else ""
        yield f"      {command.name}) found={_quoted(names)}{cars};;"
    yield "      esac;;"
    yield "  esac; fi"
    yield '  COMPREPLY=($(compgen -W "$found" -- "$word"))'
    yield "}"
    yield f"_tandem_cars() {{ {_NAMES}; }}"
    yield "complete -F _tandem tandem"


def _zsh(commands: Sequence[CommandDescription]) -> Iterator[str]:
    yield "autoload -U +X bashcompinit && bashcompinit"
    yield from _bash(commands)


def _pattern(command: str, option: str) -> str:
    return f'"{command} {option}"'


def _quoted(words: Sequence[str] | Iterator[str]) -> str:
    return shlex.quote(" ".join(words))


def _fish(commands: Sequence[CommandDescription]) -> Iterator[str]:
    yield "# of tandem completion fish"
    yield "complete -c tandem -f"
    cars = "'(_tandem_cars)'"
    yield f"function _tandem_cars; {_NAMES}; end"
    for command in commands:
        what = shlex.quote(command.summary)
        yield f"complete -c tandem -n __fish_use_subcommand -a {command.name} -d {what}"
        here = shlex.quote(f"__fish_seen_subcommand_from {command.name}")
        if command.takes_car:
            yield f"complete -c tandem -n {here} -a {cars}"
        for option in command.options:
            flags = " ".join(_fish_flag(name) for name in option.names)
            line = f"complete -c tandem -n {here} {flags} -d {shlex.quote(option.help)}"
            if option.words:
                yield f"{line} -x -a {_quoted(option.words)}"
            elif option.names[-1] in _CARS:
                yield f"{line} -x -a {cars}"
            else:
                yield f"{line} -r -F" if option.takes else line


def _fish_flag(name: str) -> str:
    return f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"


_SHELLS = {"bash": _bash, "zsh": _zsh, "fish": _fish}
