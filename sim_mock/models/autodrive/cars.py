"""Nigel, F1TENTH and Hunter SE for AutoDRIVE's model; numbers without a source are estimates.

TT: AutoDRIVE's simulator (its scripts). NSI: Nigel-System-Identification (README). NF: Nigel's
firmware. WEB: AutoDRIVE's technical guide of the simulated RoboRacer (F1TENTH). AW: AutoDRIVE's
Autoware packages. HR: a ROS 2 driver of the Hunter SE (hardware/vehicles/hunter_se.toml).
"""

from sim_mock.models.autodrive.curve import Curve
from sim_mock.models.autodrive.parameters import CarParameters

# The report leaves the motor's profile (torque by speed) open; each of these is one segment.
LINE = ((0.0, 1.0), (1.0, 0.0))
# TT's script gives a wheel throttle times torque at any speed. Unity's damping of wheel and body,
# which slows it, is linear in speed, so the steady speed is proportional to throttle.
FLAT = ((0.0, 1.0), (1.0, 1.0))

# Steady speeds of the simulated Nigel (AutoDRIVE-Nigel-Dataset, throttle_velocity) follow
# 1/v = 3.459 / throttle + 0.2856 s/m to 0.1 %: a motor's line against linear drag, D r / (4 M) and
# one over its free speed. That fixes the free speed and the ratio; the drag itself is an estimate
# that leaves half of the tyres' grip. (TT's 2.352 N m per wheel is more than the tyres carry.)
NIGEL_DRAG_NS_PER_M = 19.0
NIGEL = CarParameters(
    sprung_kg=2.68 - 4 * 0.1,  # NSI, less the wheels
    wheel_kg=0.1,  # estimate: wheel, gears and motor, which count as a wheel here
    lf_m=0.06226,  # NSI
    lr_m=0.07929,  # NSI
    h_cg_m=0.0993,  # NSI
    track_m=0.153,  # TT, NF
    wheel_radius_m=0.0325,  # NSI, TT
    steer_max_rad=0.523599,  # NF: 30 degrees
    steer_rate_radps=5.51,  # TT: 315.789 degrees per second
    steer_rate_by_speed_radps=0.0,  # estimate: a servo does not feel the speed
    speed_max_mps=0.267,  # the dataset, at full throttle; the real one's 130 rpm are 0.442
    rear_steer_ratio=-1.0,  # NF, four-wheel steering
    is_front_driven=True,
    is_rear_driven=True,
    motor_nm=NIGEL_DRAG_NS_PER_M * 0.0325 / (4.0 * 3.4594),
    wheel_speed_radps=1.0 / 0.2856 / 0.0325,
    hold_nm=0.06,  # estimate: shorted motors slow the car down with most of the tyres' grip
    profile=LINE,
    spring_n_per_m=2000.0,  # estimate: sags 3 mm
    damper_ns_per_m=50.0,  # estimate: 0.7 of critical, 1.4 sqrt(2000 * 2.28 / 4)
    force_offset_m=0.0,  # estimate: at the ground
    # NSI: friction 0.4, 22.4768 N/rad per tyre at a quarter of the weight, 3.42 per newton;
    # the extremum follows from the slope. Asymptote: estimate, three quarters of the grip.
    tyre_along=Curve(0.234, 0.4, 0.6, 0.3),
    tyre_aside=Curve(0.234, 0.4, 0.6, 0.3),
    drag_ns_per_m=NIGEL_DRAG_NS_PER_M,
    drag_nms_per_rad=0.001,  # estimate: small beside the tyres'
    slow_mps=0.25,
)

F1TENTH = CarParameters(
    sprung_kg=3.470,  # WEB
    wheel_kg=0.436 / 4,  # WEB, unsprung
    lf_m=0.3240 - 0.15532,  # WEB, wheelbase less centre of mass from the rear axle
    lr_m=0.15532,
    h_cg_m=0.0590 + 0.01434,  # WEB, above the axle
    track_m=0.2360,  # WEB
    wheel_radius_m=0.0590,  # WEB
    steer_max_rad=0.5236,  # WEB
    steer_rate_radps=3.2,  # WEB
    steer_rate_by_speed_radps=0.0,  # estimate: WEB gives one rate
    speed_max_mps=22.88,  # WEB
    rear_steer_ratio=0.0,
    is_front_driven=True,  # WEB
    is_rear_driven=True,
    # Estimate: what the tyres carry, 0.72 * 9.6 N * 0.059 m. (WEB's 428 N m is 60 times that.)
    motor_nm=0.4,
    wheel_speed_radps=22.88 / 0.0590,  # WEB
    hold_nm=0.4,  # estimate: as the motor, what the tyres carry; throttle 0 is its full brake
    profile=FLAT,
    spring_n_per_m=500.0,  # WEB
    damper_ns_per_m=100.0,  # WEB
    force_offset_m=0.0,  # estimate: at the ground
    tyre_along=Curve(0.15, 0.72, 0.25, 0.464),  # WEB
    tyre_aside=Curve(0.01, 1.00, 0.10, 0.500),  # WEB
    drag_ns_per_m=0.35,  # estimate
    wheel_damping_nms=0.000711,  # so that all of it leaves WEB's 22.88 m/s at full throttle
    drag_nms_per_rad=0.005,  # estimate
    slow_mps=2.5,
)

HUNTER_SE = CarParameters(
    sprung_kg=38.0,  # estimate: about 42 kg in all
    wheel_kg=1.0,  # estimate
    lf_m=0.275,  # AW: wheelbase 0.55; its middle: estimate
    lr_m=0.275,
    h_cg_m=0.2,  # estimate
    track_m=0.52,  # AW
    wheel_radius_m=0.1375,  # HR
    steer_max_rad=0.4,  # estimate
    steer_rate_radps=0.8,  # estimate
    steer_rate_by_speed_radps=0.0,  # estimate
    speed_max_mps=4.8,  # HR
    rear_steer_ratio=0.0,
    is_front_driven=False,  # estimate
    is_rear_driven=True,
    motor_nm=16.0,  # estimate: climbs 30 degrees
    wheel_speed_radps=4.8 / 0.1375,  # its top speed
    hold_nm=8.0,  # estimate
    profile=FLAT,
    spring_n_per_m=9000.0,  # estimate: sags 1 cm
    damper_ns_per_m=350.0,  # estimate: 0.6 of critical
    force_offset_m=0.0,  # estimate
    tyre_along=Curve(0.15, 0.9, 0.4, 0.7),  # estimate: rubber on asphalt
    tyre_aside=Curve(0.12, 0.9, 0.4, 0.7),  # estimate
    drag_ns_per_m=6.0,  # estimate
    wheel_damping_nms=0.397,  # so that all of it leaves its top speed at full throttle
    drag_nms_per_rad=1.0,  # estimate
    slow_mps=1.3,
)
