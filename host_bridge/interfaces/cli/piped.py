"""Pipes of this command's own to a virtual car that it begins: what it sees, where it is put."""

from __future__ import annotations

import os
from pathlib import Path

VIRTUAL = ("sim://", "sim+process://")
_SENSORS = "sensors="


def piped(
    car: str | None, options: dict[str, str], folder: Path, whose: str = "car"
) -> tuple[str | None, dict[str, str]]:
    """The URI of a virtual car, and options, with both pipes, which are made in ``folder``.

    Any other car is left as it is, and so is one whose sensors go somewhere else.
    """
    if not car or "sensors" in options or not car.startswith(VIRTUAL) or _SENSORS in car:
        return car, options
    for name in ("sensors", "poses"):
        pipe = folder / f"{whose}_{name}"
        os.mkfifo(pipe)
        car, options = with_option(car, name, str(pipe)), {**options, name: str(pipe)}
    return car, options


def with_option(car: str, name: str, value: str) -> str:
    """A URI with this option, if it has none of that name."""
    if f"?{name}=" in car or f"&{name}=" in car:
        return car
    return f"{car}{'&' if '?' in car else '?'}{name}={value}"
