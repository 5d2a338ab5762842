"""A car as simple_planning_simulator runs it: with its initial pose and measurement noise."""

from collections.abc import Mapping
from math import inf
from random import Random
from typing import Any, NamedTuple

from sim_mock.models.planning.car import ModelledCar
from sim_mock.models.planning.learned import LearnedCar
from sim_mock.models.planning.model_types import make_car
from sim_mock.models.planning.motion import DriverCommand, MotionReport
from sim_mock.models.planning.pedalled_car import PedalledCar

INITIALIZE_SOURCES = ("ORIGIN", "INITIAL_POSE_TOPIC")


class SimulatorSettings(NamedTuple):
    """The Common Parameters of its documentation; noises are standard deviations in SI units.

    The two frames are for the publisher; nothing here uses them.
    """

    simulated_frame_id: str = "base_link"
    origin_frame_id: str = "odom"
    initialize_source: str = "INITIAL_POSE_TOPIC"
    # The defaults are the simulator's own
    add_measurement_noise: bool = True
    pos_noise_stddev: float = 0.01
    rpy_noise_stddev: float = 0.0001
    vel_noise_stddev: float = 0.0
    angvel_noise_stddev: float = 0.0
    steer_noise_stddev: float = 0.0001

    @classmethod
    def from_mapping(cls, given: Mapping[str, Any]) -> "SimulatorSettings":
        """Return the settings that are given, and the defaults of the others.

        Raises ValueError naming a key that is unknown or a value out of range.
        """
        for name in given:
            if name not in cls._fields:
                raise ValueError(f"{name}: unknown; there is {', '.join(cls._fields)}")
        settings = cls(**given)
        if settings.initialize_source not in INITIALIZE_SOURCES:
            wanted, got = " or ".join(INITIALIZE_SOURCES), settings.initialize_source
            raise ValueError(f"initialize_source: expected {wanted}, got {got!r}")
        for name, value in settings._asdict().items():
            if name == "add_measurement_noise" and not isinstance(value, bool):
                raise ValueError(f"{name}: expected true or false, got {value!r}")
            if name.endswith("_stddev") and not _is_spread(value):
                raise ValueError(f"{name}: expected a standard deviation from 0, got {value!r}")
        return settings


def _is_spread(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0.0 <= value < inf


class Simulator:
    """A stepper of a car that has an initial pose; ``truth`` and ``measured`` are None before."""

    def __init__(
        self, car: ModelledCar | LearnedCar | PedalledCar, settings: SimulatorSettings, seed: int
    ) -> None:
        self._car, self._settings = car, settings
        self._random = Random(seed)
        self.truth: MotionReport | None = None
        self.measured: MotionReport | None = None
        if settings.initialize_source == "ORIGIN":
            self.initialize(0.0, 0.0, 0.0)

    def initialize(self, x_m: float, y_m: float, yaw_rad: float, vx_mps: float = 0.0) -> None:
        """Set the initial pose, or put the car elsewhere later."""
        self._car.place(x_m, y_m, yaw_rad, vx_mps)
        self._observe()

    def step(self, dt_s: float, command: DriverCommand) -> None:
        """Run one step of the timer; before the initial pose it ignores the command."""
        if self.truth is not None:
            self._car.step(dt_s, command)
            self._observe()

    def _observe(self) -> None:
        self.truth = self._car.report()
        noisy = self._settings.add_measurement_noise
        self.measured = (
            with_noise(self.truth, self._settings, self._random) if noisy else self.truth
        )


def make_simulator(
    given: Mapping[str, Any], wheelbase_m: float, dt_s: float, seed: int
) -> Simulator:
    """Return the simulator for one flat file of parameters, ``vehicle_model_type`` included.

    Raises ValueError naming what is missing, unknown or out of range.
    """
    common = {name: value for name, value in given.items() if name in SimulatorSettings._fields}
    own = {n: v for n, v in given.items() if n not in common and n != "vehicle_model_type"}
    # The simulator's own default, where its file names no type
    model_type = given.get("vehicle_model_type", "IDEAL_STEER_VEL")
    car = make_car(model_type, own, wheelbase_m, dt_s)
    return Simulator(car, SimulatorSettings.from_mapping(common), seed)


def with_noise(truth: MotionReport, s: SimulatorSettings, random: Random) -> MotionReport:
    """Return ``truth`` with Gaussian noise on all but the side speed and the acceleration."""
    return truth._replace(
        x_m=random.gauss(truth.x_m, s.pos_noise_stddev),
        y_m=random.gauss(truth.y_m, s.pos_noise_stddev),
        yaw_rad=random.gauss(truth.yaw_rad, s.rpy_noise_stddev),
        vx_mps=random.gauss(truth.vx_mps, s.vel_noise_stddev),
        wz_radps=random.gauss(truth.wz_radps, s.angvel_noise_stddev),
        steer_rad=random.gauss(truth.steer_rad, s.steer_noise_stddev),
    )
