"""Random segments of drives, and the largest acceleration that an IMU would feel in them.

Segments of a quarter of a second begin in a random state, slides and spins among them, and get
random pulses; what the accelerometer would feel in any millisecond is held against mu g.

``python -m tests.sim_mock.plant.segments 100`` prints it for each car, as JSON, for that many.
"""

import json
import sys
from math import hypot
from random import Random

from host_bridge.config import load_vehicle
from sim_mock.plant.body import GRAVITY_MPS2
from sim_mock.world import plant_of

STEP_S = 1e-3
STEPS, HELD = 250, 50  # of a segment; of each set of outputs
MOST = 1.2  # times mu g; the rotation within a step is what may go beyond 1
CARS = ("nigel", "f1tenth", "f1tenth_vesc", "autorally", "hunter_se", "opencav")


def begun(vehicle, random):
    """A plant in a random state, its wheels rolling; slides and spins in two of three."""
    plant = plant_of(vehicle, 1)
    p = plant.parameters.body
    most = p.kinematic_below_mps * random.choice((2.0, 4.0, 10.0))
    rate = random.uniform(-most, most) / p.wheelbase_m * random.choice((0.0, 0.3, 1.0))
    side_mps = random.uniform(-most, most) * random.choice((0.0, 0.3, 1.0))
    plant.truth.assign(
        (0.0, 0.0, random.uniform(-3, 3), random.uniform(-most, most), side_mps, rate)
    )
    plant._drive.rim_mps = plant.truth.vx_mps
    return plant


def outputs_of(plant, random):
    """Any pulse within each servo's curve, any throttle, any duty."""
    p, outputs = plant.parameters, [0] * 8
    for servo in p.steering:
        pulses = [pulse for _, pulse in servo.curve]
        outputs[servo.channel] = round(random.uniform(min(pulses), max(pulses)))
    for channel in p.drive_channels:
        pulse = random.choice((1_500_000, random.randint(1_000_000, 2_000_000)))
        outputs[channel] = pulse if p.esc else random.choice((0, random.randint(-10_000, 10_000)))
    if p.brake:
        outputs[p.brake.channel] = random.choice((round(p.brake.released_ns), 2_000_000))
    return outputs


def worst_g(vehicle, random):
    """The largest acceleration of a segment, in units of mu g."""
    plant = begun(vehicle, random)
    truth, worst = plant.truth, 0.0
    for step in range(STEPS):
        if step % HELD == 0:
            outputs, enable = outputs_of(plant, random), random.random() > 0.2
        vx, vy = truth.vx_mps, truth.vy_mps
        plant.step(STEP_S, outputs, enable)
        rate = truth.yaw_rate_radps
        felt = hypot(
            (truth.vx_mps - vx) / STEP_S - vy * rate, (truth.vy_mps - vy) / STEP_S + vx * rate
        )
        worst = max(worst, felt)
    return worst / (plant.parameters.mu * GRAVITY_MPS2)


def worst_of(name, count):
    vehicle, random = load_vehicle(name), Random(name)
    return max(worst_g(vehicle, random) for _ in range(count))


if __name__ == "__main__":
    json.dump({name: worst_of(name, int(sys.argv[1])) for name in CARS}, sys.stdout)
