"""The styles in which a terminal shows what is good, bad or to be looked at."""

from __future__ import annotations

from host_bridge.core.codes import State

STYLES = {
    "": "",
    "bar": "\x1b[7m",
    "bold": "\x1b[1m",
    "dim": "\x1b[2m",
    "good": "\x1b[1;32m",
    "care": "\x1b[1;33m",
    "bad": "\x1b[1;31m",
}
COLOURLESS = {**STYLES, **dict.fromkeys(("good", "care", "bad"), STYLES["bold"])}
STATE_STYLES = {
    State.ACTIVE: "good",
    State.HOLD: "care",
    State.STOPPING: "bad",
    State.STOPPED: "bad",
    State.FAULT: "bad",
}
_PLAIN = "\x1b[0m"


def styled_text(text: str, style: str, *, has_colours: bool) -> str:
    """Return the text in its style; without colours what has one is bold."""
    sequence = (STYLES if has_colours else COLOURLESS)[style]
    return f"{sequence}{text}{_PLAIN}" if sequence and text else text
