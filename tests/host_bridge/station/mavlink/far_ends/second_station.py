"""A second station at a car that another one drives: tries its own sticks, then disarms.

Prints a line of JSON for each thing that it learns. ``second_station.py PORT`` of the car
"""

from __future__ import annotations

import json
import os
import sys
import time

os.environ["MAVLINK20"] = "1"

from pymavlink import mavutil

EVERY_S = 0.04
TRIES_S = 1.0
BACKWARD = -950


def say(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    link = mavutil.mavlink_connection(
        f"udpout:127.0.0.1:{sys.argv[1]}", dialect="development", source_system=254
    )
    link.mav.heartbeat_send(6, 8, 0, 0, 4)
    link.wait_heartbeat()
    begun_s, texts, slowest = time.monotonic(), [], 1e9
    while time.monotonic() - begun_s < TRIES_S:
        link.mav.manual_control_send(link.target_system, BACKWARD, 0, 0, 0, 0)
        until_s = time.monotonic() + EVERY_S
        while (left_s := until_s - time.monotonic()) > 0:
            got = link.recv_match(blocking=True, timeout=left_s)
            if got is not None and got.get_type() == "STATUSTEXT":
                texts.append(got.text)
            if got is not None and got.get_type() == "VFR_HUD":
                slowest = min(slowest, got.groundspeed)
    say(refused="".join(texts), slowest=slowest)
    say(disarmed_s=time.monotonic())
    link.arducopter_disarm()
    ack = link.recv_match(type="COMMAND_ACK", blocking=True, timeout=10)
    say(result=ack.result)


if __name__ == "__main__":
    main()
