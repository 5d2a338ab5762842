"""Limits that hold both ways."""


def clamped(value: float, limit: float) -> float:
    """``value`` within plus and minus ``limit``."""
    return max(-limit, min(limit, value))
