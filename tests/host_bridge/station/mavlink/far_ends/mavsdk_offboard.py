"""A program of MAVSDK that drives by velocities. ``mavsdk_offboard.py PORT``"""

from __future__ import annotations

import json
import sys
import time

from mavsdk import ComponentType, Configuration, Mavsdk
from mavsdk.plugins.action import Action
from mavsdk.plugins.offboard import Offboard, VelocityBodyYawspeed
from mavsdk.plugins.telemetry import Telemetry


def main() -> None:
    library = Mavsdk(Configuration.create_with_component_type(ComponentType.GROUND_STATION))
    library.add_any_connection(f"udpin://127.0.0.1:{sys.argv[1]}")
    system = library.first_autopilot(20.0)
    action, program, telemetry = Action(system), Offboard(system), Telemetry(system)
    program.set_velocity_body(VelocityBodyYawspeed(0.5, 0.0, 0.0, 20.0))
    found: dict[str, object] = {"start": bool(program.start()), "arm": bool(action.arm())}
    time.sleep(3.0)
    found["speed"] = telemetry.odometry().velocity_body.x_m_s
    found["yaw rate"] = telemetry.attitude_angular_velocity_body().yaw_rad_s
    found["armed"] = telemetry.armed()
    program.stop()
    time.sleep(2.0)
    found["speed after"] = telemetry.odometry().velocity_body.x_m_s
    found["armed after"] = telemetry.armed()
    print(json.dumps(found), flush=True)
    library.destroy()


if __name__ == "__main__":
    main()
