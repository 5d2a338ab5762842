"""Argument types for argparse, whose errors say what was expected."""

from __future__ import annotations

import argparse
from datetime import date

from host_bridge.core import Sender, cap_action
from host_bridge.core.files import parse_columns, parse_number, parse_whole


def positive(text: str) -> float:
    """Parse a finite number above 0. Raises argparse.ArgumentTypeError."""
    value = number(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
    return value


def number(text: str) -> float:
    """Parse a finite number. Raises argparse.ArgumentTypeError."""
    try:
        return parse_number(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a number, got {text}") from None


def whole(text: str) -> int:
    """Parse a whole number."""
    try:
        return parse_whole(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a whole number, got {text}") from None


def speed_cap(text: str) -> float:
    """Parse a speed cap in m/s, for argparse."""
    value = number(text)
    try:
        cap_action(value, Sender.COMMAND)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return value


def duration(text: str) -> float:
    """Parse a time with its unit, 30m or 8h or 7d, into seconds, for argparse."""
    seconds = {"m": 60.0, "h": 3600.0, "d": 86_400.0}.get(text[-1:])  # s a minute, an hour, a day
    if seconds is None:
        raise argparse.ArgumentTypeError(f"expected a time as 30m, 8h or 7d, got {text}")
    return positive(text[:-1]) * seconds


def day(text: str) -> date:
    """Parse a date, YYYY-MM-DD. Raises argparse.ArgumentTypeError."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a day as YYYY-MM-DD, got {text}") from None


def columns(text: str) -> dict[str, str]:
    """Parse ``OURS=THEIRS,...``, the names that a file's columns have."""
    try:
        return parse_columns(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def add_columns(parser: argparse.ArgumentParser, files: str) -> None:
    """Declare ``--columns``; ``files`` says of what."""
    parser.add_argument(
        "--columns",
        type=columns,
        default={},
        metavar="OURS=THEIRS,...",
        help=f"by which other names {files} has our columns, as t_s=time",
    )


def add_seconds(parser: argparse.ArgumentParser) -> None:
    """Declare ``--seconds S``, the same for every command that would go on until Ctrl-C."""
    parser.add_argument("--seconds", type=positive, metavar="S", help="end after this time in s")
