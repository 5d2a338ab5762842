"""Trains a small policy that laps the oval with a Nigel, by imitation of a path follower.

It sees where the car is, as the car itself reckons it, and learns what a driver does there who
steers back to the centre line. NumPy alone, one seed: some seconds of one core.
"""

from __future__ import annotations

from itertools import pairwise
from math import pi

import numpy as np
from numpy.typing import NDArray

from host_bridge.inputs.policies.policy import Layer, Policy
from sim_mock.tracks.loading import load_centre_line

Floats = NDArray[np.float64]
TRACK, VEHICLE = "oval", "nigel"
STEER_RAD, SPEED_MPS, PERIOD_MS = 0.45, 0.4, 50
AHEAD_M = 0.3  # chosen: a car's length, to where the driver looks
OFF_M, OFF_RAD = 0.2, 0.6  # how far from the line it learns to come back
HIDDEN, STEPS, BATCH, RATE = 32, 4000, 256, 5e-3
LESSONS, AT_ONCE = 20_000, 1000
SPACING_M = 0.01


def centre() -> Floats:
    """Return rows of x and y along the closed line, each SPACING_M."""
    line = load_centre_line(TRACK)
    way = np.concatenate(([0.0], np.cumsum(np.hypot(*np.diff(line, axis=0).T))))
    along = np.arange(0.0, way[-1], SPACING_M)
    return np.stack([np.interp(along, way, line[:, axis]) for axis in (0, 1)], axis=1)


def wrapped(angle: Floats) -> Floats:
    return (angle + pi) % (2.0 * pi) - pi


class Driver:
    """Steers by pure pursuit of the centre line."""

    def __init__(self, reach_m: float) -> None:
        """``reach_m``: from the point that moves along the axis to the front axle."""
        self._line = centre()
        self._reach_m = reach_m

    def steer_rad(self, poses: Floats) -> Floats:
        """Return steering for rows of x, y (m) and yaw (rad)."""
        apart = poses[:, None, :2] - self._line[None]
        nearest = np.argmin((apart**2).sum(axis=2), axis=1)
        target = self._line[(nearest + round(AHEAD_M / SPACING_M)) % len(self._line)]
        way = target - poses[:, :2]
        bearing = wrapped(np.arctan2(way[:, 1], way[:, 0]) - poses[:, 2])
        curvature = 2.0 * np.sin(bearing) / np.hypot(*way.T)
        return np.clip(np.arctan(self._reach_m * curvature), -STEER_RAD, STEER_RAD)

    def drawn(self, count: int, random: np.random.Generator) -> Floats:
        """Return poses round the line, drawn evenly."""
        at = random.integers(len(self._line), size=count)
        tangent = self._line[(at + 1) % len(self._line)] - self._line[at]
        yaw = np.arctan2(tangent[:, 1], tangent[:, 0])
        left = np.stack((-np.sin(yaw), np.cos(yaw)), axis=1)
        off = random.uniform(-OFF_M, OFF_M, (count, 1))
        turned = wrapped(yaw + random.uniform(-OFF_RAD, OFF_RAD, count))
        return np.concatenate((self._line[at] + off * left, turned[:, None]), axis=1)


def trained(reach_m: float, seed: int = 1) -> tuple[Policy, float]:
    """Return the policy, and its root mean square error in rad on poses that it never saw."""
    driver, random = Driver(reach_m), np.random.default_rng(seed)
    line = centre()
    low, high = line.min(axis=0), line.max(axis=0)
    offsets = np.array((*(low + high) / 2.0, 0.0))
    scales = np.array((*(2.0 / (high - low)), 1.0 / pi))
    sizes = (3, HIDDEN, HIDDEN, 1)
    weights = [random.normal(0.0, a**-0.5, (a, b)) for a, b in pairwise(sizes)]
    weights[0] *= 2.0  # chosen: the bends are short beside the whole oval
    values = [*weights, *(np.zeros(size) for size in sizes[1:])]
    first, second = ([np.zeros_like(it) for it in values] for _ in range(2))
    lessons = driver.drawn(LESSONS, random)
    answers = np.concatenate([driver.steer_rad(it) for it in np.split(lessons, LESSONS // AT_ONCE)])
    for step in range(1, STEPS + 1):
        chosen = random.integers(LESSONS, size=BATCH)
        seen = (lessons[chosen] - offsets) * scales
        slopes = _slopes(values, seen, answers[chosen] / STEER_RAD)
        rate = RATE * (1.0 - step / (STEPS + 1))
        for place, slope in enumerate(slopes):  # Adam: Kingma and Ba, 2015, algorithm 1
            first[place] = 0.9 * first[place] + 0.1 * slope
            second[place] = 0.999 * second[place] + 0.001 * slope**2
            mean, square = first[place] / (1 - 0.9**step), second[place] / (1 - 0.999**step)
            values[place] = values[place] - rate * mean / (np.sqrt(square) + 1e-8)
    poses = driver.drawn(AT_ONCE, random)
    apart = _outputs(values, (poses - offsets) * scales)[-1] * STEER_RAD - driver.steer_rad(poses)
    error_rad = float(np.sqrt((apart**2).mean()))
    return _policy(values, offsets, scales), error_rad


def _outputs(values: list[Floats], inputs: Floats) -> list[Floats]:
    """Return what each layer puts out, the inputs first; the last is cut to -1..1."""
    found = [inputs]
    for weights, biases in zip(values[:3], values[3:], strict=True):
        found.append(found[-1] @ weights + biases)
        if len(found) < 4:
            found[-1] = np.tanh(found[-1])
    return [*found[:-1], np.clip(found[-1][:, 0], -1.0, 1.0)]


def _slopes(values: list[Floats], inputs: Floats, wanted: Floats) -> list[Floats]:
    """Return the slopes of the mean square error, by weights and biases."""
    outputs = _outputs(values, inputs)
    back = (2.0 / len(inputs) * (outputs[-1] - wanted))[:, None]
    of_weights: list[Floats] = []
    of_biases: list[Floats] = []
    for place in (2, 1, 0):
        of_weights.insert(0, outputs[place].T @ back)
        of_biases.insert(0, back.sum(axis=0))
        if place:
            back = (back @ values[place].T) * (1.0 - outputs[place] ** 2)
    return [*of_weights, *of_biases]


def _policy(values: list[Floats], offsets: Floats, scales: Floats) -> Policy:
    layers: list[Layer] = [
        (tuple(map(tuple, weights.T.tolist())), tuple(biases.tolist()))
        for weights, biases in zip(values[:3], values[3:], strict=True)
    ]
    (row,), (bias,) = layers[-1]
    layers[-1] = ((row, (0.0,) * len(row)), (bias, 1.0))  # the speed is always the highest
    return Policy(
        vehicle=VEHICLE,
        period_ms=PERIOD_MS,
        reads=("x_m", "y_m", "yaw_rad"),
        offsets=tuple(offsets.tolist()),
        scales=tuple(scales.tolist()),
        steer_rad=(-STEER_RAD, STEER_RAD),
        speed_mps=(0.0, SPEED_MPS),
        layers=tuple(layers),
        note="imitates a path follower on the oval",
    )
