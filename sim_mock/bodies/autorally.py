"""AutoRally's three models as bodies of a virtual car: drive at the rear, brake at the front.

The numbers are the paper's. To come to rest, friction of gears and rolling resistance are added on
the rear axle, from the vehicle file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from sim_mock.bodies.rolling import integrated, is_sliding_at
from sim_mock.models.autorally.body import BRAKE_FULL_RADPS
from sim_mock.models.autorally.double_track import DoubleTrack, double_track_rates
from sim_mock.models.autorally.full import Full, full_rates
from sim_mock.models.autorally.parameters import GRAVITY_MPS2, ActuatorInput, AutorallyParameters
from sim_mock.models.autorally.single_track import SingleTrackState, single_track_rates
from sim_mock.models.integration import RightHandSide, State

if TYPE_CHECKING:
    from sim_mock.plant.body import BodyState
    from sim_mock.plant.model import Actuation
    from sim_mock.plant.parameters import PlantParameters

Kind = tuple[Callable[..., State], RightHandSide[ActuatorInput, AutorallyParameters], slice]

# A model's state, its right-hand side, and the slice of its state with the rear wheels' spins.
SINGLE: Kind = (SingleTrackState, single_track_rates, slice(7, 8))
DOUBLE: Kind = (DoubleTrack, double_track_rates, slice(8, 10))
FULL: Kind = (Full, full_rates, slice(8, 10))


class AutoRallyBody:
    """One of the three models; ``state`` is the model's, with spins, ride, roll and pitch."""

    def __init__(self, parameters: PlantParameters, car: AutorallyParameters, kind: Kind) -> None:
        make, self._rates, self._rear = kind
        self._car = car
        drive = parameters.drive
        weight_n = car.mass_kg * GRAVITY_MPS2
        self._friction_n = drive.friction_n + drive.rolling_resistance * weight_n
        self.state: State = make()
        self.rim_mps = 0.0
        self.is_sliding = False

    def move(self, dt_s: float, acts: Actuation, truth: BodyState) -> None:
        car = self._car
        u = ActuatorInput(acts.front_rad, self._drive_nm(acts), acts.brake_n * car.wheel_radius_m)
        new = self.state = integrated(self._rates, self.state, u, car, dt_s, truth)
        spins = new[self._rear]
        self.rim_mps = sum(spins) / len(spins) * car.wheel_radius_m
        self.is_sliding = is_sliding_at(self.rim_mps, truth.vx_mps)

    def _drive_nm(self, acts: Actuation) -> float:
        """Return the torque of motors and friction on the rear axle.

        Friction holds the wheels as the model's brake does.
        """
        radius_m = self._car.wheel_radius_m
        hold = min(max(self.rim_mps / (radius_m * BRAKE_FULL_RADPS), -1.0), 1.0)
        return (acts.pushes_n(self.rim_mps) - self._friction_n * hold) * radius_m
