"""Stops a fleet so many times, and prints when each car had answered, one call a line, as JSON.

``python fleet_calls.py FLEET CALLS``: each call as ``tandem stop --fleet`` makes it.
"""

import json
import sys
import time

from host_bridge.sharing.network.invitations import reached_cars
from host_bridge.sharing.network.stops.fleet_messages import fleet_tag
from host_bridge.sharing.network.stops.fleet_sockets import own_addresses
from host_bridge.sharing.network.stops.fleet_stop import FleetStop

PAUSE_S = 0.05

if __name__ == "__main__":
    tag = fleet_tag(sys.argv[1])
    for _ in range(int(sys.argv[2])):
        cars = FleetStop(tag, lambda: reached_cars(tag), own=own_addresses()).run()
        row = {it.name: [it.answer, it.answered_ms, it.proven_ms] for it in cars}
        print(json.dumps(row), flush=True)
        time.sleep(PAUSE_S)
