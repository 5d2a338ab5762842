"""A station of pymavlink's own connection: arms the car of a port, and drives it by a joystick.

A car whose clock is not agreed yet refuses: it is asked again, as a person would, for ten seconds.
Prints a line of JSON for each thing that it learns. ``joystick.py PORT [SECONDS]``
"""

from __future__ import annotations

import json
import os
import sys
import time

os.environ["MAVLINK20"] = "1"

from pymavlink import mavutil

EVERY_S, AGAIN_S = 0.04, 10.0
FULL, RIGHT = 950, 150


def say(**what: object) -> None:
    print(json.dumps(what), flush=True)


def main() -> None:
    port, seconds = int(sys.argv[1]), float(sys.argv[2]) if len(sys.argv) > 2 else 1e9
    link = mavutil.mavlink_connection(
        f"udpin:127.0.0.1:{port}", dialect="development", source_system=255
    )
    beat = link.wait_heartbeat()
    say(heard=beat.type, autopilot=beat.autopilot, mode=link.flightmode)
    link.arducopter_arm()
    asked_s = begun_s = time.monotonic()
    count, is_told = 0, False
    while time.monotonic() - begun_s < seconds:
        count += 1
        forward = 0 if count * EVERY_S < 1.0 else FULL + count % 5
        link.mav.manual_control_send(link.target_system, forward, 0, 0, RIGHT, 0)
        until_s = begun_s + count * EVERY_S
        while (left_s := until_s - time.monotonic()) > 0:
            got = link.recv_match(blocking=True, timeout=left_s)
            if got is None or got.get_type() == "BAD_DATA":
                continue
            if got.get_type() == "COMMAND_ACK":
                if got.result and time.monotonic() - asked_s < AGAIN_S:
                    time.sleep(0.2)
                    link.arducopter_arm()
                    begun_s, count = time.monotonic(), 0  # the stick stays in its middle till then
                    break
                say(command=got.command, result=got.result)
            if got.get_type() == "VFR_HUD" and got.groundspeed > 1.7 and not is_told:
                is_told = True
                say(speed=got.groundspeed)
    link.arducopter_disarm()
    ack = link.recv_match(type="COMMAND_ACK", blocking=True, timeout=5)
    say(command=ack.command, result=ack.result)


if __name__ == "__main__":
    main()
