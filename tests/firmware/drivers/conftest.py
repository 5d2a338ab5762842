"""``machine`` and ``rp2`` for drivers that import them, after what Python has, which is neither.

And what MicroPython's ``time`` has besides.
"""

import sys
import time
from pathlib import Path

VIRTUAL = str(Path(__file__).parent / "virtual")
if VIRTUAL not in sys.path:
    sys.path.append(VIRTUAL)

if not hasattr(time, "sleep_ms"):  # CPython
    time.sleep_ms = lambda ms: None
