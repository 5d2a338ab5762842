"""Tolerant parsing of the simulator's values: None is what could not be read.

Every value is a string, written in the locale of the simulator's machine: it may say ``1,5`` for
one and a half, and would read ``1.5`` as fifteen. So its decimal mark is learnt and used in
answers.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import re
import zlib
from collections.abc import Iterable
from math import atan2, isfinite, nan

Values = tuple[float, ...]

# The decimal comma, the Arabic decimal separator, and Unicode's minus and infinity.
_AS_C = str.maketrans({",": ".", "٫": ".", "−": "-", "∞": "inf"})
_MARK = re.compile(r"\d([.,٫])\d")
_GZIP = "H4sI"  # base64 of gzip's first three bytes: 1f 8b 08
_SCAN_BYTES_MAX = 1 << 20  # chosen: 50 times a scan of 1081 ranges; limits a gzip bomb
_GZIP_WINDOW = 16 + zlib.MAX_WBITS  # zlib's manual: 16 more means a gzip header


def numbers(text: object, count: int) -> Values | None:
    """Return exactly ``count`` finite numbers between blanks, or None."""
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        text = repr(text)
    if not isinstance(text, str):
        return None
    found = tuple(_number(word) for word in text.translate(_AS_C).split())
    return found if len(found) == count and all(map(isfinite, found)) else None


def yaw_of(x: float, y: float, z: float, w: float) -> float:
    """Return the yaw of a quaternion, in rad."""
    return atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))


def decimal_mark(texts: Iterable[object]) -> str | None:
    """Return the first mark found between two digits; None without one."""
    for text in texts:
        match = _MARK.search(text) if isinstance(text, str) else None
        if match:
            return match[1]
    return None


def ranges_m(text: object) -> Values:
    """Return a LIDAR's ranges, from base64 of gzip of lines, or from words as in older builds.

    inf is no return. Empty if there is no scan or it cannot be read; a word that is no number is
    nan.
    """
    if not isinstance(text, str):
        return ()
    plain = _unpacked(text) if text.lstrip().startswith(_GZIP) else text
    return tuple(_number(word) for word in plain.translate(_AS_C).split())


def packed(ranges: Iterable[float | None]) -> str:
    """Return a scan as newer builds of the simulator write it; None is no return."""
    lines = "\n".join("inf" if one is None else f"{one:.4f}" for one in ranges)
    return base64.b64encode(gzip.compress(lines.encode(), 1)).decode()


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return nan


def _unpacked(text: str) -> str:
    try:
        packed = base64.b64decode(text, validate=True)
        plain = zlib.decompressobj(_GZIP_WINDOW).decompress(packed, _SCAN_BYTES_MAX)
        return plain.decode()
    except (binascii.Error, zlib.error, ValueError):
        return ""
