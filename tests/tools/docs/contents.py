"""The table of contents of the site: each page of the repository once, by what a reader wants.

A row is (title in the menu, page without its ending). A page that is missing here, or that is not
there, ends `make docs` with an error. Pages of `reference/` are written by `reference`.
"""

START = "index"  # README.md

SECTIONS: tuple[tuple[str, tuple[tuple[str, str], ...]], ...] = (
    (
        "Tutorials",
        (
            ("First drive", "host_bridge/cli/first_drive"),
            ("A car and its twin", "host_bridge/cli/car_and_twin"),
            ("A car of your own", "hardware/vehicles/own_car"),
            ("A ROS 2 node drives", "host_bridge/ros2/first_node"),
        ),
    ),
    (
        "How-to",
        (
            ("Drive from a script", "host_bridge/api/README"),
            ("Train in Gymnasium", "host_bridge/api/tandem/gym/README"),
            ("Drive from a terminal", "host_bridge/drive/README"),
            ("Use the station", "host_bridge/station/README"),
            ("Inputs", "host_bridge/inputs/README"),
            ("Keyboard", "host_bridge/inputs/keyboard/README"),
            ("Gamepads and wheels", "host_bridge/inputs/gamepad/README"),
            ("Paths", "host_bridge/inputs/paths/README"),
            ("Policies", "host_bridge/inputs/policies/README"),
            ("Maps and localisation", "host_bridge/mapping/README"),
            ("Drives in lockstep", "host_bridge/drive/lockstep/README"),
            ("Campaigns", "host_bridge/drive/lockstep/campaign/README"),
            ("Cars over the air", "host_bridge/sharing/network/README"),
            ("AutoDRIVE Devkit scripts", "host_bridge/inputs/autodrive/README"),
            ("AutoDRIVE Simulator", "sim_mock/autodrive/README"),
            ("ROS 2", "host_bridge/ros2/README"),
            ("MAVLink stations", "host_bridge/station/mavlink/README"),
            ("ROS 2: a colcon workspace", "host_bridge/ros2/tandem_ros/README"),
            ("ROS 2: vocabularies", "host_bridge/ros2/vocabularies/README"),
            ("From F1TENTH", "host_bridge/ros2/vocabularies/f1tenth/README"),
            ("From AutoDRIVE", "host_bridge/ros2/vocabularies/autodrive/README"),
            ("From Autoware", "host_bridge/ros2/vocabularies/autoware/README"),
            ("From AutoRally", "host_bridge/ros2/vocabularies/autorally/README"),
            ("From cmd_vel", "host_bridge/ros2/vocabularies/cmd_vel/README"),
            ("Planning simulator", "host_bridge/ros2/planning_simulator/README"),
            ("Virtual cars", "sim_mock/README"),
            ("Tracks and maps", "sim_mock/tracks/README"),
            ("Record and replay", "host_bridge/logs/README"),
            ("Calibrate a car", "calibration/README"),
            ("Build a car", "hardware/bring_up"),
            ("Flash a board", "host_bridge/deploy/flash/README"),
            ("Measure a board", "host_bridge/deploy/hil/README"),
            ("Build a runstop", "hardware/runstop"),
            ("See what is missing", "host_bridge/deploy/doctor/README"),
            ("Report a weakness", "SECURITY"),
        ),
    ),
    (
        "Reference",
        (
            ("Commands", "reference/commands/index"),
            ("Exit codes", "host_bridge/cli/README"),
            ("Python API", "reference/api"),
            ("Python API for packages of yours", "reference/doors"),
            ("Keys of a vehicle file", "reference/vehicle_keys"),
            ("States, events and faults", "reference/texts"),
            ("Messages on the wire", "reference/messages"),
            ("Vehicle files", "hardware/vehicles/README"),
            ("Board files", "hardware/boards/README"),
            ("Hardware", "hardware/README"),
            ("Drivers", "firmware/drivers/README"),
            ("Boards", "firmware/boards/README"),
            ("Protocol", "firmware/protocol/README"),
            ("ROS 2 topics", "host_bridge/ros2/TOPICS"),
            ("Files that people bring", "sim_mock/files/README"),
            ("Keys of all files", "sim_mock/files/REFERENCE"),
            ("Transports", "host_bridge/link/transports/README"),
            ("Plant", "sim_mock/plant/README"),
            ("Models of the dynamics", "sim_mock/models/README"),
            ("Sensors", "sim_mock/sensors/README"),
            ("Scenarios", "sim_mock/faults/scenarios/README"),
            ("Glossary", "GLOSSARY"),
            ("Changelog", "CHANGELOG"),
        ),
    ),
    (
        "Explanation",
        (
            ("How it fits together", "ARCHITECTURE"),
            ("Safety promises", "firmware/core/SAFETY"),
            ("Safety case", "tests/safety/case/README"),
            ("Figures of the safety case", "tests/safety/case/FIGURES"),
            ("Arbitration and stops", "firmware/core/README"),
            ("Stopping without a program", "hardware/stopping"),
            ("Faults, and stops in metres", "sim_mock/faults/README"),
            ("Clocks, links and frames", "host_bridge/link/README"),
            ("One car, many programs", "host_bridge/sharing/README"),
            ("Cars, fleets and twins", "host_bridge/cars/README"),
            ("What the twin was held against", "calibration/results/VALIDATION"),
            ("Nigel's calibration", "calibration/results/README"),
            ("Why a Pico 2", "firmware/RP2040"),
        ),
    ),
    (
        "Development",
        (
            ("Contribute", "CONTRIBUTING"),
            ("Firmware", "firmware/README"),
            ("Host", "host_bridge/README"),
            ("Host: core", "host_bridge/core/README"),
            ("Host: configuration", "host_bridge/config/README"),
            ("Host: what it keeps", "host_bridge/config/store/README"),
            ("Host: deployment", "host_bridge/deploy/README"),
            ("Host: services", "host_bridge/sharing/services/README"),
            ("Demo", "host_bridge/demo/README"),
            ("Host: a sample drive", "host_bridge/logs/samples/README"),
            ("Calibration: logs", "calibration/logs/README"),
            ("Calibration: regression", "calibration/regression/README"),
            ("Virtual cars: board", "sim_mock/board/README"),
            ("Virtual cars: bodies", "sim_mock/bodies/README"),
            ("Virtual cars: hardware in the loop", "sim_mock/hitl/README"),
            ("Virtual cars: programs", "sim_mock/programs/README"),
            ("Virtual cars: transport", "sim_mock/virtual_car/README"),
            ("Tests", "tests/README"),
            ("Tests: bench", "tests/bench/README"),
            ("Tests: firmware", "tests/firmware/README"),
            ("Tests: boards", "tests/firmware/boards/README"),
            ("Tests: drivers", "tests/firmware/drivers/README"),
            ("Tests: mutants", "tests/mutants/README"),
            ("Tests: nightly", "tests/nightly/README"),
            ("Tests: soak", "tests/nightly/soak/README"),
            ("Tests: proof", "tests/proof/README"),
            ("Tests: safety", "tests/safety/README"),
            ("Tests: attackers", "tests/safety/attackers/README"),
            ("Tests: studies", "tests/studies/README"),
            ("Tests: this site", "tests/tools/docs/README"),
        ),
    ),
)


def toctrees() -> str:
    """The contents as MyST writes them: one hidden tree a section, which the menu shows."""
    trees = []
    for caption, rows in SECTIONS:
        listed = "\n".join(f"{title} </{page}>" for title, page in rows)
        trees.append(f"```{{toctree}}\n:hidden:\n:caption: {caption}\n\n{listed}\n```\n")
    return "\n".join(trees)
