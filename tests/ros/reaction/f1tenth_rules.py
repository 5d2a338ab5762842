"""What f1tenth_system would have made of the same commands, on the same plant, in virtual time.

Its rules as they are read in its sources (f1tenth_system@ae64e05 with mux.yaml and vesc.yaml, the
VESC with its default timeout): the mux passes on the message of the live topic with the highest
priority, when it comes, whatever its stamp says, and publishes nothing when all are silent. The
VESC holds the last speed, and lets the motor go 1 s after the last command; nothing is latched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from host_bridge.sharing.services import make_host
from sim_mock.plant.vehicle_plant import Plant
from sim_mock.plant.vesc import VescModel
from sim_mock.virtual_car.config import virtual_car_config

TIMEOUT_S = 0.2  # mux.yaml, of both topics
PRIORITIES = {"teleop": 100, "drive": 10}  # mux.yaml
VESC_SILENT_S = 1.0  # bldc, appconf_default.h; its brake current then is 0 A: it rolls
SPEED_MAX_MPS = 23250 / 4614.0  # vesc.yaml: speed_max over speed_to_erpm_gain
DT_S = 1e-3
# The VESC's speed loop, as good as such a loop gets on this plant: within 1 % after 2 s
FULL_MPS, GAIN, GAIN_PER_S, DUTY_MAX = 17.0, 1.5, 2.0, 0.95


@dataclass(frozen=True)
class Arrival:
    """A command reached the car's end of the line."""

    at_s: float
    topic: str
    speed_mps: float


@dataclass(frozen=True)
class Moment:
    """Where the car was: on its way, and how fast."""

    at_s: float
    way_m: float
    speed_mps: float


class Mux:
    """Which of two topics' messages go on to the VESC."""

    def __init__(self) -> None:
        self._heard_s: dict[str, float] = {}

    def passes(self, arrival: Arrival) -> bool:
        """Whether it is the live one of the highest priority, at this moment."""
        self._heard_s[arrival.topic] = arrival.at_s
        live = [name for name, at_s in self._heard_s.items() if arrival.at_s - at_s <= TIMEOUT_S]
        return max(live, key=PRIORITIES.__getitem__) == arrival.topic


class SpeedLoop:
    """A VESC that was told a speed."""

    def __init__(self, vesc: VescModel) -> None:
        self._vesc = vesc
        self._sum_m = 0.0
        self.wanted_mps: float | None = None
        self.told_s = 0.0

    def step(self, now_s: float, speed_mps: float) -> None:
        wanted_mps = self.wanted_mps
        if wanted_mps is None or now_s - self.told_s > VESC_SILENT_S:
            self._sum_m = 0.0
            self._vesc.tell(0.0, 0.0)
            return
        off_mps = wanted_mps - speed_mps
        self._sum_m += off_mps * DT_S
        duty = (wanted_mps + GAIN * off_mps + GAIN_PER_S * self._sum_m) / FULL_MPS
        self._vesc.tell(min(max(duty, -DUTY_MAX), DUTY_MAX), 0.0)


def driven(arrivals: Sequence[Arrival], until_s: float, vehicle: str) -> list[Moment]:
    """Each 10 ms from the first command on; arrivals are in order of their times."""
    if not arrivals:
        return []
    plant = virtual_car_config(make_host().vehicles.load(vehicle), {"seed": "1"}).make_plant()
    vesc = plant.speed_controller
    assert isinstance(vesc, VescModel), f"{vehicle} has no VESC"
    loop, mux = SpeedLoop(vesc), Mux()
    outputs = straight(plant)
    moments, next_of, began_s, way_m = [], 0, arrivals[0].at_s, 0.0
    for count in range(round((until_s - began_s) / DT_S)):
        now_s = began_s + count * DT_S
        while next_of < len(arrivals) and arrivals[next_of].at_s <= now_s:
            arrival = arrivals[next_of]
            next_of += 1
            if mux.passes(arrival):
                wanted_mps = min(max(arrival.speed_mps, -SPEED_MAX_MPS), SPEED_MAX_MPS)
                loop.wanted_mps, loop.told_s = wanted_mps, now_s
        loop.step(now_s, plant.wheel_speed_mps)
        plant.step(DT_S, outputs, True)
        way_m += abs(plant.truth.vx_mps) * DT_S
        if count % 10 == 0:
            moments.append(Moment(now_s, way_m, plant.truth.vx_mps))
    return moments


def straight(plant: Plant) -> list[int]:
    """Outputs that steer straight ahead; the VESC is told by its line, not by a pulse."""
    outputs = [0] * 8
    for channel in plant.parameters.steering:
        outputs[channel.channel] = round(_pulse_at_zero(channel.curve))
    return outputs


def _pulse_at_zero(curve: Sequence[tuple[float, float]]) -> float:
    for (low, low_ns), (high, high_ns) in pairwise(sorted(curve)):
        if low <= 0.0 <= high:
            return low_ns + (high_ns - low_ns) * -low / (high - low)
    raise ValueError(f"no pulse of {curve} steers straight")
