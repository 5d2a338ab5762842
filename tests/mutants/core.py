"""What small mistakes are made in, and which tests are held against each file of it."""

from pathlib import Path
from typing import NamedTuple

from tests.mutants.trial.trials import Tier

_APP = (
    "App.step", "App.begin", "App.finish", "App._hear_board", "App._hear_stop", "App._measure",
    "App._supervise", "App._settle_requests", "App._conditions", "App._put_out",
)  # fmt: skip

# All but its table, which is the definition itself
_PARAMS = ("Params.__init__", "Params.get", "Params.get_all", "Params.index")


class Part(NamedTuple):
    """``scope`` are the functions that count, all if it is empty; ``tests`` are its own tests: of
    the core by what follows ``tests/firmware/core/test_``, others by their path in ``tests``."""

    file: str
    tests: tuple[str, ...]
    scope: tuple[str, ...] = ()
    cpu_s: int = 10  # its own tests take a fifth of it at most


# What firmware/core/SAFETY.md asks it of, as it is laid out
CORE = (
    Part("firmware/core/deadlines.py", ("deadlines",)),
    Part("firmware/core/stops/latch.py", ("latch",)),
    Part("firmware/core/supervisor.py", ("supervisor",)),
    Part("firmware/core/stops/stopping.py", ("stopping",)),
    Part("firmware/core/motion/limits.py", ("limits", "limits_ramp")),
    Part("firmware/core/stops/runstop.py", ("runstop", "runstop_link")),
    Part("firmware/core/arbitration/source.py", ("arbiter_sources", "arbiter_winners", "arbiter")),
    Part("firmware/core/stops/guard.py", ("guard", "guard_grace")),
    Part("firmware/core/arbitration/arbiter.py", ("arbiter", "arbiter_winners", "arbiter_sources")),
)
# What else decides
BESIDE = (
    Part("firmware/core/arbitration/rc_receiver.py", ("rc_receiver", "rc_gesture")),
    Part("firmware/core/clock.py", ("clock",)),
    Part("firmware/core/arbitration/actions.py", ("actions", "actions_on_board")),
    Part("firmware/core/stops/plausibility.py", ("plausibility",)),
    Part("firmware/core/overrun.py", ("overrun",)),
    Part("firmware/core/motion/outputs.py", ("outputs",)),
    Part(
        "firmware/core/motion/drive.py",
        ("drive", "drive_braking", "drive_directions", "drive_rested"),
    ),
    Part("firmware/core/motion/motion.py", ("motion", "app_moves")),
    Part("firmware/core/stops/fault_monitor.py", ("fault_monitor_edges", "fault_monitor", "app")),
    Part("firmware/core/settings/params.py", ("params", "unsafe_configuration"), _PARAMS),
    Part("firmware/core/settings/checked_params.py", ("params", "unsafe_configuration")),
    Part(
        "firmware/core/settings/configuration.py",
        ("configuration", "params", "unsafe_configuration"),
    ),
    Part("firmware/core/settings/writing.py", ("configuration", "overlay", "unsafe_configuration")),
    Part("firmware/core/settings/overlay.py", ("overlay", "configuration", "dispatcher_replies")),
    Part(
        "firmware/core/link/dispatcher.py", ("dispatcher_replies", "dispatcher", "requests_settled")
    ),
    Part("firmware/core/motion/battery.py", ("battery",)),
    Part("firmware/core/motion/temperature.py", ("battery",)),
    Part("firmware/core/motion/steering.py", ("steering",)),
    Part("firmware/core/link/receiver.py", ("mailbox",)),
    Part("firmware/core/link/outbox.py", ("mailbox",)),
    Part("firmware/core/motion/warm_up.py", ("warm_up",)),
    Part("firmware/core/settings/table_hash.py", ("params",)),
    Part(
        "firmware/app.py",
        (
            "app",
            "requests_settled",
            "app_moves",
            "dispatcher",
            "fault_monitor_edges",
            "gyro_lost",
            "fault_monitor",
            "app_loop_brake",
        ),
        _APP,
    ),
)
# Of the board's start what runs on each turn of the endless loop
_BEAT = (
    "Beat.__init__", "Beat.turn", "Beat._is_half_over", "Beat._step", "Beat._every_us",
    "Beat._may_move", "Beat._may_leave", "Beat._may_be_left", "BoxBeat._every_us",
    "BoxBeat._may_move", "BoxBeat._may_be_left", "BoxBeat.run", "CarProgram.run",
)  # fmt: skip
# Of a service what stops a car: the rest is names and descriptions
_SERVICE = (
    "CarServer._hear", "CarServer._line_changed", "CarServer._take_over",
    "CarServer._stop_if_armed",
)  # fmt: skip
# What carries the board's program and the host's: each row's own tests are all that is asked.
AROUND = (
    Part("firmware/boards/between_steps.py", ("firmware/boards/beat/test_between_steps.py",)),
    Part(
        "firmware/boards/start.py",
        ("firmware/boards/beat/test_beat.py",),
        _BEAT,
    ),
    Part(
        "firmware/boards/link.py",
        (
            "firmware/boards/link/test_link_bytes.py",
            "firmware/boards/link/test_link_stdio.py",
            "firmware/boards/link/test_link.py",
        ),
    ),
    Part("host_bridge/drive/control_task.py", ("host_bridge/drive/test_control_task.py",)),
    Part("host_bridge/cli/commands/stop.py", ("host_bridge/sharing/stop/test_stop_call.py",)),
    Part(
        "host_bridge/sharing/stop/stop_request.py", ("host_bridge/sharing/stop/test_stop_call.py",)
    ),
    Part(
        "host_bridge/sharing/owner/admission.py", ("host_bridge/sharing/owner/test_admission.py",)
    ),
    Part(
        "host_bridge/sharing/owner/chunks.py",
        ("host_bridge/sharing/owner/test_owner.py", "host_bridge/sharing/owner/test_admission.py"),
    ),
    Part(
        "host_bridge/sharing/owner/owner.py",
        (
            "host_bridge/sharing/owner/test_owner.py",
            "host_bridge/sharing/owner/test_admission.py",
            "host_bridge/sharing/owner/test_rights.py",
        ),
    ),
    Part("host_bridge/cars/acceptance.py", ("host_bridge/cars/test_acceptance.py",)),
    Part("host_bridge/cars/actions.py", ("host_bridge/cars/test_actions.py",)),
    Part("host_bridge/cars/divergence.py", ("host_bridge/cars/test_divergence_numbers.py",)),
    Part(
        "host_bridge/cars/stop_source_heartbeat.py",
        ("host_bridge/cars/test_heartbeat_messages.py",),
    ),
    Part(
        "host_bridge/sharing/owner/radio.py", ("host_bridge/sharing/owner/test_radio_endpoint.py",)
    ),
    Part("host_bridge/sharing/endpoints/endpoint.py", ("host_bridge/sharing/test_endpoint.py",)),
    Part("host_bridge/sharing/stop/acceptor.py", ("host_bridge/sharing/stop/test_acceptor.py",)),
    Part(
        "host_bridge/sharing/stop/stop_endpoint.py",
        (
            "host_bridge/sharing/stop/test_crowded.py",
            "host_bridge/sharing/stop/test_stop_endpoint.py",
        ),
    ),
    Part(
        "host_bridge/sharing/stop/stop_callers.py",
        ("host_bridge/sharing/stop/test_stop_callers.py",),
    ),
    Part(
        "host_bridge/sharing/owner/board_verification.py",
        ("host_bridge/sharing/owner/test_board_verification.py",),
    ),
    Part("host_bridge/sharing/endpoints/choosing.py", ("host_bridge/sharing/test_choosing.py",)),
    Part(
        "host_bridge/drive/controls.py",
        (
            "host_bridge/drive/test_open_inputs.py",
            "host_bridge/drive/test_wake_signal.py",
            "host_bridge/drive/test_controls.py",
        ),
    ),
    Part("host_bridge/drive/wake_signal.py", ("host_bridge/drive/test_wake_signal.py",)),
    Part("host_bridge/drive/outcome.py", ("host_bridge/drive/test_verdicts.py",)),
    Part(
        "host_bridge/drive/follow.py",
        ("host_bridge/drive/test_verdicts.py",),
        ("_judge", "_with_receiver"),
    ),
    Part("host_bridge/drive/options.py", ("host_bridge/drive/test_options.py",)),
    Part("host_bridge/drive/twins.py", ("host_bridge/drive/test_twins.py",)),
    Part(
        "host_bridge/drive/opening.py",
        ("host_bridge/drive/test_opening.py",),
        ("start_log",),
    ),
    Part("host_bridge/cars/car.py", ("host_bridge/cars/test_car_numbers.py",)),
    Part("host_bridge/cars/following.py", ("host_bridge/cars/test_following_steps.py",)),
    Part("host_bridge/cars/fleet.py", ("host_bridge/cars/test_fleet_numbers.py",)),
    Part("host_bridge/sharing/owner/rights.py", ("host_bridge/sharing/owner/test_rights.py",)),
    Part(
        "host_bridge/sharing/owner/car_server.py",
        ("host_bridge/sharing/owner/test_car_server.py",),
        _SERVICE,
    ),
    Part("firmware/core/stops/tag.py", ("firmware/core/stops/test_tag.py",)),
    Part("firmware/core/stops/pairing.py", ("firmware/core/stops/test_pairing.py",)),
    Part("firmware/core/stops/boxes.py", ("firmware/core/stops/test_boxes.py",)),
    Part("firmware/core/stops/loop_brake.py", ("firmware/core/stops/test_loop_brake.py",)),
)
MAVLINK = tuple(
    Part(
        f"host_bridge/station/mavlink/driving/{name}.py",
        ("host_bridge/station/mavlink/test_hand.py",),
    )
    for name in ("ages", "hand")
)
# What of the station's server lets in, gives the seat and hears stops: the rest are its pages
_SERVER = (
    "Server.__init__", "Server._request", "Server._answer", "Server._watch", "Server._work",
    "Server._hold", "Server._ask", "_listen",
)  # fmt: skip
STATION = (
    Part(
        "host_bridge/station/server/access_rules.py",
        ("host_bridge/station/server/test_access_rules.py",),
    ),
    Part(
        "host_bridge/station/server/reserve_ports.py",
        ("host_bridge/station/server/test_reserve_ports.py",),
    ),
    Part(
        "host_bridge/station/server/connection_limit.py",
        ("host_bridge/station/server/test_connection_limit.py",),
    ),
    Part(
        "host_bridge/station/server/rate_limited_listener.py",
        ("host_bridge/station/server/test_rate_limited_listener.py",),
    ),
    Part(
        "host_bridge/station/server/page_seat.py", ("host_bridge/station/page/test_page_seat.py",)
    ),
    Part(
        "host_bridge/station/server/seat_holder.py",
        (
            "host_bridge/station/page/test_seat_holder.py",
            "host_bridge/station/server/test_server.py",
        ),
    ),
    Part(
        "host_bridge/station/server/server.py",
        (
            "host_bridge/station/server/test_server.py",
            "host_bridge/station/server/test_floor_and_asking.py",
        ),
        _SERVER,
    ),
    Part(
        "host_bridge/station/server/stop_answers.py",
        (
            "host_bridge/station/server/test_stop_answers.py",
            "host_bridge/station/server/test_server.py",
        ),
    ),
    Part(
        "host_bridge/station/server/page_messages.py",
        ("host_bridge/station/server/test_server.py",),
    ),
)
ROS2 = (
    Part("host_bridge/ros2/node/ros_input.py", ("host_bridge/ros2/test_ros_input.py",)),
    Part("host_bridge/ros2/node/command_topics.py", ("host_bridge/ros2/test_ros_input.py",)),
    Part("host_bridge/ros2/node/node_services.py", ("host_bridge/ros2/test_ros_input.py",)),
    Part("host_bridge/ros2/bus/own_topics.py", ("host_bridge/ros2/test_own_topics.py",)),
    Part("host_bridge/ros2/node/mux.py", ("host_bridge/ros2/vocabularies/test_mux.py",)),
    Part("host_bridge/ros2/node/stops.py", ("host_bridge/ros2/test_stops.py",)),
)
PADS = (
    Part(
        "host_bridge/inputs/gamepad/report_count.py",
        ("host_bridge/inputs/gamepad/test_pad_seat.py",),
    ),
    Part(
        "host_bridge/inputs/gamepad/mapping.py", ("host_bridge/inputs/gamepad/test_pad_mapping.py",)
    ),
    Part("host_bridge/inputs/gamepad/seat.py", ("host_bridge/inputs/gamepad/test_pad_seat.py",)),
    Part(
        "host_bridge/inputs/gamepad/gamepad_input.py",
        ("host_bridge/inputs/gamepad/test_gamepad_input.py",),
    ),
)
# What people and programs drive and stop by
INTERFACES = STATION + MAVLINK + ROS2 + PADS
# Where each file has a row, or a reason
PLACES = (
    "firmware/core", "firmware/app.py", "firmware/boards/between_steps.py",
    "firmware/boards/link.py", "firmware/boards/start.py", "host_bridge/drive/control_task.py",
    "host_bridge/cli/commands/stop.py", "host_bridge/sharing", "host_bridge/drive",
    "host_bridge/cars",
    "host_bridge/station", "host_bridge/ros2",
    "host_bridge/inputs/gamepad",
)  # fmt: skip
_TELLS = "it tells and decides nothing"
_SLOW = "its tests drive cars for seconds, too long to be asked a hundred times"
_SHOWS = "it shows what cars do, and neither drives nor stops"
_RCLPY = "it is rclpy's calls: tests under a real one, in processes, show it"
_SIMULATES = "it simulates cars for planners, and drives none"
_UNTRIED = "not yet tried"
_TABLES = "tables, which tests hold against their sources"
NOT_YET = {
    "firmware/core/contract.py": "it says what a board is, and does nothing",
    "firmware/core/link/event_reporter.py": _TELLS,
    "firmware/core/link/events.py": _TELLS,
    "firmware/core/motion/odometry.py": "120 of 600 were tried: last digits of sines survive",
    "firmware/core/link/telemetry.py": _TELLS,
    "host_bridge/sharing/owner/recording.py": _TELLS,
    "host_bridge/sharing/owner/taps.py": _TELLS,
    "host_bridge/sharing/owner/black_box.py": _TELLS,
    "host_bridge/sharing/owner/kept_stops.py": _TELLS,
    "host_bridge/sharing/owner/car_place.py": _TELLS,
    **{f"host_bridge/drive/{name}.py": _SLOW for name in ("drive", "drive_loop", "run")},
    "host_bridge/drive/trip_statistics.py": _TELLS,
    "host_bridge/drive/display/view.py": "it says what a view offers, and does nothing",
    **{f"host_bridge/drive/display/{name}.py": _TELLS for name in (
        "agreement", "lines", "screen",
    )},
    **{f"host_bridge/drive/lockstep/{name}.py": _UNTRIED for name in (
        "car", "command", "follower_faults", "loop", "service", "campaign/case",
        "campaign/course", "campaign/plan",
        "campaign/sampling", "campaign/spec", "campaign/store", "campaign/template",
        "campaign/trace", "campaign/detector", "campaign/judging/analysis",
        "campaign/judging/export",
        "campaign/judging/intervals", "campaign/judging/report", "campaign/judging/sensitivity",
        "campaign/judging/comparing", "campaign/judging/html", "campaign/judging/parts",
        "campaign/judging/progress",
        "campaign/rare/branches", "campaign/rare/design", "campaign/rare/estimate",
        "campaign/rare/forks", "campaign/rare/levels", "campaign/rare/splitting",
        "campaign/provenance", "campaign/ros_node", "campaign/runners/keeping",
        "campaign/runners/clusters", "campaign/runners/dask_runner",
        "campaign/runners/processes", "campaign/runners/worker",
    )},
    "host_bridge/sharing/endpoints/attached.py": _UNTRIED,
    **{f"host_bridge/sharing/network/{name}.py": _UNTRIED for name in (
        "guest_filter", "guest_link", "guest_session", "guests", "invitations",
        "link_test/findings", "link_test/probing", "network_car", "network_endpoint",
        "network_server", "private_files", "hosting/attestation", "hosting/stand_window",
        "hosting/visits", "sealed/handshake", "sealed/noise", "sealed/rate_limits",
        "sealed/sealing", "stops/fleet_messages", "stops/fleet_sockets", "stops/fleet_stop",
        "stops/network_stop", "stops/open_stops", "tokens",
    )},
    **{f"host_bridge/sharing/discovery/{name}.py": _UNTRIED for name in (
        "announcement", "announcer", "multicast_dns", "nearby",
    )},
    **{f"host_bridge/station/mavlink/{name}.py": _UNTRIED for name in (
        "acknowledgements", "commands", "driving/arming", "driving/driver",
        "driving/offboard", "endpoint", "gateway", "keys", "messages/dialect", "messages/frames",
        "messages/modes", "messages/parameters", "messages/schedule", "messages/statustext",
        "messages/telemetry", "requests", "run", "speaker", "stations",
    )},
    **{f"host_bridge/station/phone/{name}.py": _UNTRIED for name in (
        "certificates", "challenges", "phone_access", "phone_hold", "phone_seat", "phone_server",
        "phone_station", "phone_status",
    )},
    "host_bridge/cars/external_stop.py": _UNTRIED,
    "host_bridge/cars/car_text.py": _TELLS,
    "host_bridge/cars/refusals.py": _TELLS,
    **{f"host_bridge/station/views/{name}.py": why for name, why in (
        ("camera_server", _SHOWS), ("charts", _SHOWS), ("comparison", _SHOWS), ("feed", _SHOWS),
        ("floor", _SHOWS), ("page_style", _SHOWS), ("slider", _SHOWS),
        ("foxglove_server", _SHOWS), ("foxglove_layout", _SHOWS), ("car_row", _SHOWS),
        ("telemetry_view", _SHOWS), ("known_cars", _SHOWS), ("signals", _SHOWS),
        ("plots_page", _SHOWS),
    )},
    **{f"host_bridge/station/log_views/{name}.py": _SHOWS for name in (
        "cards", "laps", "page", "plots", "series", "state_strip",
    )},
    "host_bridge/station/log_views/folder.py": _UNTRIED,
    **{f"host_bridge/ros2/messages/{name}.py": why for name, why in (
        ("bag", _TELLS), ("covariances", _TELLS), ("urdf", _TELLS), ("frames", _TELLS),
        ("conversions", _TELLS), ("pose_topic", _TELLS), ("pose_source", _RCLPY),
    )},
    **{f"host_bridge/ros2/node/{name}.py": why for name, why in (
        ("robot_description", _TELLS), ("diagnostics", _TELLS), ("publishers", _TELLS),
        ("message_fillers", _TELLS), ("split_command", _UNTRIED), ("make_input", _UNTRIED),
        ("forgiveness", _UNTRIED), ("vesc_scale", _UNTRIED),
        ("vocabulary_adapter", _UNTRIED), ("sim_time", _UNTRIED), ("set_pose", _UNTRIED),
    )},
    "host_bridge/ros2/bus/bus.py": _RCLPY,
    **{f"host_bridge/ros2/bus/{name}.py": _UNTRIED for name in (
        "car_topics", "discovery_range", "executor_thread", "message_types", "responses",
    )},
    **{f"host_bridge/ros2/vocabularies/{name}.py": why for name, why in (
        ("registry", _UNTRIED), ("topics", "it says what a table is made of, and does nothing"),
        ("vocabulary", "it says what a vocabulary is, and does nothing"),
    )},
    **{f"host_bridge/ros2/vocabularies/{name}/vocabulary.py": _TABLES for name in (
        "autodrive", "autorally", "autoware", "cmd_vel", "f1tenth",
    )},
    **{f"host_bridge/ros2/vocabularies/{name}.py": _UNTRIED for name in (
        "autodrive/adapter", "autorally/adapter", "autorally/chassis_mux", "autorally/priorities",
        "autoware/adapter", "autoware/external", "autoware/gearbox", "f1tenth/config_files",
        "f1tenth/gym",
    )},
    **{f"host_bridge/ros2/planning_simulator/{name}.py": why for name, why in (
        ("node", _RCLPY), ("car", _SIMULATES), ("parameter_files", _SIMULATES),
        ("simulate", _SIMULATES), ("topics", "tables"),
    )},
    "host_bridge/ros2/tandem_ros/setup.py": "it installs",
    **{f"host_bridge/ros2/tandem_ros/launch/{name}.py": why for name, why in (
        ("car.launch", "it starts programs"), ("two_cars.launch", "it starts programs"),
    )},
    **{f"host_bridge/ros2/tandem_ros/tandem_ros/{name}.py": why for name, why in (
        ("car", _RCLPY), ("command", _TELLS), ("program", _RCLPY), ("options", _UNTRIED),
    )},
    "host_bridge/cars/virtual_cars.py": "it starts programs",
    **{f"host_bridge/sharing/{name}.py": _UNTRIED for name in ("connecting", "open_car")},
    **{f"host_bridge/sharing/services/{name}.py": _UNTRIED for name in (
        "cars", "configurations", "parameter_dialogue",
    )},
    **{f"host_bridge/sharing/endpoints/{name}.py": _UNTRIED for name in (
        "folders", "local_socket", "naming", "served",
    )},
    **{f"host_bridge/sharing/stop/{name}.py": _UNTRIED for name in (
        "frozen_stop", "listening", "reserve", "stop_calls", "stop_filter", "stop_sockets",
        "stop_words",
    )},
    "host_bridge/sharing/owner/radio_filter.py": _UNTRIED,
    "host_bridge/station/backend/camera_process.py": _SHOWS,
    "host_bridge/station/backend/camera_pictures.py": _SHOWS,
    "host_bridge/station/backend/foxglove_feeds.py": _SHOWS,
    "host_bridge/station/backend/plots_process.py": _SHOWS,
    "host_bridge/station/backend/replay_backend.py": _SHOWS,
    "host_bridge/station/backend/page_drive_view.py": _SHOWS,
    "host_bridge/station/server/page_files.py": _SHOWS,
    **{f"host_bridge/station/backend/{name}.py": _UNTRIED for name in (
        "live_backend", "page_requests", "programs", "red_flag", "slow_zone", "stand",
        "started_twins", "stop_rounds", "stop_tables", "watched_car",
    )},
    "host_bridge/inputs/gamepad/sdl.py": "it is SDL's events and no more: tests ask SDL itself",
    "host_bridge/inputs/gamepad/virtual.py": "a pad for tests",
}  # fmt: skip
GROUPS = {
    "the safety core": CORE,
    "beside it": BESIDE,
    "links and host": AROUND,
    "the station": STATION,
    "stations of others": MAVLINK,
    "ROS 2": ROS2,
    "pads": PADS,
}
PARTS = CORE + BESIDE + AROUND + INTERFACES
OF_ITS_OWN = AROUND + INTERFACES  # whose own tests are all that is asked
ROOT = Path(__file__).resolve().parents[2]
_FOLDER = "tests/firmware/core"
FAST = (_FOLDER,)  # what coverage is measured under
WHOLE_CAR = ("tests/firmware/test_core.py", "tests/firmware/test_driving.py")


def own_tests(part: Part) -> tuple[str, ...]:
    """Paths of the tests that are asked first, and from which a part is known to be touched."""
    return tuple(f"tests/{name}" if "/" in name else _core_test(name) for name in part.tests)


def _core_test(name: str) -> str:
    """Return the path of a test of firmware/core, in whatever room it lies."""
    (path,) = (ROOT / _FOLDER).rglob(f"test_{name}.py")
    return path.relative_to(ROOT).as_posix()


def tiers(part: Part) -> tuple[Tier, ...]:
    """The tests that may kill a part's mutants, its own first, the slow ones last.

    A mutant loops for ever if it takes five times as long as the unchanged source.
    """
    if part in OF_ITS_OWN:
        return (Tier(own_tests(part), part.cpu_s),)
    return (Tier(own_tests(part), part.cpu_s), Tier(FAST, 30), Tier(WHOLE_CAR, 120))
