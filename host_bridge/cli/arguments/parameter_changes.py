"""Parses ``NAME=VALUE`` arguments: values that one car has instead of its vehicle file's."""

from __future__ import annotations

import re
from collections.abc import Sequence

from host_bridge.core.errors import UsageFault
from host_bridge.core.files import parse_number
from host_bridge.sharing.services.configurations import ADJUSTABLE

_CHANGE = re.compile(r"([a-z_]\w*)=(.*)")  # a URI has :// before any =


def is_change(word: str) -> bool:
    """Return whether the word is a ``NAME=VALUE`` and not a car."""
    return _CHANGE.fullmatch(word) is not None


def parse_changes(words: Sequence[str]) -> dict[str, float]:
    """Return the numbers of ``NAME=VALUE`` words by name.

    Raises errors.UsageFault.
    """
    found = {}
    for word in words:
        name, _, text = word.partition("=")
        try:
            if name not in ADJUSTABLE:
                raise ValueError
            found[name] = parse_number(text)
        except ValueError:
            raise UsageFault(
                f"{word!r} is not a value in which one car may differ from its vehicle file",
                expected=" or ".join(f"{known}=NUMBER" for known in ADJUSTABLE),
                remedy="change any other value in the vehicle file, then: "
                "tandem config write --vehicle FILE",
            ) from None
    return found
