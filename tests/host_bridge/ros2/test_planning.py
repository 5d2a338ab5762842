"""simple_planning_simulator's files and commands, and its tables against the facts."""

from __future__ import annotations

from pathlib import Path

import pytest

from host_bridge.core.errors import DataFileFault, UsageFault
from host_bridge.ros2.planning_simulator import node, simulate
from host_bridge.ros2.planning_simulator.car import AUTONOMOUS, MANUAL, ControlCommand, PlanningCar
from host_bridge.ros2.planning_simulator.parameter_files import (
    NODE_PARAMETERS,
    parameter,
    read_setup,
)
from host_bridge.ros2.planning_simulator.topics import MOTION_TOPICS, SET_POSE, SUBSCRIPTIONS, Topic
from sim_mock.models.planning.model_types import ALL, LEARNED, NOT_HERE
from sim_mock.models.planning.motion import DriverCommand
from sim_mock.models.planning.parameters import NUMBERS, TEXTS

FACTS = (Path(__file__).parents[4] / "shared" / "facts" / "ros2").with_suffix(".md")
DRIVE, REVERSE, PARK = 2, 20, 22
PERIOD_S, LEASE_S = 0.025, 0.5
GIVEN = {"initial_engage_state": True, "wheel_base": 2.79}
ORIGIN = {"initialize_source": "ORIGIN"}

MODEL = """\
/**:
  ros__parameters:
    origin_frame_id: "map"
    vehicle_model_type: "DELAY_STEER_ACC_GEARED" # one of many
    timer_sampling_time_ms: 25
    vel_lim: 30.0
"""
# As older releases had it
OLDER = """\
simulation:
  simple_planning_simulator:
    ros__parameters:
      vehicle_model_type: "IDEAL_STEER_ACC"
other_node:
  ros__parameters: {vehicle_model_type: "FLYING"}
"""


def read(tmp_path, text, **given):
    (tmp_path / "a.param.yaml").write_text(text)
    return read_setup([tmp_path / "a.param.yaml"], {**GIVEN, **given})


# --- files


def test_a_file_is_read_as_it_is_over_their_defaults(tmp_path):
    setup = read(tmp_path, MODEL)
    assert setup.values["vel_lim"] == 30.0
    assert setup.values["steer_lim"] == NUMBERS["steer_lim"].default
    assert setup.values["simulated_frame_id"] == "base_link"
    assert (setup.period_s, setup.notes) == (0.025, ())


def test_a_table_of_the_node_s_own_name_is_read_and_no_other(tmp_path):
    assert read(tmp_path, OLDER).values["vehicle_model_type"] == "IDEAL_STEER_ACC"


def test_the_command_line_is_before_files_and_later_files_before_earlier(tmp_path):
    (tmp_path / "b.yaml").write_text("/**: {ros__parameters: {vel_lim: 5.0, steer_lim: 0.5}}")
    (tmp_path / "a.yaml").write_text(MODEL)
    paths = [tmp_path / "a.yaml", tmp_path / "b.yaml"]
    values = read_setup(paths, {**GIVEN, "steer_lim": 0.4}).values
    assert (values["vel_lim"], values["steer_lim"]) == (5.0, 0.4)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a: [", "is not YAML"),
        ("[]", "names with values"),
        (MODEL.replace("25", "0"), "timer_sampling_time_ms"),
        (MODEL.replace("25", "true"), "timer_sampling_time_ms"),
        (MODEL + "    add_measurement_noise: 1\n", "add_measurement_noise"),
        (MODEL + "    initialize_source: HERE\n", "initialize_source"),
        (MODEL + "    acceleration_map_path: $(find-pkg-share x)/a.csv\n", "acceleration_map_path"),
        (MODEL.replace("DELAY_STEER_ACC_GEARED", "FLYING"), "FLYING"),
    ],
)
def test_a_file_that_cannot_be_meant_so_is_refused(tmp_path, text, words):
    with pytest.raises(DataFileFault, match=words):
        read(tmp_path, text)


@pytest.mark.parametrize("model", NOT_HERE)
def test_vehicle_models_that_are_not_here_are_refused_with_the_reason(tmp_path, model):
    with pytest.raises(DataFileFault, match=f"got {model} is not here: it takes the pedals"):
        read(tmp_path, MODEL.replace("DELAY_STEER_ACC_GEARED", model))


@pytest.mark.parametrize("name", ["wheel_base", "initial_engage_state"])
def test_what_their_node_has_no_default_for_has_to_be_said(name):
    given = {key: value for key, value in GIVEN.items() if key != name}
    with pytest.raises(DataFileFault, match=f"{name} is not given") as refused:
        read_setup([], given)
    assert refused.value.remedy == f"--params FILE with it, or -p {name}:=VALUE"


def test_code_of_a_file_s_own_is_not_run_unasked(tmp_path):
    with pytest.raises(DataFileFault, match="brings Python code of its own"):
        read(tmp_path, MODEL.replace("DELAY_STEER_ACC_GEARED", LEARNED))


def test_a_parameter_that_nobody_heeds_is_told(tmp_path):
    text = MODEL + "    vel_limm: 1.0\n    enable_road_slope_simulation: true\n"
    first, second = read(tmp_path, text).notes
    assert "vel_limm is not heeded" in first
    assert "the road is level" in second


def test_parameters_of_a_command_line():
    assert parameter("vel_lim:=3.5") == ("vel_lim", 3.5)
    assert parameter("use_sim_time:=true") == ("use_sim_time", True)
    for text in ("vel_lim=3.5", ":=1", "a:=["):
        with pytest.raises(UsageFault):
            parameter(text)


@pytest.mark.parametrize("model", [model for model in ALL if model != LEARNED])
def test_every_vehicle_model_that_there_is_is_made(tmp_path, model):
    (tmp_path / "map.csv").write_text("default, 0.0, 10.0\n-4.0, -4.0, -3.0\n4.0, 4.0, 2.0\n")
    text = MODEL.replace("DELAY_STEER_ACC_GEARED", model)
    setup = read(tmp_path, text + "    acceleration_map_path: map.csv\n", **ORIGIN)
    assert setup.simulator(1).truth.x_m == 0.0


# --- commands


def made(model="DELAY_STEER_ACC_GEARED", engaged=True):
    setup = read_setup([], {**GIVEN, **ORIGIN, "vehicle_model_type": model})
    car = PlanningCar(setup.simulator(1), model, PERIOD_S, LEASE_S, engaged)
    car.step(0.0)
    return car


def driven(car, seconds, asked, *, from_s=0.0, mode=AUTONOMOUS, every=1):
    """Steps it; a command comes with every so many of them."""
    for i in range(round(seconds / PERIOD_S)):
        now_s = from_s + i * PERIOD_S
        if asked is not None and i % every == 0:
            car.set_command(mode, ControlCommand(*asked, now_s))
        car.step(now_s + PERIOD_S)
    return from_s + round(seconds / PERIOD_S) * PERIOD_S


def test_nothing_moves_without_a_gear_or_in_park():
    car = made()
    end_s = driven(car, 1.0, (3.0, 1.0, 0.0))
    assert car.simulator.truth.vx_mps == 0.0
    car.gears[AUTONOMOUS] = PARK
    driven(car, 1.0, (3.0, 1.0, 0.0), from_s=end_s)
    assert car.simulator.truth.vx_mps == 0.0


@pytest.mark.parametrize(("gear", "way"), [(DRIVE, 1.0), (REVERSE, -1.0)])
@pytest.mark.parametrize(
    "model", ["DELAY_STEER_ACC_GEARED", "DELAY_STEER_ACC_GEARED_WO_FALL_GUARD"]
)
def test_an_acceleration_speeds_up_the_way_of_the_gear(model, gear, way):
    car = made(model)
    car.gears[AUTONOMOUS] = gear
    driven(car, 2.0, (3.0, 1.0, 0.0))
    assert car.simulator.truth.vx_mps * way > 1.0


@pytest.mark.parametrize(("gear", "way"), [(DRIVE, 1.0), (REVERSE, -1.0)])
@pytest.mark.parametrize("model", [name for name in ALL if name != LEARNED and "MAP" not in name])
def test_a_command_expires_and_the_car_comes_to_rest_with_its_wheels_as_they_were(model, gear, way):
    car = made(model)
    car.gears[AUTONOMOUS] = gear
    is_geared = "GEARED" in model
    asked = (2.0 * way, 1.0 if is_geared else way, 0.1)
    if not is_geared and gear == REVERSE:
        asked = (-2.0, 1.0, 0.1)  # turned round before any model sees it
    end_s = driven(car, 2.0, asked)
    begun = car.simulator.truth
    assert begun.vx_mps * way > 1.0
    driven(car, 8.0, None, from_s=end_s)
    rest = car.simulator.truth
    assert abs(rest.vx_mps) < 0.01
    assert rest.steer_rad == pytest.approx(0.1, abs=0.01)
    assert car.expired > 0
    # 2.4 m/s^2 after half a second at what it did: farther than that nothing goes
    assert abs(rest.x_m - begun.x_m) < abs(begun.vx_mps) * 3.0 + 3.0


def test_commands_that_keep_coming_do_not_expire():
    car = made()
    car.gears[AUTONOMOUS] = DRIVE
    driven(car, 4.0, (3.0, 0.5, 0.0), every=19)  # each 0.475 s
    assert car.expired == 0


def test_a_command_of_the_future_after_a_clock_was_set_back_has_expired():
    car = made()
    car.gears[AUTONOMOUS] = DRIVE
    car.set_command(AUTONOMOUS, ControlCommand(3.0, 1.0, 0.0, 100.0))
    driven(car, 1.0, None)
    assert car.simulator.truth.vx_mps == 0.0


def test_a_clock_that_jumps_moves_the_car_by_one_step_and_one_that_goes_back_by_none():
    car = made("IDEAL_STEER_VEL")
    car.set_command(AUTONOMOUS, ControlCommand(1.0, 0.0, 0.0, 50.0))
    car.step(50.0)
    assert car.simulator.truth.x_m == pytest.approx(PERIOD_S)
    car.step(10.0)
    assert car.simulator.truth.x_m == pytest.approx(PERIOD_S)


def test_steps_that_were_missed_are_made_up_for():
    car = made("IDEAL_STEER_VEL")
    car.set_command(AUTONOMOUS, ControlCommand(1.0, 0.0, 0.0, 0.2))
    car.step(0.2)
    assert car.simulator.truth.x_m == pytest.approx(0.2)


def test_a_step_lasts_as_long_as_its_nanoseconds_say():
    """The last bit decides on which step a car that brakes to rest turns round."""
    made_by_itself, car = made(), made()
    for each in (made_by_itself, car):
        each.gears[AUTONOMOUS] = DRIVE
    car.step(1.0)
    for i in range(1, 400):
        now_s = (1_000_000_000 + i * 25_000_000) * 1e-9
        asked = ControlCommand(0.0, 1.0 if i < 200 else -1.0, 0.1, now_s)
        car.set_command(AUTONOMOUS, asked)
        car.step(now_s)
        same = DriverCommand(0.0, asked.ax_mps2, asked.steer_rad, DRIVE)
        made_by_itself.simulator.step(PERIOD_S, same)
    assert car.simulator.truth == made_by_itself.simulator.truth


def test_what_is_no_number_is_not_asked_for():
    car = made()
    car.set_command(AUTONOMOUS, ControlCommand(float("nan"), 0.0, 0.0, 0.0))
    assert car.commands[AUTONOMOUS].heard_s is None


def test_manual_has_commands_and_a_gear_of_its_own():
    car = made("IDEAL_STEER_VEL")
    car.set_command(AUTONOMOUS, ControlCommand(1.0, 0.0, 0.0, 0.0))
    car.set_command(MANUAL, ControlCommand(2.0, 0.0, 0.0, 0.0))
    car.step(PERIOD_S)
    assert car.simulator.truth.vx_mps == 1.0
    assert [car.set_mode(mode) for mode in (0, 2, 3, 5)] == [False] * 4
    assert car.set_mode(MANUAL)
    assert car.gear == PARK
    car.step(2 * PERIOD_S)
    assert car.simulator.truth.vx_mps == 2.0


def test_a_car_that_is_not_engaged_stands():
    car = made("IDEAL_STEER_VEL", engaged=False)
    driven(car, 1.0, (1.0, 0.0, 0.0))
    assert car.simulator.truth.x_m == 0.0
    car.is_engaged = True
    driven(car, 1.0, (1.0, 0.0, 0.0), from_s=1.0)
    assert car.simulator.truth.x_m == pytest.approx(1.0)


# --- the tables: autoware.universe@b8ce82e


def test_the_parameters_are_their_nodes():
    assert NODE_PARAMETERS == {
        "simulated_frame_id": "base_link",
        "origin_frame_id": "odom",
        "add_measurement_noise": False,
        "initial_engage_state": None,
        "enable_road_slope_simulation": False,
        "enable_pub_steer": True,
        "vehicle_model_type": "IDEAL_STEER_VEL",
        "timer_sampling_time_ms": 25,
        "initialize_source": "INITIAL_POSE_TOPIC",
        "pos_noise_stddev": 0.01,
        "vel_noise_stddev": 0.01,
        "rpy_noise_stddev": 0.0001,
        "steer_noise_stddev": 0.0001,
        "x_stddev": 0.0001,
        "y_stddev": 0.0001,
        "wheel_base": None,
    }
    assert {"vel_lim", "acceleration_map_path"} <= {*NUMBERS, *TEXTS}


@pytest.mark.skipif(not FACTS.is_file(), reason="no facts of ROS 2 beside the project")
def test_the_topics_are_those_of_the_facts():
    text = FACTS.read_text()
    section = text.split("## 4.")[1].split("## 5.")[0] + text.split("## 3.")[1].split("## 4.")[0]
    motion = [topic for topics in MOTION_TOPICS.values() for topic in topics]
    topics = [*SUBSCRIPTIONS, SET_POSE, *(out.value[1] for out in Topic), *motion]
    names = {topic.rpartition("/")[2] for topic in topics if "debug" not in topic} - {""}
    assert sorted(name for name in names if name not in section) == []


# --- what labs have, and have not


def with_map(tmp_path, text):
    return read(tmp_path, MODEL + f'    acceleration_map_path: "{text}"\n')


def test_a_package_and_an_environment_variable_in_a_path_are_replaced(tmp_path, monkeypatch):
    share = tmp_path / "install" / "share" / "my_vehicle"
    share.mkdir(parents=True)
    monkeypatch.setenv("AMENT_PREFIX_PATH", f"/nowhere:{tmp_path / 'install'}")
    setup = with_map(tmp_path, "$(find-pkg-share my_vehicle)/config/map.csv")
    assert setup.values["acceleration_map_path"] == f"{share}/config/map.csv"
    monkeypatch.setenv("MAPS", str(tmp_path))
    assert with_map(tmp_path, "$(env MAPS)/m.csv").values["acceleration_map_path"] == str(
        tmp_path / "m.csv"
    )


@pytest.mark.parametrize(
    "text", ["$(find-pkg-share no_such)/m.csv", "$(var map)", "$(env NO_SUCH)"]
)
def test_what_launch_alone_can_replace_is_refused_with_the_option(tmp_path, text):
    with pytest.raises(DataFileFault, match="-p acceleration_map_path:=PATH"):
        with_map(tmp_path, text)


def test_a_noise_that_is_heeded_is_not_said_unheeded(tmp_path):
    assert read(tmp_path, MODEL, angvel_noise_stddev=0.1).notes == ()


class FakeBus:
    def __init__(self) -> None:
        self.types: dict[str, str] = {}

    def publisher(self, topic, type_name, **options) -> None:
        self.types[topic] = type_name

    def subscribe(self, topic, type_name, hear) -> None:
        self.types[topic] = type_name

    serve = subscribe

    def close(self) -> None:
        self.types.clear()


@pytest.mark.parametrize("waits", [True, False])
def test_it_says_that_it_runs_and_for_what_it_waits(tmp_path, monkeypatch, waits):
    monkeypatch.setattr(simulate, "Bus", lambda *parts, **options: FakeBus())
    (tmp_path / "a.param.yaml").write_text(MODEL)
    given, told = {**GIVEN, **({} if waits else ORIGIN)}, []
    simulate.simulate(
        [tmp_path / "a.param.yaml"], given, "full_motion", 1,
        environment={}, namespace="/car1", is_over=lambda: True, tell=told.append,
    )  # fmt: skip
    assert told[-1].startswith("DELAY_STEER_ACC_GEARED runs as /car1/simple_planning_simulator")
    assert ("until a pose comes on /initialpose3d" in told[-1]) == waits


@pytest.mark.parametrize(
    ("missing", "is_old", "serves_pose"),
    [((), False, True), (("tier4_external_api_msgs",), False, False),
     (("autoware_control_msgs", "tier4_external_api_msgs"), True, False)],
)  # fmt: skip
def test_it_starts_with_the_messages_that_there_are(
    tmp_path, monkeypatch, missing, is_old, serves_pose
):
    monkeypatch.setattr(node, "has_message", lambda name: name.split("/")[0] not in missing)
    told: list[str] = []
    bus, setup = FakeBus(), read(tmp_path, MODEL)
    node.PlanningNode(bus, None, setup, "full_motion", told.append)
    assert (SET_POSE in bus.types) == serves_pose
    assert any("tier4_external_api_msgs" in it for it in told) != serves_pose
    packages = {it.split("/")[0] for it in bus.types.values()}
    assert ("autoware_auto_vehicle_msgs" in packages) == is_old
    assert ("autoware_vehicle_msgs" in packages) != is_old
