"""The end of each rule of ``make check``: what it refuses is printed, and is a failure."""

from collections.abc import Sequence


def told(refusals: Sequence[str]) -> int:
    """Print each refusal; return the exit code, 1 if there is any."""
    for refusal in refusals:
        print(refusal)
    return 1 if refusals else 0
