"""A policy: a small network in a file, from what a car reports to steering and speed.

The file is ``NAME.npz`` without pickled objects: ``meta`` is a text of JSON, ``w0 b0 w1 b1 ...``
are weights and biases. It is evaluated in a fixed order in plain floats, so it decides the same
bits on every machine with the same libm.
"""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite, tanh
from pathlib import Path
from typing import Any

import numpy as np

from host_bridge.core import CarMotion, CarStatus
from host_bridge.core.errors import DataFileFault
from host_bridge.core.files import misread_text, raised_as, read_bytes

FORMAT = 1
MOST_WEIGHTS = 50_000  # chosen: 2 ms a decision in plain Python, a fifth of a tick
_FILE_BYTES = 1 << 20  # of 50 000 weights of 4 bytes, and the text
_PERIOD_MS = (10, 1000)  # from a tick of the host to what nobody calls control

# What a policy may read: all of it is in the reports of any car, real or virtual
OBSERVED: dict[str, Callable[[CarStatus, CarMotion], float]] = {
    "x_m": lambda status, motion: motion.x_m,  # dead reckoned, from where the car was switched on
    "y_m": lambda status, motion: motion.y_m,
    "yaw_rad": lambda status, motion: motion.yaw_rad,
    "speed_mps": lambda status, motion: status.speed_mps,
    "steer_rad": lambda status, motion: status.steer_rad,
    "yaw_rate_radps": lambda status, motion: motion.yaw_rate_radps,
    "accel_x_mps2": lambda status, motion: motion.accel_x_mps2,
    "accel_y_mps2": lambda status, motion: motion.accel_y_mps2,
}
_ACTIVATIONS: dict[str, Callable[[float], float]] = {
    "tanh": tanh,
    "relu": lambda value: max(value, 0.0),
}

Layer = tuple[tuple[tuple[float, ...], ...], tuple[float, ...]]  # rows of weights, biases


@dataclass(frozen=True)
class Policy:
    """A network with the units of its ends.

    Input i is ``(OBSERVED[reads[i]] - offsets[i]) * scales[i]``. The two outputs are cut to -1..1,
    which stand for the lowest and the highest of ``steer_rad`` and of ``speed_mps``.
    """

    vehicle: str  # the one that it was trained on
    period_ms: int  # between two decisions
    reads: tuple[str, ...]
    offsets: tuple[float, ...]
    scales: tuple[float, ...]
    steer_rad: tuple[float, float]
    speed_mps: tuple[float, float]
    layers: tuple[Layer, ...]
    activation: str = "tanh"  # between layers; the last one has none
    note: str = ""

    def __post_init__(self) -> None:
        """Check that the parts fit. Raises ValueError."""
        _refuse_misfit(self)

    def decide(self, status: CarStatus, motion: CarMotion) -> tuple[float, float]:
        """Return steering in rad and speed in m/s. Raises ValueError if they are not finite."""
        values = [
            (OBSERVED[name](status, motion) - offset) * scale
            for name, offset, scale in zip(self.reads, self.offsets, self.scales, strict=True)
        ]
        squash = _ACTIVATIONS[self.activation]
        for number, (rows, biases) in enumerate(self.layers):
            sums = [_sum(row, values, bias) for row, bias in zip(rows, biases, strict=True)]
            values = sums if number == len(self.layers) - 1 else [squash(it) for it in sums]
        steer, speed = values
        return _scaled(steer, self.steer_rad), _scaled(speed, self.speed_mps)


def _sum(row: Sequence[float], values: Sequence[float], bias: float) -> float:
    total = bias
    for weight, value in zip(row, values, strict=True):
        total += weight * value
    return total


def _scaled(value: float, bounds: tuple[float, float]) -> float:
    if not isfinite(value):
        raise ValueError("a policy decided something that is no number")
    low, high = bounds
    return low + (min(max(value, -1.0), 1.0) + 1.0) / 2.0 * (high - low)


def _refuse_misfit(policy: Policy) -> None:
    unknown = [name for name in policy.reads if name not in OBSERVED]
    if unknown or not policy.reads:
        raise ValueError(
            f"it reads {', '.join(unknown) or 'nothing'}; a car reports {', '.join(OBSERVED)}"
        )
    if not len(policy.reads) == len(policy.offsets) == len(policy.scales):
        raise ValueError("offsets and scales are one for each value that it reads")
    if policy.activation not in _ACTIVATIONS:
        raise ValueError(f"activation {policy.activation!r}; known are {', '.join(_ACTIVATIONS)}")
    low, high = _PERIOD_MS
    if not low <= policy.period_ms <= high or policy.period_ms % low:
        raise ValueError(f"period_ms {policy.period_ms}: a multiple of {low}, up to {high}")
    width, count = len(policy.reads), 0
    for rows, biases in policy.layers:
        if len(rows) != len(biases) or any(len(row) != width for row in rows):
            raise ValueError("its layers do not fit each other, or what it reads")
        count += len(rows) * (width + 1)
        width = len(rows)
    if width != 2 or not policy.layers:
        raise ValueError("its last layer has two outputs: steering and speed")
    if count > MOST_WEIGHTS:
        raise ValueError(f"{count} weights; {MOST_WEIGHTS} at most")


def save_policy(policy: Policy, path: Path) -> None:
    """Write a policy file. Raises errors.DataFileFault."""
    meta = {
        "format": FORMAT,
        "vehicle": policy.vehicle,
        "period_ms": policy.period_ms,
        "reads": policy.reads,
        "offsets": policy.offsets,
        "scales": policy.scales,
        "steer_rad": policy.steer_rad,
        "speed_mps": policy.speed_mps,
        "activation": policy.activation,
        "note": policy.note,
    }
    arrays: dict[str, Any] = {"meta": np.array(json.dumps(meta))}
    for number, (rows, biases) in enumerate(policy.layers):
        arrays[f"w{number}"] = np.array(rows, dtype=np.float32)
        arrays[f"b{number}"] = np.array(biases, dtype=np.float32)
    try:
        with path.open("wb") as file:
            np.savez(file, **arrays)
    except OSError as error:
        raise DataFileFault.unwritable("the policy", path, error) from None


def load_policy(path: Path) -> Policy:
    """Read a policy file. Raises errors.DataFileFault."""
    with raised_as():
        data = read_bytes(path, _FILE_BYTES)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as packed:
            if sum(it.file_size for it in packed.infolist()) > _FILE_BYTES:
                raise ValueError(f"more than {_FILE_BYTES} bytes when unpacked")
        with np.load(io.BytesIO(data), allow_pickle=False) as arrays:
            return _policy_of(arrays)
    except (ValueError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise DataFileFault(
            "this is no policy file",
            where=str(path),
            expected=f"format {FORMAT} of tandem.gym.save_policy",
            got=misread_text(error),
        ) from None


def _policy_of(arrays: Mapping[str, Any]) -> Policy:
    meta = json.loads(str(arrays["meta"]))
    if meta["format"] != FORMAT:
        raise ValueError(f"format {meta['format']}")
    count = sum(name.startswith("w") for name in arrays)
    layers = []
    for number in range(count):
        weights, biases = arrays[f"w{number}"], arrays[f"b{number}"]
        if not (np.isfinite(weights).all() and np.isfinite(biases).all()):
            raise ValueError(f"layer {number} has weights that are not finite")
        layers.append((tuple(map(tuple, weights.tolist())), tuple(biases.tolist())))
    low, high = meta["steer_rad"]
    slow, fast = meta["speed_mps"]
    return Policy(
        vehicle=str(meta["vehicle"]),
        period_ms=int(meta["period_ms"]),
        reads=tuple(map(str, meta["reads"])),
        offsets=tuple(map(float, meta["offsets"])),
        scales=tuple(map(float, meta["scales"])),
        steer_rad=(float(low), float(high)),
        speed_mps=(float(slow), float(fast)),
        layers=tuple(layers),
        activation=str(meta["activation"]),
        note=str(meta.get("note", "")),
    )
