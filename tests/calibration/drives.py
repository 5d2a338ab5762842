"""Logs of a car that is known: its own plant, driven as a driver would, seen through noise."""

from pathlib import Path

import numpy as np

from calibration.bayesian_fit.parameters import known_values
from calibration.logs.run import Commands, PoseTrack, Run
from calibration.simulation.twin import predict
from host_bridge.sharing.services import make_host

NIGEL = make_host().vehicles.load("nigel")
TRUTH = {
    **known_values(NIGEL),
    "steer_trim_norm": 0.15,
    "steer_gain": 0.4,
    "full_effort_mps": 0.38,
    "speed_lag_s": 0.25,
    "queue_delay_s": 0.2,
    "queue_s_per_message": 0.0008,
    "mount_yaw_rad": -0.05,
    "mount_x_m": -0.08,
}


def messages(steering_norm: float, slow_s: float = 0.6, fast_s: float = 2.0) -> Commands:
    """Throttle and steering by turns, first 250 and then 2000 a second, at last one 0 of each."""
    slow = np.arange(2.0, 2.0 + slow_s, 1 / 250)
    fast = np.arange(2.0 + slow_s, 2.0 + slow_s + fast_s, 1 / 2000)
    last = fast[-1] + np.array([1e-4, 2e-4])
    times_s = np.concatenate([slow, fast, last])
    is_steering = np.arange(len(times_s)) % 2 == 1
    values = np.where(is_steering, steering_norm, 1.0)
    values[-2:] = 0.0
    return Commands("made_commands.csv", "", times_s, is_steering, values)


def made_run(steering_norm: float, values: dict[str, float], seed: int, spread: float) -> Run:
    """What ``values`` make of such messages, with noise of ``spread`` (m and rad)."""
    times_s = np.arange(0.1, 8.0, 0.14)
    still = PoseTrack("made_odometry.csv", "", times_s, *np.zeros((3, len(times_s))))
    run = Run(messages(steering_norm), still)
    poses = predict(NIGEL, values, run, 0.005)
    x, y, yaw = correlated_noise(len(times_s), seed, spread)
    seen = PoseTrack(still.file, "", times_s, poses.x_m + x, poses.y_m + y, poses.yaw_rad + yaw)
    return Run(run.commands, seen)


def correlated_noise(count: int, seed: int, spread: float) -> np.ndarray:
    """Three channels of noise that remembers 0.6 of itself from sample to sample."""
    shocks = np.random.default_rng(seed).normal(0.0, spread * (1.0 - 0.6**2) ** 0.5, (3, count))
    noise = np.zeros((3, count))
    for i in range(1, count):
        noise[:, i] = 0.6 * noise[:, i - 1] + shocks[:, i]
    return noise


def write_run(run: Run, folder: Path, name: str) -> tuple[Path, Path]:
    """As the two files that ``tandem replay`` reads."""
    commands, odometry = folder / f"{name}_commands.csv", folder / f"{name}_odometry.csv"
    c, o = run.commands, run.odometry
    rows = zip(c.t_s, c.is_steering, c.value_norm, strict=True)
    lines = [f"{t:.6f},{'steering' if s else 'throttle'},{v:.4f}" for t, s, v in rows]
    commands.write_text("\n".join(["t_s,channel,value_norm", *lines]) + "\n")
    poses = zip(o.t_s, o.x_m, o.y_m, o.yaw_rad, strict=True)
    lines = [f"{t:.6f},{x:.6f},{y:.6f},{yaw:.6f}" for t, x, y, yaw in poses]
    odometry.write_text("\n".join(["header_t_s,x_m,y_m,yaw_rad", *lines]) + "\n")
    return commands, odometry
