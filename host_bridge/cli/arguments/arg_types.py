"""Argument types for argparse, whose errors say what was expected."""

from __future__ import annotations

import argparse
import math
from datetime import date

from host_bridge.core import Sender, cap_action


def positive(text: str) -> float:
    """Parse a number above 0."""
    value = number(text)
    if not value > 0:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {text}")
    return value


def number(text: str) -> float:
    """Parse a finite number."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise argparse.ArgumentTypeError(f"expected a number, got {text}")
    return value


def speed_cap(text: str) -> float:
    """Parse a speed cap in m/s, for argparse."""
    value = number(text)
    try:
        cap_action(value, Sender.COMMAND)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None
    return value


def day(text: str) -> date:
    """Parse a date, YYYY-MM-DD."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected a day as YYYY-MM-DD, got {text}") from None


def add_seconds(parser: argparse.ArgumentParser) -> None:
    """Declare ``--seconds S``, the same for every command that would go on until Ctrl-C."""
    parser.add_argument("--seconds", type=positive, metavar="S", help="end after this time in s")
