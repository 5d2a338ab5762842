"""A script as people write them for the simulator: ahead, then a bend to the left.

With a third word, `reset`: ahead, back to its start, and ahead again.

It runs in a Python of its own that has the Devkit's pinned libraries, and knows nothing of Tandem.
"""

import base64
import gzip
import io
import sys
import time

import eventlet
import eventlet.wsgi
import numpy as np
import socketio
from flask import Flask
from PIL import Image

port, period_s = int(sys.argv[1]), float(sys.argv[2])
resets = sys.argv[3:] == ["reset"]
sio = socketio.Server()
app = Flask(__name__)


class Car:
    """Reads every key of a frame, as the Devkit's own class does: one that is missing raises."""

    def parse(self, data):
        self.throttle = float(data["V1 Throttle"])
        self.steering = float(data["V1 Steering"])
        self.speed = float(data["V1 Speed"])
        self.velocity = np.fromstring(data["V1 Linear Velocity"], dtype=float, sep=" ")
        self.ticks = np.fromstring(data["V1 Encoder Ticks"], dtype=int, sep=" ")
        self.angles = np.fromstring(data["V1 Encoder Angles"], dtype=float, sep=" ")
        self.position = np.fromstring(data["V1 Position"], dtype=float, sep=" ")
        self.quaternion = np.fromstring(data["V1 Orientation Quaternion"], dtype=float, sep=" ")
        self.euler = np.fromstring(data["V1 Orientation Euler Angles"], dtype=float, sep=" ")
        self.turning = np.fromstring(data["V1 Angular Velocity"], dtype=float, sep=" ")
        self.acceleration = np.fromstring(data["V1 Linear Acceleration"], dtype=float, sep=" ")
        self.scan_rate = float(data["V1 LIDAR Scan Rate"])
        packed = base64.b64decode(data["V1 LIDAR Range Array"])
        self.ranges = np.fromstring(gzip.decompress(packed).decode(), dtype=float, sep="\n")
        self.camera = np.asarray(
            Image.open(io.BytesIO(base64.b64decode(data["V1 Front Camera Image"])))
        )
        self.collisions = int(float(data["V1 Collisions"]))
        self.laps = int(data["V1 Lap Count"])
        self.best_lap = float(data["V1 Best Lap Time"])


car = Car()
car.phase = "away"


@sio.on("connect")
def connect(sid, environ):
    print("connected", flush=True)


@sio.on("Bridge")
def bridge(sid, data):
    if not data:
        return
    car.parse(data)
    assert len(car.ticks) == len(car.angles) == 2, "two encoders"
    assert car.camera.shape[2] == 3, "a picture in colour"
    time.sleep(period_s)  # what it would compute
    x, y, _ = car.position
    print(f"at {x:.3f} {y:.3f} {car.speed:.3f} {car.euler[2]:.3f}", flush=True)
    answer = {"V1 Throttle": "0.3", "V1 Steering": "0.0" if x < 0.3 or resets else "0.5"}
    sio.emit("Bridge", data={**answer, "V1 Reset": str(is_to_reset(x))})


def is_to_reset(x):
    if not resets:
        return False
    if car.phase == "away" and x > 0.3:
        car.phase = "back"
    elif car.phase == "back" and x < 0.01:
        car.phase = "again"
    print(f"saw {len(car.ranges)} {car.ticks[0]} {car.laps} {car.phase}", flush=True)
    return car.phase == "back"


app = socketio.Middleware(sio, app)
eventlet.wsgi.server(eventlet.listen(("127.0.0.1", port)), app, log_output=False)
