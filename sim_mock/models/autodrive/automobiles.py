"""OpenCAV and RZR for AutoDRIVE's model of full-scale cars; numbers without a source are estimates.

AW: AutoDRIVE's Autoware packages. They give OpenCAV's wheelbase and track, and nothing of RZR. CP:
Chrysler Pacifica, 2018, as reviews of it print its maker's numbers. It is the minivan of AW's
wheelbase (121.6 in) and track (68.3 in); that OpenCAV is one is an inference.
"""

from sim_mock.models.autodrive.curve import Curve
from sim_mock.models.autodrive.parameters import AutomobileParameters

OPENCAV = AutomobileParameters(
    sprung_kg=1964.0 - 4 * 25.0,  # CP: 4330 lb, less the wheels
    wheel_kg=25.0,  # estimate
    lf_m=1.39,  # AW: wheelbase 3.09; 55 % of the weight in front: estimate
    lr_m=1.70,
    h_cg_m=0.65,  # estimate
    track_m=1.734,  # AW
    wheel_radius_m=0.365,  # CP: P245/50R20, 0.377 m; 3 % less under load: estimate
    steer_max_rad=0.6,  # estimate
    steer_rate_radps=0.6,  # estimate
    steer_rate_by_speed_radps=-0.3,  # estimate: half as fast at top speed
    speed_max_mps=40.0,  # estimate
    rear_steer_ratio=0.0,
    is_front_driven=True,  # CP
    is_rear_driven=False,
    force_offset_m=0.0,  # estimate: at the ground
    tyre_along=Curve(0.15, 1.0, 0.5, 0.75),  # estimate: road tyres on asphalt
    tyre_aside=Curve(0.15, 1.0, 0.5, 0.75),  # estimate
    drag_nms_per_rad=50.0,  # estimate: small beside the tyres'
    slow_mps=4.0,
    idle_rpm=700.0,  # estimate
    engine_lag_s=0.2,  # estimate
    torque_nm=(
        (700.0, 220.0),  # estimate
        (2000.0, 310.0),  # estimate
        (4000.0, 355.0),  # CP: 262 lb ft
        (6400.0, 319.0),  # CP: 287 hp
        (7200.0, 0.0),  # estimate: the governor
    ),
    # estimate: nine, as CP has, from 4.7 to 0.48
    gear_ratios=(4.7, 2.84, 1.91, 1.38, 1.0, 0.81, 0.7, 0.58, 0.48),
    reverse_ratio=3.8,  # estimate
    final_drive_ratio=3.25,  # estimate
    up_rpm=3500.0,  # estimate
    down_rpm=1500.0,  # estimate
    shift_s=0.25,  # estimate
    drop_per_rad=0.8,  # estimate: half of its torque at full lock
    brake_distance_m=45.0,  # estimate
    brake_lever_m=0.365,  # the wheel's radius, not a disk's, or the distance is not what it drives
    natural_radps=8.0,  # estimate: 1.3 Hz
    damping_ratio=0.4,  # estimate
    reverse_max_mps=5.0,  # estimate
    drag_idle_ns_per_m=20.0,  # estimate: 0.5 * 1.2 kg/m^3 * 1 m^2 * v^2 at 33 m/s
    drag_max_ns_per_m=200.0,  # estimate: more than its last gear pulls
    drag_reverse_ns_per_m=4000.0,  # estimate: more than its reverse gear pulls
    down_ns_per_m=5.0,  # estimate: a hundredth of its weight at top speed
)

RZR = AutomobileParameters(
    sprung_kg=780.0,  # estimate: 900 kg in all
    wheel_kg=30.0,  # estimate
    lf_m=1.6,  # estimate: wheelbase 2.9, 45 % of the weight in front
    lr_m=1.3,
    h_cg_m=0.6,  # estimate
    track_m=1.6,  # estimate
    wheel_radius_m=0.37,  # estimate
    steer_max_rad=0.6,  # estimate
    steer_rate_radps=1.0,  # estimate
    steer_rate_by_speed_radps=-0.5,  # estimate: half as fast at top speed
    speed_max_mps=30.0,  # estimate
    rear_steer_ratio=0.0,
    is_front_driven=True,  # estimate
    is_rear_driven=True,
    force_offset_m=0.0,  # estimate: at the ground
    tyre_along=Curve(0.2, 0.75, 0.6, 0.6),  # estimate: knobbly tyres on hard soil
    tyre_aside=Curve(0.2, 0.75, 0.6, 0.6),  # estimate
    drag_nms_per_rad=30.0,  # estimate: small beside the tyres'
    slow_mps=2.0,
    idle_rpm=1200.0,  # estimate
    engine_lag_s=0.15,  # estimate
    # estimate: a litre in two cylinders
    torque_nm=((1200.0, 60.0), (5000.0, 92.0), (7000.0, 97.0), (8500.0, 90.0), (9500.0, 0.0)),
    gear_ratios=(3.0, 2.0, 1.4, 1.0),  # estimate: steps for the belt of the real one
    reverse_ratio=3.0,  # estimate
    final_drive_ratio=10.0,  # estimate
    up_rpm=6500.0,  # estimate
    down_rpm=3500.0,  # estimate
    shift_s=0.15,  # estimate
    drop_per_rad=0.8,  # estimate
    brake_distance_m=60.0,  # estimate: loose ground
    brake_lever_m=0.37,  # the wheel's radius, as OpenCAV's
    natural_radps=8.0,  # estimate: 1.3 Hz
    damping_ratio=0.4,  # estimate
    reverse_max_mps=4.0,  # estimate
    drag_idle_ns_per_m=20.0,  # estimate
    drag_max_ns_per_m=300.0,  # estimate: more than its last gear pulls
    drag_reverse_ns_per_m=4000.0,  # estimate: more than its reverse gear pulls
    down_ns_per_m=3.0,  # estimate: a hundredth of its weight at top speed
)
