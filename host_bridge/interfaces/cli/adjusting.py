"""``NAME=VALUE`` on a command line: what one car is to have other than its vehicle file says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from host_bridge.errors import UsageFault
from host_bridge.services.configurations import PLACES

_CHANGE = re.compile(r"([a-z_]\w*)=(.*)")  # a URI has :// before any =


def is_change(word: str) -> bool:
    """Whether it is a ``NAME=VALUE`` and no car."""
    return _CHANGE.fullmatch(word) is not None


def changes_of(words: Sequence[str]) -> dict[str, float]:
    """Of some ``NAME=VALUE``, by name. Raises errors.UsageFault."""
    found = {}
    for word in words:
        name, _, text = word.partition("=")
        try:
            if name not in PLACES:
                raise ValueError
            found[name] = float(text)
        except ValueError:
            raise UsageFault(
                f"{word!r} is nothing that one car may have other than its vehicle file",
                expected=" or ".join(f"{known}=NUMBER" for known in PLACES),
                remedy="anything else is changed in the file: tandem config write --vehicle FILE",
            ) from None
    return found
