"""Complete cars that another model moves, and what that model may want of files."""

from functools import lru_cache

from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import SmallHost
from sim_mock.bodies.trust import trust
from sim_mock.faults.trial.vehicles import AlteredVehicle
from sim_mock.world import World

PARTS = """
from math import cos, sin, tan

class Part:
    def load_params(self, path): pass
    def reset(self): pass
    def dtSet(self, dt): self.dt = dt

class Wheels(Part):
    def get_action_names(self): return ["VX_DES", "STEER_DES"]
    def get_state_names(self): return ["POS_X", "POS_Y", "YAW", "YAW_RATE", "VX", "STEER"]
    def forward(self, action, state):
        x, y, yaw, _, v, _ = state
        v += self.dt / 0.05 * (0.8 * action[0] - v)
        rate = v * tan(action[1]) / 0.1415
        x, y = x + self.dt * v * cos(yaw), y + self.dt * v * sin(yaw)
        return [x, y, yaw + self.dt * rate, rate, v, action[1]]
"""
# What is asked, and what comes of it at 0 and at 20 m/s: forward a fifth, backward all
MAP = "default,0.0,20.0\n-20.0,-20.0,-20.0\n0.0,0.0,0.0\n20.0,4.0,4.0\n"
FILE = """\
/**:
  ros__parameters:
    vehicle_model_type: {name}
    initialize_source: ORIGIN
    timer_sampling_time_ms: 25
    add_measurement_noise: true
    {key}
"""
KEYS = {
    "DELAY_STEER_MAP_ACC_GEARED": "acceleration_map_path: map.csv",
    "LEARNED_STEER_VEL": """model_module_paths: [tandem_test_parts]
    model_param_paths: [""]
    model_class_names: [Wheels]""",
}


def write_file(folder, name):
    """A parameter file of Autoware's with what that model cannot do without; its path."""
    (folder / "map.csv").write_text(MAP)
    (folder / "tandem_test_parts.py").write_text(PARTS)
    path = folder / f"{name}.yaml"
    path.write_text(FILE.format(name=name, key=KEYS[name]))
    trust(path)  # the tests' own
    return str(path)


@lru_cache
def vehicle_with(name, model):
    """The vehicle file, with ``model`` in its [plant]."""
    v = load_vehicle(name)
    return AlteredVehicle(v.name, {**v.plant, "model": model}, v.channels, v.parameters)


def driver(name, model, seed=0):
    """Somebody at the wheel of such a car, ACTIVE, at rest."""
    host = SmallHost(World(vehicle_with(name, model), seed=seed))
    host.take_the_wheel()
    return host
