"""AutoRally's numbers, and the parameters of its three models.

Source: B. Goldfain et al., AutoRally: An Open Platform for Aggressive Autonomous Driving, IEEE
Control Systems Magazine 39 (2019), "the paper" in this folder: its Tables 3, 4 and 5. Numbers that
it does not give are marked as estimates, with the reasoning.
"""

from typing import NamedTuple

GRAVITY_MPS2 = 9.81  # the paper's value, below Table 4


class Tyre(NamedTuple):
    """The factors of the magic formula, eq. 9, in the paper's letters; all without unit.

    ``ramp`` is the total slip over which the friction rises from 0 to the formula's value.
    """

    b: float
    c: float
    d: float
    e: float
    shift_slip: float
    shift_mu: float
    ramp: float


class Suspension(NamedTuple):
    """The springs and dampers, each per wheel, and the sprung mass on them; eq. 6 and 7.

    ``height_m`` is that of the sprung mass's centre, ``roll_centre_m`` that of the roll axis, both
    above the ground; the inertias are about the roll axis and about the pitch axis on the ground.
    """

    mass_kg: float
    height_m: float
    roll_centre_m: float
    roll_inertia_kgm2: float
    pitch_inertia_kgm2: float
    spring_front_n_per_m: float
    spring_rear_n_per_m: float
    damper_front_ns_per_m: float
    damper_rear_ns_per_m: float
    drag_area_m2: float
    air_kg_per_m3: float


class AutorallyParameters(NamedTuple):
    """A car of four wheels, rear wheel drive, brakes at the front.

    Lengths run from the centre of gravity to the axles; a spin inertia is of one wheel.
    """

    mass_kg: float
    inertia_z_kgm2: float
    lf_m: float
    lr_m: float
    h_cg_m: float
    track_front_m: float
    track_rear_m: float
    wheel_radius_m: float
    spin_front_kgm2: float
    spin_rear_kgm2: float
    tyre: Tyre
    suspension: Suspension

    @property
    def wheelbase_m(self) -> float:
        """The distance between the axles."""
        return self.lf_m + self.lr_m


class ActuatorInput(NamedTuple):
    """The commands of AutoRally's actuators: front wheels' angle, rear axle's torque, front brakes.

    ``drive_nm`` may be negative; ``brake_nm`` is of the whole front axle and only ever brakes.
    """

    steer_rad: float = 0.0
    drive_nm: float = 0.0
    brake_nm: float = 0.0


# Table 5. With its shifts the friction at no slip is 0.23, not 0: eq. 10 jumps there from one
# direction to the other. The ramp is an estimate that makes it 7.6 per radian of slip, about that
# of rubber, and rolling possible.
TYRE = Tyre(1.1559, 1.1924, 0.9956, -0.8505, -0.0540, 0.1444, 0.03)

TOTAL_KG = 21.88  # Table 3
WHEELS_KG = 2.0 * (0.82 + 0.89)  # Table 3
RADIUS_M = 0.195 / 2.0  # Table 3
# Table 3 calls it the z offset from the rear axle, Table 6 takes it as the height h.
HEIGHT_M = 0.12
SPRUNG_KG = TOTAL_KG - WHEELS_KG
SPRUNG_HEIGHT_M = (TOTAL_KG * HEIGHT_M - WHEELS_KG * RADIUS_M) / SPRUNG_KG
ROLL_CENTRE_M = 0.05  # estimate: double wishbones of this size, below half the height

SUSPENSION = Suspension(
    mass_kg=SPRUNG_KG,
    height_m=SPRUNG_HEIGHT_M,
    roll_centre_m=ROLL_CENTRE_M,
    # Table 4 (whole car, about its centre), moved to the axes; the wheels' part is left in.
    roll_inertia_kgm2=0.347 + SPRUNG_KG * (SPRUNG_HEIGHT_M - ROLL_CENTRE_M) ** 2,
    pitch_inertia_kgm2=1.131 + SPRUNG_KG * SPRUNG_HEIGHT_M**2,
    # The paper, below Figure 20: fixed at 2000 N/m for a sag of 1 to 2 cm.
    spring_front_n_per_m=2000.0,
    spring_rear_n_per_m=2000.0,
    # Estimate: a third of critical damping of the ride, 2 sqrt(2000 * 18.46 / 4) / 3.
    damper_front_ns_per_m=64.0,
    damper_rear_ns_per_m=64.0,
    # Estimate: drag coefficient 0.5 on the frontal area 0.46 x 0.32 m of Table 3.
    drag_area_m2=0.5 * 0.46 * 0.32,
    air_kg_per_m3=1.2,
)

AUTORALLY = AutorallyParameters(
    mass_kg=TOTAL_KG,
    inertia_z_kgm2=1.124,  # Table 4
    lf_m=0.57 - 0.23,  # Table 3
    lr_m=0.23,
    h_cg_m=HEIGHT_M,
    track_front_m=0.395,
    track_rear_m=0.405,
    wheel_radius_m=RADIUS_M,
    spin_front_kgm2=0.048 / 2.0,  # Table 4, both wheels there
    spin_rear_kgm2=0.044 / 2.0,
    tyre=TYRE,
    suspension=SUSPENSION,
)
