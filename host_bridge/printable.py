"""What others wrote, made fit to be printed: a name, a reason, a text of a log or a file must not
move the cursor, change colours, hide text or write to a terminal's clipboard.

``cli.main`` has all that a command prints go through here, so no command can forget it. Whoever
draws on purpose (``styled``) makes its texts printable first. Imports nothing, for a stop.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TextIO

_LAID_OUT = "\n\t"  # what people's text is laid out with


def printable(text: str, keep: str = _LAID_OUT) -> str:
    """Control characters, and all else that is not seen as itself, as escapes: ``\\x1b``."""
    if text.isprintable():
        return text
    return "".join(it if it.isprintable() or it in keep else _escape(it) for it in text)


def one_line(text: str) -> str:
    """The same, of what has to stay on its line."""
    return printable(text, "")


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode()


class Printable:
    """A text stream on which only printable text comes out."""

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
    """Where colours and the cursor's movements go, of whoever draws on this stream."""
    return stream.stream if isinstance(stream, Printable) else stream


def can_draw(stream: TextIO) -> bool:
    """Whether a terminal shows this stream and moves its cursor when told: TERM=dumb does not."""
    import os

    return stream.isatty() and os.environ.get("TERM") != "dumb"


class PrintableOutput:
    """Inside, standard output and standard error are ``Printable``."""

    def __enter__(self) -> None:
        self._before = sys.stdout, sys.stderr
        sys.stdout, sys.stderr = map(_made, self._before)

    def __exit__(self, *_: object) -> None:
        sys.stdout, sys.stderr = self._before


def _made(stream: Any) -> Any:
    return stream if stream is None or isinstance(stream, Printable) else Printable(stream)
