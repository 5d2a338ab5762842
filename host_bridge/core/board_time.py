"""A board's times: microseconds modulo 2**30, which begin anew every 18 minutes."""

TIME_MASK = (1 << 30) - 1
_HALF = 1 << 29


def elapsed_us(now_us: int, then_us: int) -> int:
    """Return now - then for times modulo 2**30, between -2**29 and 2**29 - 1 (8.9 minutes)."""
    return (now_us - then_us + _HALF & TIME_MASK) - _HALF


def unwrapped_us(time_us: int, near_us: int) -> int:
    """Return the time that is ``time_us`` modulo 2**30 and nearest to ``near_us``."""
    return near_us + elapsed_us(time_us, near_us)
