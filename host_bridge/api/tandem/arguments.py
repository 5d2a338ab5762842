"""The checks of what a script passes: each value is a number within its range, or is refused."""

from __future__ import annotations

import math

from host_bridge.core.errors import UsageFault


class ArgumentFault(UsageFault, ValueError):
    """A value that a call cannot take: no number, out of its range, or an unknown name."""


class LimitWarning(UserWarning):
    """A value that the car limits: it is driven at its limit, and the script is told once."""


def number(
    name: str, value: object, low: float = -math.inf, high: float = math.inf, unit: str = ""
) -> float:
    """Return the value as a finite number from ``low`` to ``high``. Raises ArgumentFault."""
    is_number = hasattr(type(value), "__float__") and not isinstance(value, bool)
    try:
        found = float(value) if is_number else math.nan  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if math.isfinite(found) and low <= found <= high:
        return found
    is_bounded = math.isfinite(low) or math.isfinite(high)
    kind = f"a number from {low:g} to {high:g}" if is_bounded else "a finite number"
    raise ArgumentFault(
        f"{name} is not finite" if is_number and not math.isfinite(found) else f"{name} cannot be",
        expected=f"{kind} {unit}".strip(),
        got=repr(value),
        remedy="see what the script computes there",
    )


def whole(name: str, value: object, low: int, high: int) -> int:
    """Return the value as a whole number from ``low`` to ``high``. Raises ArgumentFault."""
    found = number(name, value, low, high)
    if found != int(found):
        raise ArgumentFault(
            f"{name} is no whole number", expected=f"{low} to {high}", got=repr(value)
        )
    return int(found)


def uri_of(value: object) -> str | None:
    """Return the name or URI of a car, or None. Raises ArgumentFault for anything else."""
    if value is None or isinstance(value, str):
        return value
    raise ArgumentFault(
        "a car is a name or a URI",
        expected="such as 'sim://nigel', or None for the only car that is served",
        got=repr(value),
    )
