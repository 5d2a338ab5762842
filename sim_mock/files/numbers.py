"""Parsing of numbers as people write them, stricter than Python's ``float``.

Python reads ``2_5`` as 25, ``inf`` and ``nan`` as numbers, and digits of every script. In a file or
on a command line each of those is a slip, and is refused.
"""

from __future__ import annotations

import re
from math import isfinite

_POINT = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d{1,4})?", re.ASCII)
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)  # 18 digits fit into 64 bits
_LONGEST = 64  # letters of a number: more is no number that anybody measured


def parse_number(text: str) -> float:
    """Return a finite number with a decimal point. Raises ValueError."""
    text = text.strip()
    if len(text) > _LONGEST or not _POINT.fullmatch(text):
        raise ValueError(f"{text[:_LONGEST]!r} is not a number")
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text!r} is not a finite number")
    return value


def parse_whole(text: str) -> int:
    """Return a whole number. Raises ValueError."""
    text = text.strip()
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text[:_LONGEST]!r} is not a whole number")
    return int(text)


def finite(value: object) -> float:
    """Return the value as a float if it is a finite number. Raises ValueError."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
        raise ValueError(f"expected a finite number, got {value!r}")
    return float(value)


def has_decimal_comma(text: str) -> bool:
    """Return whether the text is one number with a decimal comma."""
    return len(text) <= _LONGEST and _COMMA.fullmatch(text.strip()) is not None


def is_not_finite(text: str) -> bool:
    """Return whether the text is what programs write for nan or for an infinite number."""
    return text.strip().lower().lstrip("+-") in ("nan", "inf", "infinity", "1.#inf", "1.#qnan")
