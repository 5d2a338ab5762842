"""What the wires carry, each millisecond, held against the vehicle file."""

import random

from tests.safety.support.facts import (
    asks_backward,
    channels_of,
    drive_is_neutral,
    facts_of,
    range_ns,
)

_GRAIN_NS = 1_500  # pulses are interpolated between nine points, in integers
_ACKERMANN = 1.6  # an inner wheel turns faster than the angle that is slewed
_BACKWARD_MPS = 0.005
_FIRST_ANSWER_MS = 45  # a frame of an RC, a step
_GRAIN_URAD = 60  # the report is in 50 urad
STEP_S = 0.01


class Wires:
    """Watches a car; ``broken`` says which limit was left, when."""

    def __init__(self) -> None:
        self.broken: list[str] = []
        self.trace: list[tuple[int, tuple[int, ...], float]] = []
        self._car = None
        self._targets: list[int] = []
        self._steers: list[int] = []

    def watch(self, car) -> None:
        self._car = car
        car.world.observers.append(self._observe)

    def _observe(self, world) -> None:
        values = tuple(world.values)
        if self.trace:
            self._check_channels(self.trace[-1][1], values, world.now_us)
        self.trace.append((world.now_us, values, world.plant.wheel_speed_mps))

    def _check_channels(self, before, values, now_us: int) -> None:
        name = self._car.vehicle
        for at, table in enumerate(facts_of(name)["channels"]):
            if table["kind"] == "none":
                continue
            low, high = range_ns(table)
            if not low <= values[at] <= high:
                self.broken.append(f"{now_us}: {table['name']} at {values[at]}")
        rate_radps = facts_of(name)["limits"]["steer_rate_radps"]
        for at, table in channels_of(name, "servo_steering").items():
            (a, p), (b, q) = table["points"][0], table["points"][-1]
            most_ns = abs((q - p) / (b - a)) * 1000 * rate_radps * _ACKERMANN * STEP_S + _GRAIN_NS
            if abs(values[at] - before[at]) > most_ns:
                self.broken.append(f"{now_us}: {table['name']} jumps by {values[at] - before[at]}")

    # --- a storm of commands, far beyond what the car may do

    def storm(self, car, seconds: int, seed: int = 7) -> None:
        draw = random.Random(seed)
        for _ in range(10 * seconds):
            speed = draw.choice((0, 30_000, -30_000, draw.randrange(-2000, 2000)))
            steer = draw.choice((0, 1_000_000, -1_000_000, draw.randrange(-300_000, 300_000)))
            for _ in range(10):
                car.drive(10, speed, steer)
                self._check_report(car)

    def _check_report(self, car) -> None:
        status, limits = car.host.status, facts_of(car.vehicle)["limits"]
        self._targets.append(status.target_mm_s)
        self._steers.append(status.steer_50urad * 50)
        if abs(status.target_mm_s) > car.cap_mm_s:
            self.broken.append(f"target {status.target_mm_s} beyond {car.cap_mm_s}")
        if -status.target_mm_s > limits["reverse_max_mps"] * 1000:
            self.broken.append(f"target {status.target_mm_s} backward")
        if abs(status.steer_50urad * 50) > limits["steer_max_rad"] * 1e6 + _GRAIN_URAD:
            self.broken.append(f"steers {status.steer_50urad * 50}")
        self._check_envelope(car, limits)
        self._check_rates(car, limits)

    def _check_envelope(self, car, limits) -> None:
        """v^2 * angle / wheelbase, at the measured speed; the slew may still be on its way in."""
        status = car.host.status
        wheelbase_m = facts_of(car.vehicle)["geometry"]["wheelbase_m"]
        speed_mps = abs(status.speed_mm_s) / 1000
        if speed_mps > 0.05:
            most_rad = limits["lateral_accel_mps2"] * wheelbase_m / speed_mps**2
            slewed_rad = limits["steer_rate_radps"] * STEP_S
            if abs(status.steer_50urad) * 5e-5 > most_rad + slewed_rad + 1e-4:
                self.broken.append(f"steers {status.steer_50urad * 50} at {speed_mps} m/s")

    def _check_rates(self, car, limits) -> None:
        if len(self._targets) < 3 or car.state != 2 or car.host.status.brake:
            return
        a, b, c = self._targets[-3:]
        most = max(limits["accel_mps2"], limits["decel_mps2"]) * 1000 * STEP_S + 1
        if abs(c - b) > most:
            self.broken.append(f"target from {b} to {c}")
        jerk = limits["jerk_mps3"] * 1000 * STEP_S**2
        if abs((c - b) - (b - a)) > 2 * jerk + 2:
            self.broken.append(f"target from {a} over {b} to {c}")
        turned = abs(self._steers[-1] - self._steers[-2])
        if turned > limits["steer_rate_radps"] * 1e6 * STEP_S + _GRAIN_URAD:
            self.broken.append(f"steering turned by {turned}")

    # --- braking

    def drives_on(self) -> list[int]:
        """When a drive channel was on its forward side; from the first answer of the car on."""
        name = self._car.vehicle
        return [
            now_us
            for now_us, values, _ in self.trace[_FIRST_ANSWER_MS:]
            if not drive_is_neutral(name, values) and not asks_backward(name, values)
        ]

    def pushes_what_stands_ms(self) -> int:
        """For how many milliseconds wheels that stood were still braked by the drive."""
        name = self._car.vehicle
        return sum(asks_backward(name, values) and v <= 0.0 for _, values, v in self.trace)

    def slowest_mps(self) -> float:
        return min(speed for _, _, speed in self.trace)

    # --- reverse

    def reverses_too_soon(self) -> list[int]:
        """When the wheels were turned backward by pulses without the pause in neutral before them.

        The reverse side of a rolling car's ESC is its brake: only what moves backward counts.
        """
        pause_us = round(facts_of(self._car.vehicle)["drive"]["reverse_pause_s"] * 1e6) - 10_000
        found = []
        quiet_us = 0  # how long it had been neutral before this stretch on the reverse side
        neutral_since_us = self.trace[0][0]
        was_backward = was_moving_back = False
        for now_us, values, speed_mps in self.trace:
            is_backward = asks_backward(self._car.vehicle, values)
            if is_backward and not was_backward:
                quiet_us = now_us - neutral_since_us
            if speed_mps < -_BACKWARD_MPS and not was_moving_back and quiet_us < pause_us:
                found.append(now_us)
            if not drive_is_neutral(self._car.vehicle, values):
                neutral_since_us = now_us
            was_backward, was_moving_back = is_backward, speed_mps < -_BACKWARD_MPS
        return found

    def has_reversed(self) -> bool:
        return self.slowest_mps() < -0.02
