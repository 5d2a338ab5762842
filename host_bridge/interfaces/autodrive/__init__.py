"""AutoDRIVE Devkit scripts: a car offered to them as the simulator offers its own."""

from host_bridge.interfaces.autodrive.frame import frame_of
from host_bridge.interfaces.autodrive.script import Script
from sim_mock.autodrive.cars import SimulatedCar, simulated_car

__all__ = ["Script", "SimulatedCar", "frame_of", "simulated_car"]
