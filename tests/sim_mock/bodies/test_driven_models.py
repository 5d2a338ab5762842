"""Every model on a complete car: it drives, it stops in time, and it is that model."""

from math import atan2, exp, tan

import pytest

from host_bridge.config import load_vehicle
from host_bridge.deploy.hil.host.small_host import RELEASED
from sim_mock.bodies.planning import numbers_of
from sim_mock.bodies.table import MODELS, models_for_vehicle
from sim_mock.faults.bounds.limits import plant_parameters
from sim_mock.faults.running import run
from sim_mock.plant.vehicle_plant import FULL_DUTY
from tests.sim_mock.bodies.modelled_cars import KEYS, driver, vehicle_with, write_file

ON = {
    "kinematic": "nigel",
    "single_track": "hunter_se",
    "autorally_single_track": "autorally",
    "autorally_double_track": "autorally",
    "autorally_full": "autorally",
    "autodrive": "f1tenth",
    "IDEAL_STEER_VEL": "nigel",
    "LEARNED_STEER_VEL": "nigel",
}
CREEPS = "DELAY_STEER_VEL"  # its speed dies away and is never quite 0
CARS = [(name, ON.get(name, "f1tenth")) for name in MODELS if name != CREEPS]
FULL_SCALE = ("opencav", "rzr")


@pytest.fixture
def named(tmp_path, monkeypatch):
    """What a car is told to have a model: its name, or a file."""
    monkeypatch.syspath_prepend(tmp_path)
    return lambda name: write_file(tmp_path, name) if name in KEYS else name


def turning(host, speed_mps, steer_rad, ms=1000):
    """What the car does at last in a steady turn: speed ahead, to the left, yaw rate."""
    host.drive(1200, round(speed_mps * 1e3))
    host.drive(ms, round(speed_mps * 1e3), round(steer_rad * 1e6))
    truth = host.world.plant.truth
    return truth.vx_mps, truth.vy_mps, truth.yaw_rate_radps


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("name", "vehicle"), [*CARS, *(("autodrive", vehicle) for vehicle in FULL_SCALE)]
)
def test_each_model_drives_and_stops_within_the_limit_of_its_vehicle(name, vehicle, named):
    """By the catalogue's judgement: in time, within the way, never backward, and it stays there."""
    result = run("stop-at-3", vehicle_with(vehicle, named(name)), 0)
    assert result.wrong == ()
    assert result.speed_mps > 0.5 * min(3.0, load_vehicle(vehicle).speed_max_mps)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", MODELS)
def test_each_model_drives_the_same_again_with_the_same_seed(name, named):
    def drive():
        host = driver(ON.get(name, "f1tenth"), told, seed=1)
        host.drive(300, 500, 100_000)
        return host.outputs.hexdigest(), host.world.plant.truth.values()

    told = named(name)
    first = drive()
    assert first == drive()
    assert first[1][0] > 0.0


def slip_rad(vehicle, vx_mps, _vy_mps, rate_radps):
    """Of linear tyres in a steady turn: lr / R - m lf v^2 / (L C R)."""
    p = plant_parameters(load_vehicle(vehicle)).body
    stiffness_n = p.stiffness_rear_per_rad * p.mass_kg * 9.81 * p.lf_m / p.wheelbase_m
    share = p.lf_m / p.wheelbase_m
    return rate_radps / vx_mps * (p.lr_m - p.mass_kg * share * vx_mps**2 / stiffness_n)


def test_no_wheel_of_the_kinematic_one_slips_and_linear_tyres_do_so_in_proportion():
    models = ("kinematic", "single_track", "twin")
    seen = {model: turning(driver("f1tenth_vesc", model), 3.0, 0.12, 2300) for model in models}
    p = plant_parameters(load_vehicle("f1tenth_vesc")).body
    vx, vy, rate = seen["kinematic"]
    assert vy == pytest.approx(p.lr_m * rate, rel=1e-9)
    assert rate == pytest.approx(vx * tan(0.12) / p.wheelbase_m, rel=0.03)
    linear, twin = seen["single_track"], seen["twin"]
    assert atan2(linear[1], linear[0]) == pytest.approx(slip_rad("f1tenth_vesc", *linear), abs=5e-4)
    assert abs(atan2(twin[1], twin[0]) - slip_rad("f1tenth_vesc", *twin)) > 5e-3


def test_both_axles_of_a_nigel_turn_its_kinematic_one():
    vx, _, rate = turning(driver("nigel", "kinematic"), 0.3, 0.3)
    wheelbase_m = plant_parameters(load_vehicle("nigel")).body.wheelbase_m
    assert rate == pytest.approx(vx * 2 * tan(0.3) / wheelbase_m, rel=0.02)


def test_autorallys_wheels_spin_by_themselves_on_four_corners_and_on_springs():
    """What each of the three has beyond the one before it, and the twin has not."""
    state = {}
    for kind in ("single_track", "double_track", "full"):
        host = driver("autorally", f"autorally_{kind}")
        turning(host, 3.0, 0.2, 500)
        state[kind] = host.world.plant.model.state
        rolled_mps = host.world.plant.truth.vx_mps
        assert host.world.plant.wheel_speed_mps > 1.0005 * rolled_mps  # it slips as it drives
    assert len(state["single_track"]) == 8
    left, right = state["double_track"][8:10]
    assert right > 1.05 * left
    roll_rad, pitch_rad = state["full"][11:13]
    assert roll_rad > 0.005
    host.stop()
    host.drive(200)
    assert host.world.plant.model.state[12] < pitch_rad - 0.005  # its nose dives


def test_autodrives_wheels_are_held_when_nothing_drives_them():
    """A cut: the twin coasts for metres."""
    ways = {}
    for model in ("twin", "autodrive"):
        host = driver("f1tenth", model)
        host.drive(1000, 2000)
        truth = host.world.plant.truth
        begun_m = truth.x_m
        host.world.runstop_closed = False
        host.drive(1200, 2000)
        ways[model] = truth.x_m - begun_m
    assert ways["autodrive"] < 0.8 < 1.5 < ways["twin"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("vehicle", FULL_SCALE)
def test_a_full_scale_car_pulls_through_its_gears_and_none_pulls_while_it_shifts(vehicle):
    host = driver(vehicle, "autodrive")
    model, gears, before_mps = host.world.plant.model, set(), 0.0
    for _ in range(300):
        host.drive(10, 3000)
        gears.add(model.state.box)
        if model.state.box.pause_s > 0.0:
            assert host.world.plant.truth.vx_mps <= max(before_mps, 0.02)
        before_mps = host.world.plant.truth.vx_mps
    assert {box.gear for box in gears} == {-2, 0, 1}  # parked, while its handbrake was on
    assert before_mps > 1.0
    assert model.state.engine_rpm > model._car.idle_rpm + 200.0


def test_speed_without_a_lag_is_gone_at_once():
    host = driver("nigel", "IDEAL_STEER_VEL")
    host.drive(1500, 300)
    host.stop()
    host.drive(20, 300)
    assert host.world.plant.truth.vx_mps == 0.0


@pytest.mark.parametrize("vehicle", ["f1tenth", "hunter_se", "autorally"])
def test_speed_with_a_lag_dies_away_by_it_alone_whatever_brakes(vehicle):
    """Autoware's first-order lag, in closed form: v exp(-t / T), which rolls v T."""
    host = driver(vehicle, CREEPS)
    host.drive(3000, 2000)
    host.stop()
    host.drive(100, 0, deadman=RELEASED)
    truth = host.world.plant.truth
    begun_mps, begun_m = truth.vx_mps, truth.x_m
    host.drive(200, 0, deadman=RELEASED)
    lag_s = numbers_of(plant_parameters(load_vehicle(vehicle)))["vel_time_constant"]
    assert truth.vx_mps == pytest.approx(begun_mps * exp(-0.2 / lag_s), rel=0.02)
    host.drive(6000, 0, deadman=RELEASED)
    assert truth.x_m - begun_m == pytest.approx(begun_mps * lag_s, rel=0.02)


def test_ideal_wheels_turn_at_once_and_delayed_ones_after_their_dead_time():
    after_ms = {}
    for model in ("IDEAL_STEER_ACC", "DELAY_STEER_ACC", "kinematic"):
        host = driver("f1tenth", model)
        host.drive(800, 1000)
        seen = []
        rate = lambda world, seen=seen: seen.append(world.plant.truth.yaw_rate_radps)  # noqa: E731
        host.world.observers.append(rate)
        host.drive(200, 1000, 100_000)
        last, threshold = seen[-1], 0.05 * seen[-1]
        assert last > 0.1
        after_ms[model] = next(i for i, value in enumerate(seen) if value > threshold)
    dead_ms = 1e3 * plant_parameters(load_vehicle("f1tenth")).servo.dead_time_s
    assert after_ms["IDEAL_STEER_ACC"] < after_ms["DELAY_STEER_ACC"] - 0.8 * dead_ms
    assert after_ms["IDEAL_STEER_ACC"] < after_ms["kinematic"] - 0.8 * dead_ms


@pytest.mark.parametrize("kind", ["IDEAL_STEER_ACC", "DELAY_STEER_ACC"])
def test_a_gear_does_not_let_a_car_be_pushed_back(kind):
    rolled_m = {}
    for model in (kind, f"{kind}_GEARED"):
        host = driver("f1tenth", model)
        host.drive(300, 300)
        host.drive(600, 0, deadman=RELEASED)
        begun_m = host.world.plant.truth.x_m
        host.world.plant.pushed_n = -20.0
        host.drive(500, 0, deadman=RELEASED)
        rolled_m[model] = begun_m - host.world.plant.truth.x_m
    assert rolled_m[kind] > 0.05
    assert rolled_m[f"{kind}_GEARED"] == pytest.approx(0.0, abs=1e-3)


def test_a_map_makes_a_fifth_of_the_acceleration_and_all_of_the_deceleration(named):
    way_m = {}
    for name in ("DELAY_STEER_ACC_GEARED", "DELAY_STEER_MAP_ACC_GEARED"):
        host = driver("f1tenth", named(name))
        host.drive(400, 2000)
        way_m[name] = host.world.plant.truth.x_m
    assert way_m["DELAY_STEER_MAP_ACC_GEARED"] < 0.75 * way_m["DELAY_STEER_ACC_GEARED"]


def test_users_classes_move_the_car(named):
    """Theirs goes four fifths as fast as the motors say, and the car's loop makes up for it."""
    mps_per_duty = {}
    for name in ("IDEAL_STEER_VEL", "LEARNED_STEER_VEL"):
        host = driver("nigel", named(name))
        host.drive(1500, 200)
        duty = max(value for value in host.world.values if value <= FULL_DUTY)
        mps_per_duty[name] = host.world.plant.truth.vx_mps / duty
        assert host.world.plant.truth.vx_mps == pytest.approx(0.2, rel=0.1)
    share = mps_per_duty["LEARNED_STEER_VEL"] / mps_per_duty["IDEAL_STEER_VEL"]
    assert share == pytest.approx(0.8, rel=0.03)


def test_which_models_a_car_may_have():
    assert "autorally_full" in models_for_vehicle("autorally")
    assert "autorally_full" not in models_for_vehicle("nigel")
    assert {m for v in ("nigel", "f1tenth", "autorally") for m in models_for_vehicle(v)} == set(
        MODELS
    )
