"""Stops a car from afar, without a token, again and again: ``stop_calls.py URI CALLS``.

It prints how long each took until the car had acknowledged it, in ms as JSON; null for never.
"""

import json
import sys
import time

from host_bridge.core.errors import TandemError
from host_bridge.sharing.network.stops.network_stop import stop_afar

PAUSE_S = 0.05

if __name__ == "__main__":
    took: list[float | None] = []
    for _ in range(int(sys.argv[2])):
        try:
            took.append(stop_afar(sys.argv[1]).took_ms)
        except TandemError:
            took.append(None)
        time.sleep(PAUSE_S)
    print(json.dumps(took))
