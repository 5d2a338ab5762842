"""Escaping of text that others wrote, before it is printed.

A name, a reason, a text of a log or a file must not move the cursor, change colours, hide text or
write to a terminal's clipboard. ``cli.main`` passes everything that a command prints through here,
so no command can forget it. Code that draws on purpose (``styled``) makes its texts printable
first. Imports almost nothing, for ``tandem stop``.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

_LAID_OUT = "\n\t"  # the control characters that lay text out, and stay


def printable(text: str, keep: str = _LAID_OUT) -> str:
    """Return the text with control and other unprintable characters escaped, as in ``\\x1b``."""
    if text.isprintable():
        return text
    return "".join(it if it.isprintable() or it in keep else _escape(it) for it in text)


def one_line(text: str) -> str:
    """Return the text escaped, newlines and tabs included, for places that need a single line."""
    return printable(text, "")


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


class Printable:
    """A text stream that escapes whatever is not printable."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        self.stream.write(printable(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


def styled(stream: TextIO) -> TextIO:
    """Return the stream underneath, for code that draws colours and the cursor on purpose."""
    return stream.stream if isinstance(stream, Printable) else stream


def can_draw(stream: TextIO) -> bool:
    """Return whether the stream is a terminal that obeys escape sequences; TERM=dumb does not."""
    import os

    return stream.isatty() and os.environ.get("TERM") != "dumb"


class PrintableOutput:
    """A context in which standard output and standard error are ``Printable``."""

    def __enter__(self) -> None:
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = map(_made, self._before)

    def __exit__(self, *_: object) -> None:
        sys.stdout, sys.stderr = self._before


def _made(stream: Any) -> Any:
    return stream if stream is None or isinstance(stream, Printable) else Printable(stream)
