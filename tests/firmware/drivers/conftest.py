"""``machine`` and ``rp2`` for drivers that import them: after what Python has, which is neither."""

import sys
from pathlib import Path

VIRTUAL = str(Path(__file__).parent / "virtual")
if VIRTUAL not in sys.path:
    sys.path.append(VIRTUAL)
