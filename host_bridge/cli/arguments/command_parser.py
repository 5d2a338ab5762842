"""The parser of a command's words: what it does not take is told with what may be meant."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from difflib import get_close_matches
from itertools import takewhile
from typing import Any

from host_bridge.cli.output.page_places import with_pages


class CommandParser(argparse.ArgumentParser):
    """A parser that tells which option it does not know before it looks at anything else.

    argparse alone would speak first of what the misspelt option's value was taken for.
    """

    def parse_known_args(  # type: ignore[override]  # one signature for all of its overloads
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse the words as argparse does. Ends the program, exit code 2, for a wrong one."""
        words = list(sys.argv[1:] if args is None else args)
        if not self._subparsers:  # the options of a kind of command are its own parser's
            self._refuse_unknown_options(words)
        return super().parse_known_args(words, namespace)

    def parse_args(  # type: ignore[override]  # likewise
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> Any:
        """Parse the words as argparse does; of those that are left over say where a car belongs."""
        parsed, left = self.parse_known_args(args, namespace)
        if left:
            option = next((it for it in left if it.startswith("-")), "")
            if option:
                self.error(f"no option {option}; {self.prog} --help lists them")
            self.error(f"{' '.join(left)} {self._why_left(len(left))}")
        return parsed

    def _why_left(self, count: int) -> str:
        """Return why words are left over, and what may be meant."""
        places = [it for it in self._actions if not it.option_strings]
        if any(it.nargs in ("*", "+") for it in places):  # it takes as many, in one place
            return "stands too late; options come after all other words"
        much = "is one word too many" if count == 1 else "are too many words"
        if "--car" in self._option_string_actions and all(it.dest != "car" for it in places):
            return f"{much}; a car is --car CAR"
        return f"{much}; {self.prog} --help has examples"

    def format_help(self) -> str:
        """Return argparse's text, and where the pages lie that it names."""
        return f"{with_pages(super().format_help())}\n"

    def _refuse_unknown_options(self, words: Sequence[str]) -> None:
        known = [name for name in self._option_string_actions if name.startswith("--")]
        for word in takewhile("--".__ne__, words):
            name = word.partition("=")[0]
            if name.startswith("--") and not any(it.startswith(name) for it in known):
                # without the dashes, which any two options have in common
                near = get_close_matches(name[2:], [it[2:] for it in known], 1)
                meant = f"did you mean --{near[0]}?" if near else f"{self.prog} --help lists them"
                self.error(f"no option {name}; {meant}")
