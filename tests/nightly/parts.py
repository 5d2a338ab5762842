"""The tables: the parts of a night, and the studies, which take longer than a part of a night.

Hours are of two cores with nothing else to do, by estimate until a run has measured them: what a
part took the last time, kept beside its verdict, counts before the table.
"""

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from tests.proof.alphabets import ALL

ROOT = Path(__file__).resolve().parents[2]
# The interpreter as a person would type it
PYTHON = sys.executable.removeprefix(f"{ROOT}{os.sep}")
_ON_TWO_CORES = ("-n", "2", "--dist", "loadgroup")
PYTEST = (PYTHON, "-m", "pytest", *_ON_TWO_CORES)
MEASURED = (PYTHON, "-m", "tests.tools.running.measured", *_ON_TWO_CORES)
MINUTES, KEPT, LOG = "{minutes}", "{kept}", "{log}"  # put in when it is run
SOAK_TIMEOUT = "--timeout=7200"  # seconds for one test, as in `make soak`


class Part(NamedTuple):
    """One command with a verdict of its own."""

    name: str
    command: tuple[str, ...]
    hours: float
    sources: tuple[str, ...] = ()  # globs of what the verdict depends on; of none: everything
    why: str = ""  # of a study: why it is no part of a night

    @property
    def takes_the_rest(self) -> bool:
        """Whether it goes on another night where it was, so that any time fits."""
        return MINUTES in self.command


def fast(*words: str) -> tuple[str, ...]:
    """The command that runs Python on these words with the virtual car in machine code."""
    text = '"$0" -m sim_mock.runtime.compiled && TANDEM_FAST=1 exec "$0" "$@"'
    return ("sh", "-c", text, PYTHON, *words)


# All tests but the soak's. Name, hours, globs below tests/.
PIECES: tuple[tuple[str, float, tuple[str, ...]], ...] = (
    ("firmware core", 0.1, ("firmware/core/**/*", "firmware/*", "firmware/protocol/*")),
    ("firmware boards", 0.1, ("firmware/boards/**/*",)),
    ("firmware drivers", 0.05, ("firmware/drivers/**/*",)),
    ("safety", 0.2, tuple(
        f"safety/{it}/*" for it in ("case", "inputs", "stops", "times", "ways"))),
    ("attackers", 0.4, ("safety/attackers/*",)),
    ("sim_mock", 0.15, ("sim_mock/*", *(f"sim_mock/{it}/*" for it in (
        "autodrive", "bodies", "files", "hitl", "plant", "programs", "runtime", "sensors",
        "tracks", "virtual_car")))),
    ("sim_mock models", 0.1, ("sim_mock/models/**/*",)),
    ("sim_mock faults", 0.1, ("sim_mock/faults/**/*",)),
    ("host_bridge", 0.2, ("host_bridge/cli/**/*", "host_bridge/core/**/*")),
    ("links and logs", 0.1, tuple(f"host_bridge/{it}/*" for it in
                                  ("api", "cars", "config", "link/*", "logs"))),
    ("driving and demo", 0.15, tuple(f"host_bridge/{it}/*" for it in ("demo", "drive/**"))),
    ("flash and selftest", 0.15, ("host_bridge/deploy/**/*",)),
    ("sharing", 0.15, ("host_bridge/sharing/**/*",)),
    ("inputs", 0.2, ("host_bridge/inputs/**/*", "host_bridge/mapping/**/*")),
    ("ros2", 0.1, ("host_bridge/ros2/**/*",)),
    ("station", 0.2, ("host_bridge/station/**/*",)),
    ("ros", 0.4, ("ros/**/*",)),
    ("calibration", 0.5, ("calibration/**/*",)),
    ("hardware", 0.1, ("hardware/*",)),
    ("tools", 0.3, tuple(f"{it}/**/*" for it in
                         ("bench", "mutants", "nightly", "proof", "studies", "support", "tools"))),
)  # fmt: skip

# The long tests. Name, hours, globs below tests/, whether in machine code.
SOAKS: tuple[tuple[str, float, tuple[str, ...], bool], ...] = (
    ("soak of cars", 0.6, ("nightly/soak/test_car_soak.py",), True),
    ("soak of the host", 0.5, ("nightly/soak/test_host_soak.py",), True),
    ("soak of the demo", 0.3, ("host_bridge/demo/test_busy.py",), False),
    ("soak of frames", 0.1, ("firmware/protocol/test_fuzz.py",), False),
    ("soak of encoders", 0.1, ("firmware/drivers/pio/test_quadrature_walk.py",), False),
    ("soak of files", 0.2, ("host_bridge/logs/test_damaged_files.py",), False),
    ("soak of VESCs", 0.1, ("host_bridge/deploy/selftest/test_vesc_command.py",), False),
    ("soak of the page", 0.5, ("host_bridge/station/test_holds.py",), False),
    ("soak of planted faults", 0.1, ("tools/running/test_planted.py",), False),
    ("soak of the proof", 0.7, ("proof/**/*",), False),
    ("soak of ros", 0.5, ("ros/**/*",), False),
    (
        "soak of rare events",
        0.15,
        ("host_bridge/drive/lockstep/campaign/rare/test_rare_campaign.py",),
        True,
    ),
    ("soak of tyres", 0.4, ("sim_mock/plant/test_grip_is_never_exceeded.py",), False),
)

# Seconds of the alphabets that are more than half a minute (tests/proof/README.md)
_PROOF_S = {"rolling": 64, "faults": 53, "receiver": 76, "receiver in race": 29,
            "receiver and pad": 119, "box": 52, "paired box": 62, "key": 92,
            "frozen": 55, "silent": 227}  # fmt: skip


def files_of(globs: Sequence[str]) -> tuple[str, ...]:
    """The test files that these globs name, from the root."""
    found = {path for glob in globs for path in (ROOT / "tests").glob(f"{glob}")}
    tests = {it for it in found if it.name.startswith("test_") and it.suffix == ".py"}
    return tuple(sorted(it.relative_to(ROOT).as_posix() for it in tests))


def _piece(name: str, hours: float, globs: Sequence[str]) -> Part:
    """What was not measured is run again alone."""
    words = (*MEASURED, "-m", "not soak", f"--junit-xml={LOG}.xml", *files_of(globs))
    return Part(name, words, hours)


def _soak(name: str, hours: float, globs: Sequence[str], is_fast: bool) -> Part:
    words = (*PYTEST, "-m", "soak", SOAK_TIMEOUT, *files_of(globs))
    return Part(name, fast(*words[1:]) if is_fast else words, hours)


NIGHT: tuple[Part, ...] = (
    Part("check", ("make", "check"), 0.1),
    Part("machine code", (PYTHON, "-m", "sim_mock.runtime.compiled"), 0.1),
    *(_piece(*row) for row in PIECES),
    Part("faults", (PYTHON, "-m", "host_bridge.cli.main", "faults"), 0.3),
    Part("stops", (PYTHON, "-m", "host_bridge.cli.main", "faults", "--stops"), 0.3),
    *(
        Part(f"proof of {it.name}", (PYTHON, "-m", "tests.proof", it.name),
             _PROOF_S.get(it.name, 30) / 1800)
        for it in ALL
    ),
    *(_soak(*row) for row in SOAKS),
    Part("mutants", (PYTHON, "-m", "tests.mutants", "--all", "--minutes", MINUTES), 4.0),
)  # fmt: skip

_CAR = ("firmware/**/*.py", "sim_mock/**/*.py", "hardware/**/*.py", "hardware/vehicles/*",
        "hardware/boards/*", "requirements.lock")  # fmt: skip
_FITS = (*_CAR, "calibration/**/*", "host_bridge/**/*.py", "host_bridge/**/*.toml")
_HOST = (*_CAR, "host_bridge/**/*.py", "host_bridge/**/*.toml")
_KEPT_ROWS = "tests/support/kept_rows.py"
_ONE_DRIVE = "tests/support/one_drive.py"
_KEPT_SHARES = (_KEPT_ROWS, "tests/support/shares.py")
_CARS = f"{KEPT}/cars.jsonl"
_STUDY = ("-m", "tests.studies.calibration_study", "--cars", "500", "--faulty", "200")

STUDIES: tuple[Part, ...] = (
    Part("calibration", fast(*_STUDY, "--jobs", "2", "--into", _CARS), 4.0,
         (*_FITS, *_KEPT_SHARES, "tests/studies/calibration_*.py"),
         "fits 700 made cars, seconds to a minute of a core each; goes on where it was"),
    Part("calibration holds", ("env", f"TANDEM_STUDY_CARS={_CARS}", *PYTEST[:3], "-m", "soak", "-s",
                               "tests/nightly/soak/test_calibration_soak.py"), 0.1,
         (*_FITS, *_KEPT_SHARES, "tests/studies/calibration_*.py", "tests/nightly/soak/*.py",
          "tests/conftest.py"),
         "asks of the cars of the study before it what their intervals and bands have to hold"),
    Part("calibration logs", fast("-m", "tests.studies.logs.log_study", "--cars", "1000",
                                  "--jobs", "2", "--into", f"{KEPT}/logs.jsonl"), 4.0,
         (*_FITS, *_KEPT_SHARES, "tests/studies/logs/log_*.py"),
         "calibrates 1000 made cars from each of six kinds of log, three seconds of a core each"),
    Part("guide", (PYTHON, "-m", "tests.studies.logs.guide_study", "--cars", "12"), 1.5,
         (*_FITS, "tests/studies/logs/guide_study.py", "tests/calibration/hidden.py"),
         "has `tandem calibrate --guide` find twelve hidden cars, minutes each on one core"),
    Part("accidents", (PYTHON, "-m", "tests.studies.accident_study", "--accidents", "200",
                       "--controls", "100", "--into", f"{KEPT}/accidents.jsonl"), 3.0,
         (*_FITS, _KEPT_ROWS, "tests/studies/accident_study.py", _ONE_DRIVE),
         "plants 200 accidents and 100 ordinary stops, half a minute of a core each"),
    Part("causes", fast("-m", "tests.studies.logs.cause_study", "--causes", "200",
                        "--controls", "100", "--first", "1300000",
                        "--into", f"{KEPT}/causes.jsonl"), 0.5,
         (*_FITS, _KEPT_ROWS, "tests/studies/logs/cause_study.py", _ONE_DRIVE),
         "plants 200 causes by which a car differs from its twin, and 100 cars in order"),
    Part("races", fast("-m", "tests.studies.racing.race", "--seeds", "10",
                       "--into", f"{KEPT}/races.jsonl"), 1.5,
         (*_HOST, _KEPT_ROWS, "tests/studies/racing/*.py"),
         "races of ten laps by four laws, localised by LIDAR, minutes each on one core"),
    Part("autorally", fast("-m", "tests.studies.racing.autorally",
                           "--into", f"{KEPT}/autorally.jsonl"), 0.3,
         (*_HOST, _KEPT_ROWS, "tests/studies/racing/*.py"),
         "laps of AutoRally's track by the paper's cost, minutes each on one core"),
    Part("hours over the air", fast("-m", "tests.host_bridge.sharing.network.hours",
                                    "--hours", "10", "--air", "10 % lost, 10 ms one way"), 4.0,
         (*_HOST, "tests/host_bridge/sharing/network/*.py", "tests/ros/reaction/impairment.py"),
         "drives a virtual car for ten hours through both ends of a guest's sealed session"),
    Part("a day each", ("env", "TANDEM_SOAK_HOURS=24", *fast(
             *PYTEST[1:], "-m", "soak", "--timeout=90000", "tests/nightly/soak/test_car_soak.py",
             "tests/nightly/soak/test_host_soak.py")), 7.0,
         (*_CAR, "host_bridge/**/*.py", "host_bridge/**/*.toml", "tests/nightly/soak/*.py",
          "tests/conftest.py", "tests/support/*.py", "tests/firmware/*.py",
          "tests/host_bridge/**/*.py"),
         "drives each of the soak's five cars and fleets for a virtual day, five times the soak"),
)  # fmt: skip
