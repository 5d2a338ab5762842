"""The far end: the simulator's client as its scripts have it (source: its Socket.cs and asset).

It never says ``40``; it pings, and its timeout never closes anything; it reads strings only, with
int.Parse, float.Parse and bool.Parse in its machine's language; whatever its handler raises is
swallowed, and the frame at its end with it. One frame goes out when it connects, and then one for
every Bridge. A small car is simple: motors with a lag, wheels that do not slip. A full-scale one
is the model of the report, with engine, gearbox and pedals.
"""

import base64
import gzip
import json
import math

from sim_mock.models.autodrive.automobile import at_rest, step
from sim_mock.models.autodrive.automobiles import OPENCAV, RZR
from sim_mock.models.autodrive.parameters import Pedals

DRIVEN = ("V1 Throttle", "V1 Steering")
TWIST = ("V1 Linear Velocity", "V1 Angular Velocity")
BRAKES = ("V1 Brake", "V1 Handbrake")
WHOLE = (
    "V1 CoSim",
    "V1 Headlights",
    "V1 Indicators",
    "Weather",
    *(f"TL{i} State" for i in range(1, 5)),
)
TOWN = WHOLE[-4:]
SKY = ("Auto Time", "Time Scale", "Time", "Weather", "Clouds", "Fog", "Rain", "Snow")
LIGHTS = ("V1 Headlights", "V1 Indicators")

# vehicle -> what its scene's handler reads, in the simulator's scripts
READS = {
    "nigel": (*DRIVEN, *LIGHTS, *TOWN),
    "f1tenth": (*DRIVEN, "V1 Reset"),
    "roboracer": (*DRIVEN, "V1 Reset", "V1 CoSim"),
    "hunter_se": (*DRIVEN, "V1 CoSim", *TOWN),
    "hunter_se_twist": (*TWIST, "V1 CoSim", "V1 Reset", *TOWN),
    "opencav": (*DRIVEN, *BRAKES, *LIGHTS, "V1 CoSim", *TOWN, *SKY),
    "rzr": (*DRIVEN, *BRAKES, "V1 Headlights", "V1 CoSim", *SKY),
}
# vehicle -> steering at full lock, top speed, wheelbase, wheel radius
SIZES = {
    "nigel": (0.5236, 0.26703, 0.14155, 0.0325),
    "f1tenth": (0.5236, 22.88, 0.324, 0.059),
    "roboracer": (0.5236, 22.88, 0.324, 0.059),
    "hunter_se": (0.384, 4.8, 0.55, 0.1375),
}
# m/s at throttles of 0, 0.1, 0.2, ... 1: AutoDRIVE-Nigel-Dataset, throttle_velocity
NIGEL_MPS = (0.0, 0.02867, 0.05685, 0.08457, 0.11185, 0.13871, 0.16516, 0.19122, 0.21688,
             0.24215, 0.26703)  # fmt: skip
AUTOMOBILES = {"opencav": OPENCAV, "rzr": RZR}
HAS_SCAN = ("nigel", "f1tenth", "roboracer")


class Unity:
    """One scene. ``mark`` is its language's decimal mark; ``packs`` its LIDAR's newer encoding."""

    def __init__(self, vehicle="nigel", mark=".", packs=True):
        self.vehicle, self.mark, self.packs = vehicle, mark, packs
        self.reads = READS[vehicle]
        self.steer_max, self.top, self.wheelbase, self.radius = SIZES.get(
            vehicle, (0.6, 10.0, 1.0, 0.2)
        )
        self.automobile = AUTOMOBILES.get(vehicle)
        self.driven = at_rest(self.automobile) if self.automobile else None
        self.brake = self.handbrake = 0.0
        self.throttle = self.steer = self.speed = self.x = self.y = self.yaw = self.turn = 0.0
        self.rolled = 0.0
        self.frames = self.resets = 0
        self.swallowed = []
        self.breaks_next = False  # a NullReferenceException of its own
        self.told = {}
        self.is_manual = self.is_paused = False
        self.says = {}  # keys of the scene's own, of its signals for one

    # --- the socket's side

    def on_open(self):
        return self.emit()

    def on_text(self, text):
        """What it sends for a packet: nothing, a pong, or a frame."""
        if text.startswith("2"):
            return "3" + text[1:]
        if not text.startswith("42"):
            return None  # the greeting, "40" and pongs
        event = json.loads(text[2:])
        assert len(event) == 2
        assert event[0] == "Bridge"
        assert isinstance(event[1], dict)
        try:
            self.on_bridge(event[1])
        except (KeyError, TypeError, ValueError) as fault:
            self.swallowed.append(repr(fault))
            return None
        return self.emit()

    def on_bridge(self, keys):
        if self.breaks_next:
            self.breaks_next = False
            raise ValueError("NullReferenceException")
        read = {key: self.parse(key, keys[key]) for key in self.reads}
        self.told = read
        if self.is_manual:  # and nobody at its keyboard
            self.throttle = 0.0
        elif "V1 Throttle" in read:
            self.throttle = max(-1.0, min(1.0, read["V1 Throttle"]))
            self.steer = max(-1.0, min(1.0, read["V1 Steering"])) * self.steer_max
            self.brake, self.handbrake = (read.get(key, 0.0) for key in BRAKES)
        if read.get("V1 Reset"):
            self.resets += 1
            self.speed = self.x = self.y = self.yaw = self.rolled = 0.0

    def parse(self, key, text):
        if not isinstance(text, str):
            raise TypeError(f"{key}: .str of {text!r} is null")
        if key in WHOLE:
            return int(text)
        if key in ("V1 Reset", "Auto Time"):
            return {"true": True, "false": False}[text.lower()]
        thousands = "." if self.mark == "," else ","
        return float(text.replace(thousands, "").replace(self.mark, "."))

    # --- the scene

    def run(self, dt):
        """One rendered frame."""
        if self.is_paused:
            return
        if self.automobile:
            self.drive(dt)
            return
        lag = 0.05 if self.throttle == 0.0 else 0.15
        self.speed += (self.settles() - self.speed) * min(dt / lag, 1.0)
        self.turn = self.speed * math.tan(self.steer) / self.wheelbase
        self.x += self.speed * math.cos(self.yaw) * dt
        self.y += self.speed * math.sin(self.yaw) * dt
        self.yaw += self.turn * dt
        self.rolled += self.speed * dt / self.radius

    def settles(self):
        """The steady speed of its throttle."""
        if self.vehicle != "nigel":
            return self.throttle * self.top
        size = 10.0 * abs(self.throttle)
        below = min(int(size), 9)
        low, high = NIGEL_MPS[below : below + 2]
        return math.copysign(low + (high - low) * (size - below), self.throttle)

    def drive(self, dt):
        """A full-scale car, in steps of a millisecond at most."""
        car, steps = self.automobile, math.ceil(dt * 1e3)
        u = Pedals(self.throttle, self.steer / self.steer_max, self.brake, self.handbrake)
        for _ in range(steps):
            self.driven = step(self.driven, u, car, dt / steps)
            self.rolled += sum(self.driven.body[6:10]) / 4 * dt / steps
        self.x, self.y, self.yaw, self.speed, _, self.turn = self.driven.body[:6]

    def number(self, value):
        return f"{value:.4f}".replace(".", self.mark)

    def words(self, *values):
        return " ".join(map(self.number, values))

    def scan(self):
        ranges = [self.number(1.25 + 0.001 * i) for i in range(359)] + ["inf"]
        if not self.packs:
            return " ".join(ranges)
        return base64.b64encode(gzip.compress("\n".join(ranges).encode(), mtime=0)).decode()

    def emit(self):
        self.frames += 1
        half = 0.5 * self.yaw
        keys = {
            "Throttle": self.number(self.throttle),
            "Steering": self.number(self.steer),
            "Encoder Ticks": f"{int(self.rolled * 305.577)} {int(self.rolled * 305.577)}",
            "Encoder Angles": self.words(self.rolled, self.rolled),
            "Position": self.words(self.x, self.y, 0.03),
            "Orientation Quaternion": self.words(0.0, 0.0, math.sin(half), math.cos(half)),
            "Orientation Euler Angles": self.words(0.0, 0.0, self.yaw % math.tau),
            "Angular Velocity": self.words(0.0, 0.0, self.turn),
            "Linear Acceleration": self.words(0.0, 0.0, 0.0),
        }
        if self.vehicle in ("roboracer",):
            keys["Linear Velocity"] = self.words(self.speed, 0.0, 0.0)
        else:
            keys["Speed"] = self.number(abs(self.speed))
        if self.vehicle in AUTOMOBILES:
            keys["Brake"], keys["Handbrake"] = map(self.number, (self.brake, self.handbrake))
        if self.vehicle in HAS_SCAN and self.frames > 3:
            keys["LIDAR Range Array"] = self.scan()
        if self.frames < 3:  # its sensors have not ticked yet
            keys["Linear Acceleration"] = ""
            del keys["Orientation Euler Angles"]
        own = {f"V1 {key}": text for key, text in keys.items()}
        return "42" + json.dumps(["Bridge", {**own, **self.says}])
