"""Draws the pictures of ``hardware/pictures`` that are not current. ``make hardware``."""

from __future__ import annotations

import argparse
import shutil
import sys

from hardware.drawing.files import Picture, digests, pictures, stray, write
from host_bridge.core.errors import TandemError

_NO_DOT = """cannot draw: graphviz's `dot` is not on this machine
  remedy: apt-get install graphviz, brew install graphviz, or see its site"""


def main() -> int:
    """Draw; return 1 if graphviz is missing, 5 if a file is wrong, else 0."""
    try:
        stale = [picture for picture in pictures() if not _is_current(picture)]
    except TandemError as fault:
        print(fault, file=sys.stderr)
        return 5
    if stale and shutil.which("dot") is None:
        print(_NO_DOT, file=sys.stderr)
        return 1
    for picture in stale:
        write(picture)
        print(f"drawn: {picture.name}", flush=True)
    for name in stray():
        print(f"belongs to nothing, remove it: hardware/pictures/{name}")
    print(f"{len(stale)} drawn, the rest are current")
    return 0


def _is_current(picture: Picture) -> bool:
    return set(digests(picture)) == {picture.digest}


if __name__ == "__main__":
    argparse.ArgumentParser("python -m hardware.drawing", description=__doc__).parse_args()
    sys.exit(main())
