"""A good board file, broken in one place."""

import re

from host_bridge.config.boards import check
from host_bridge.config.boards.reading import FOLDER


def board_text(name):
    return (FOLDER / f"{name}.toml").read_text()


def changed(text, *changes):
    """With the first place of each pattern changed; one that changes nothing shows nothing."""
    for old, new in changes:
        text, count = re.subn(old, new, text, count=1, flags=re.MULTILINE)
        assert count, old
    return text


def within(text, wiring):
    """Where the wiring of one vehicle begins: patterns look from there on."""
    at = text.index(f"[wiring.{wiring}]")
    return text[:at], text[at:]


def broken(name, vehicle, *changes):
    head, wiring = within(board_text(name), vehicle)
    return head + changed(wiring, *changes)


def reasons(tmp_path, text, vehicle):
    path = tmp_path / "board.toml"
    path.write_text(text)
    return check(str(path), vehicle).refusals
