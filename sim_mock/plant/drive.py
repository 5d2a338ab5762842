"""The driveline: from motor torque to the force of the tyres on the car, with slip and standstill.

Everything that turns is one mass at the rim. While the tyres grip it moves with the car. When they
would have to give more than they can, wheels and car move apart and each tyre gives
``SLIDING_SHARE`` of its grip, until the two speeds meet again. Dry friction is solved within the
step (implicitly, as in Moreau's time stepping), so that a car comes to rest exactly and stays
there, however small or large the step.
"""

from dataclasses import dataclass

from sim_mock.plant.body import GRAVITY_MPS2
from sim_mock.plant.tyre import SLIDING_SHARE


@dataclass(frozen=True, slots=True)
class DriveParameters:
    """The numbers of a driveline. ``driven``: "all" (axles share by load), "front" or "rear".

    ``rotating_mass_kg`` is the inertia of motors, gears and wheels over the wheel radius squared;
    ``rolling_resistance`` in N per N of weight; ``friction_n`` of gears and bearings at the rim;
    ``drag_n_per_mps2`` is half rho cd A.
    """

    driven: str
    wheel_radius_m: float
    gear_ratio: float
    rotating_mass_kg: float
    rolling_resistance: float
    friction_n: float
    drag_n_per_mps2: float

    @property
    def turns_rad_per_m(self) -> float:
        """The turning of the motor per metre of the rim."""
        return self.gear_ratio / self.wheel_radius_m

    def front_share(self, load_front_n: float, weight_n: float) -> float:
        """Return the part of the rim force that the front axle carries."""
        if self.driven == "all":
            return load_front_n / weight_n
        return 1.0 if self.driven == "front" else 0.0


def settled_mps(momentum_ns: float, friction_ns: float, mass_kg: float) -> float:
    """Return the speed after dry friction acted on a momentum: exactly 0 if it absorbed all."""
    if momentum_ns > friction_ns:
        return (momentum_ns - friction_ns) / mass_kg
    if momentum_ns < -friction_ns:
        return (momentum_ns + friction_ns) / mass_kg
    return 0.0


class Driveline:
    """The turning mass of one car on a body of ``mass_kg``.

    ``rim_mps`` is the speed that encoders measure. ``is_held``: friction holds the wheels and they
    do not slide. ``braked_n`` is the force of a brake on the other axle during the last step.
    """

    __slots__ = ("_force_n", "_foreign_mps2", "_friction_n", "_gears_n", "_mass_kg",
                 "_rotating_kg", "braked_n", "is_held", "is_sliding", "rim_mps")  # fmt: skip

    def __init__(self, parameters: DriveParameters, mass_kg: float) -> None:
        weight_n = mass_kg * GRAVITY_MPS2
        self._mass_kg = mass_kg
        self._rotating_kg = parameters.rotating_mass_kg
        self._gears_n = parameters.friction_n
        self._friction_n = parameters.friction_n + parameters.rolling_resistance * weight_n
        self._foreign_mps2 = 0.0
        self._force_n = 0.0  # of all tyres, and of an external push
        self.braked_n = 0.0
        self.rim_mps = 0.0
        self.is_held = True
        self.is_sliding = False

    def force_n(
        self,
        dt_s: float,
        line: tuple[float, float],
        rolled_mps: float,
        grip_n: float,
        brake_n: float = 0.0,
        pushed_n: float = 0.0,
    ) -> float:
        """Return the force of the driven tyres along the wheels during this step.

        ``line`` is the motors' push in N and their damping in N per m/s, ``rolled_mps`` the speed
        at which the wheels would roll, ``grip_n`` the driven tyres' grip, ``brake_n`` the largest
        force of a brake on the other axle, ``pushed_n`` an external push. The damping is taken at
        the end of the step, so stiff motors need no small steps.
        """
        mass_kg, turning_kg = self._mass_kg, self._rotating_kg
        push_n, damping_n_per_mps = line
        free_mps = rolled_mps + dt_s * (self._foreign_mps2 + pushed_n / mass_kg)
        friction_ns = dt_s * self._friction_n
        wheels_ns = turning_kg * self.rim_mps + dt_s * push_n
        damping_kg = dt_s * damping_n_per_mps
        whole_ns = mass_kg * free_mps + wheels_ns
        rolls_mps = settled_mps(
            whole_ns, friction_ns + dt_s * brake_n, mass_kg + turning_kg + damping_kg
        )
        self.braked_n = _friction_n(whole_ns, brake_n, dt_s)
        force_n = mass_kg * (rolls_mps - free_mps) / dt_s - self.braked_n
        sliding_n = SLIDING_SHARE * grip_n
        if abs(force_n) <= (sliding_n if self.is_sliding else grip_n):
            self.is_sliding, self.is_held = False, rolls_mps == 0.0
        else:
            force_n = sliding_n if force_n > 0.0 else -sliding_n
            self.is_sliding, self.is_held = True, False
            self.braked_n = _friction_n(mass_kg * free_mps + dt_s * force_n, brake_n, dt_s)
            self.rim_mps = settled_mps(
                wheels_ns - dt_s * force_n, friction_ns, turning_kg + damping_kg
            )
        self._force_n = force_n + self.braked_n + pushed_n
        return force_n

    def spin(self, dt_s: float, line: tuple[float, float]) -> None:
        """Advance by one step with the wheels off the ground: only motors and gears act."""
        push_n, damping_n_per_mps = line
        self.rim_mps = settled_mps(
            self._rotating_kg * self.rim_mps + dt_s * push_n,
            dt_s * self._gears_n,
            self._rotating_kg + dt_s * damping_n_per_mps,
        )
        self._foreign_mps2 = self.braked_n = 0.0
        self.is_held = False
        self.is_sliding = self.rim_mps != 0.0

    def follow(self, dt_s: float, before_mps: float, after_mps: float) -> None:
        """Set the speed at which the wheels roll after the body's step.

        The part of its change that is not due to the tyres' own force (cornering, air, steering)
        acts on the turning mass in the next step.
        """
        if self.is_sliding or self.is_held:
            self._foreign_mps2 = 0.0
        else:
            own_mps2 = self._force_n / self._mass_kg
            self._foreign_mps2 = (after_mps - before_mps) / dt_s - own_mps2
        if not self.is_sliding:
            self.rim_mps = after_mps


def _friction_n(momentum_ns: float, most_n: float, dt_s: float) -> float:
    """Return the force by which dry friction of at most ``most_n`` opposes a momentum."""
    most_ns = dt_s * most_n
    return -min(max(momentum_ns, -most_ns), most_ns) / dt_s
