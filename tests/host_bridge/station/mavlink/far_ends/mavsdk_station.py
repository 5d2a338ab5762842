"""A station of MAVSDK: asks everything that it can, arms, drives, kills and terminates the car.

Prints one line of JSON with what came of each. ``mavsdk_station.py PORT``
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable

from mavsdk import ComponentType, Configuration, Mavsdk, System
from mavsdk.plugins.action import Action
from mavsdk.plugins.info import Info
from mavsdk.plugins.manual_control import ManualControl
from mavsdk.plugins.mission_raw import MissionRaw
from mavsdk.plugins.param import Param
from mavsdk.plugins.telemetry import Telemetry

FOUND: dict[str, object] = {}


def learn(name: str, ask: Callable[[], object]) -> None:
    try:
        FOUND[name] = ask()
    except Exception as error:  # noqa: BLE001 - what it says is what is learned
        FOUND[name] = str(error).partition(";")[0]


class Joystick(threading.Thread):
    """Sends the sticks at 25 Hz: a second at rest, then forward and to the left."""

    def __init__(self, control: ManualControl) -> None:
        super().__init__(daemon=True)
        self.is_over = False
        self._control = control

    def run(self) -> None:
        count = 0
        while not self.is_over:
            count += 1
            forward = 0.0 if count < 25 else 0.9 + 0.002 * (count % 5)
            self._control.set_manual_control_input(forward, 0.0, 0.5, -0.2)
            time.sleep(0.04)


def ask(system: System) -> None:
    action, telemetry, parameters = Action(system), Telemetry(system), Param(system)
    learn("parameters", lambda: len(parameters.get_all_params().float_params))
    learn("blind_mm", lambda: parameters.get_param_float("BLIND_MM"))
    learn("set blind_mm", lambda: parameters.set_param_float("BLIND_MM", 1.0))
    learn("board", lambda: Info(system).get_identification().hardware_uid)
    learn("mission", lambda: len(MissionRaw(system).download_mission()))
    learn("takeoff", lambda: bool(action.takeoff()))
    learn("interval", lambda: bool(telemetry.set_rate_attitude_euler(20.0)))


def drive(system: System) -> None:
    action, telemetry = Action(system), Telemetry(system)
    learn("arm", lambda: bool(action.arm()))
    joystick = Joystick(ManualControl(system))
    joystick.start()
    time.sleep(4.0)
    learn("armed", telemetry.armed)
    learn("north", lambda: telemetry.position_velocity_ned().position.north_m)
    learn("yaw", lambda: telemetry.attitude_euler().yaw_deg)
    learn("speed", lambda: telemetry.odometry().velocity_body.x_m_s)
    learn("battery", lambda: telemetry.battery().voltage_v)
    learn("latitude", lambda: telemetry.position().latitude_deg)
    learn("heading", lambda: telemetry.heading().heading_deg)
    learn("hold", lambda: bool(action.hold()))
    learn("kill", lambda: bool(action.kill()))
    joystick.is_over = True
    joystick.join()
    time.sleep(1.0)
    learn("armed after", telemetry.armed)
    learn("arm again", lambda: bool(action.arm()))
    learn("terminate", lambda: bool(action.terminate()))


def main() -> None:
    library = Mavsdk(Configuration.create_with_component_type(ComponentType.GROUND_STATION))
    library.add_any_connection(f"udpin://127.0.0.1:{sys.argv[1]}")
    system = library.first_autopilot(20.0)
    assert system is not None, "no vehicle was found"
    FOUND["autopilot"] = system.autopilot_type().name
    FOUND["vehicle"] = system.vehicle_type().name
    ask(system)
    drive(system)
    print(json.dumps(FOUND), flush=True)
    library.destroy()


if __name__ == "__main__":
    main()
