"""A symmetric limit."""


def clamped(value: float, limit: float) -> float:
    """Return ``value`` clamped to plus and minus ``limit``."""
    return max(-limit, min(limit, value))
