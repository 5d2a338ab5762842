"""Refuses words that were given up for the field's own, in names and in prose.

``ROWS`` is the table of them, each with what is said in its place. A word in small letters is
found wherever its parts stand together in a name, of any case: ``take_for`` in ``_take_for_car``
and ``TakeForCar``. One with a capital is the whole name of a class. Many were ordinary English
too, which goes on being so: a row says where it holds. A test's name is a sentence, and no name.
Names that a hash covers stay as they are, whatever they are made of: of messages, codes, events
and parameters (``HASHED``).

    python tests/tools/rules/writing/retired_words.py
"""

import ast
import io
import re
import sys
import tokenize
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.tools.rules.refusing import told, tracked_files

ROOT = Path(__file__).resolve().parents[4]
CODE, PRODUCT, BOTH = "code and tests", "code", "code, tests and prose"


@dataclass(frozen=True)
class Retired:
    """A word that was given up, what is said in its place, and where that holds."""

    word: str
    instead: str
    where: str = CODE

    @property
    def is_class(self) -> bool:
        return self.word[0].isupper()

    def is_in(self, name: str) -> bool:
        """Return True if this name of the code has the word."""
        if self.is_class:
            return name.strip("_") == self.word
        return f"_{self.word}_" in f"_{'_'.join(parts(name))}_"

    @property
    def pattern(self) -> str:
        """The pattern of the word in prose: whole words, which no hyphen makes others of."""
        return rf"(?<![\w-]){self.word.replace('_', '[ -]')}(?![\w-])"


ROWS = (
    # --- what drives, and a session
    Retired("wish", "drive_command"),
    Retired("Order", "OperatorRequest", PRODUCT),
    Retired("Reach", "InputLimits"),
    Retired("Setting", "InputContext"),
    Retired("seating", "input_context"),
    Retired("take_controls", "open_inputs"),
    Retired("lets_apart", "has_separate_enable"),
    Retired("woken", "wake_signal", PRODUCT),
    Retired("deed", "operator_action", PRODUCT),
    Retired("deeds", "operator_actions", PRODUCT),
    Retired("capping", "cap_action"),
    Retired("glance", "read_status_once"),
    Retired("glanced", "read_status_once"),
    Retired("take_for", "assume_vehicle"),
    Retired("sign_of_life", "stop_source_heartbeat", BOTH),
    Retired("signs_of_life", "heartbeats, or answers", BOTH),
    Retired("stroke", "key_event", PRODUCT),
    Retired("strike", "on_key", PRODUCT),
    Retired("Hands", "KeyboardInput, GamepadInput"),
    # --- the car
    Retired("hearing", "message_dispatcher", PRODUCT),
    Retired("chronicle", "event_reporter in the car, event_stream on the host", BOTH),
    Retired("Watch", "FaultMonitor", PRODUCT),
    Retired("punctuality", "overruns", BOTH),
    Retired("hitl_door", "hitl_entry", BOTH),
    Retired("Nothing", "UnusedChannel", PRODUCT),
    Retired("Metal", "BoardHardware, or a real board", PRODUCT),
    # --- the host, its owner and its station
    Retired("Rim", "Endpoint", PRODUCT),
    Retired("rims", "endpoints", PRODUCT),
    Retired("Door", "AccessRules", PRODUCT),
    Retired("Doors", "AccessRules", PRODUCT),
    Retired("yard", "station_backend", BOTH),
    Retired("Sight", "LinearisedRun in a fit, TelemetryView in the station", PRODUCT),
    Retired("Linked", "LinkEndpoint", PRODUCT),
    Retired("partner", "endpoint", PRODUCT),
    Retired("HostContext", "Host"),
    Retired("logbook", "log, logs", BOTH),
    Retired("phrased", "event_text"),
    Retired("warmth", "temperature_text"),
    Retired("longer_step", "period_prompt"),
    Retired("lidar_word", "lidar_option"),
    Retired("aftercare", "commissioning", BOTH),
    Retired("allotment", "pin allocation", BOTH),
    Retired("allotted", "allocated"),
    Retired("homeless", "unplaced", BOTH),
    # --- calibration
    Retired("sights", "linearised_runs"),
    Retired("Looks", "ResidualModel", PRODUCT),
    Retired("See", "ResidualModel", PRODUCT),
    Retired("Lack", "LackOfFitTest", PRODUCT),
    Retired("wobble", "noise", PRODUCT),
    Retired("belief", "prior", BOTH),
    Retired("beliefs", "priors", BOTH),
    Retired("untold", "not_identifiable"),
    Retired("sooner", "c_counterpart", PRODUCT),
    # --- the virtual car, faults and the demo
    Retired("Facts", "VirtualCarConfig", PRODUCT),
    Retired("CarFacts", "VirtualCarConfig"),
    Retired("VehicleFacts", "VirtualCarConfig"),
    Retired("Paced", "RealTimeLoop", PRODUCT),
    Retired("Pace", "RealTimeSchedule", PRODUCT),
    Retired("befall", "apply", BOTH),
    Retired("Trouble", "FaultInjector", PRODUCT),
    Retired("troubled", "faulty", PRODUCT),
    Retired("Scene", "DemoRun, FaultTrial, SharedTrack", PRODUCT),
    Retired("crew", "demo_cars", BOTH),
    Retired("peers", "baselines", PRODUCT),
    Retired("puppet", "driver", PRODUCT),
    # --- ROS 2 and scripts
    Retired("manner", "adapter", PRODUCT),
    Retired("citizen", "RobotDescriptionPublisher", BOTH),
    Retired("telling", "publishers", PRODUCT),
    Retired("Heard", "Subscription", PRODUCT),
    Retired("Said", "Publication", PRODUCT),
    Retired("may_lack", "is_optional"),
    Retired("Asked", "NodeApi, Request, ScriptCommand", PRODUCT),
    Retired("Halves", "SplitCommand", PRODUCT),
    Retired("placing", "set_pose", PRODUCT),
    Retired("waiter", "executor_thread", PRODUCT),
    Retired(
        "said",
        "sent, published, a report, an output, a note",
        PRODUCT,
    ),
)
IN_PROSE = tuple(row for row in ROWS if row.where == BOTH)
ANY_IN_PROSE = re.compile("|".join(row.pattern for row in IN_PROSE), re.IGNORECASE)
# Names that a hash covers: an old board and an old log know them
HASHED = ("firmware/protocol/*.py", "firmware/core/settings/params.py")
# What tells of old names: the pages of what changed, and the tests that an old name still works
TELLS = ("CHANGELOG.md", "tests/host_bridge/api/test_api.py")
ITSELF = "tests/tools/"
_APART = {ord(mark): None for mark in "_- "}


def parts(name: str) -> tuple[str, ...]:
    """Return the words of a name in small letters: split at underscores and at capitals."""
    return tuple(it.lower() for it in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+", name))


def hashed_names(root: Path) -> frozenset[str]:
    """Return the names and the texts of the tables that a hash covers."""
    found: set[str] = set()
    for pattern in HASHED:
        for path in root.glob(pattern):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    found.add(node.id)
                elif isinstance(node, ast.ClassDef):
                    found.add(node.name)
                elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                    found.add(node.value)
    return frozenset(found)


def names_and_prose(text: str) -> tuple[list[tuple[int, str]], list[tuple[int, str]]]:
    """Return the names of a Python file, and its comments and docstrings by their lines."""
    names, prose = [], []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.NAME:
            names.append((token.start[0], token.string))
        elif token.type == tokenize.COMMENT:
            prose.append((token.start[0], token.string))
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if not isinstance(body, list) or not body or not isinstance(body[0], ast.Expr):
            continue
        said = body[0].value
        if isinstance(said, ast.Constant) and isinstance(said.value, str):
            prose += enumerate(said.value.splitlines(), said.lineno)
    return names, prose


@cache  # a tree has ten thousand names, each many times
def retired_in(name: str, is_test: bool) -> tuple[Retired, ...]:
    """Return the rows whose word a name has."""
    where = (CODE, BOTH) if is_test else (CODE, BOTH, PRODUCT)
    return tuple(row for row in ROWS if row.where in where and row.is_in(name))


def may_have_one(text: str) -> bool:
    """Return False for most files, which are then not read token by token."""
    run_together = text.lower().translate(_APART)
    return any(
        row.word in text if row.is_class else row.word.replace("_", "") in run_together
        for row in ROWS
    )


def refusals_in(file: str, text: str, hashed: frozenset[str]) -> Iterator[str]:
    """Yield what is refused in one file, with its line and what to say instead."""
    if not may_have_one(text):
        return
    is_page = file.endswith(".md")
    names, prose = ([], [*enumerate(text.splitlines(), 1)]) if is_page else names_and_prose(text)
    for line, name in sorted(set(names)):
        if name.startswith("test_") or name in hashed:
            continue
        for row in retired_in(name, file.startswith("tests/")):
            yield f"{file}:{line}: {name!r}: {row.word} is retired; say {row.instead}"
    for line, words in prose:
        if not ANY_IN_PROSE.search(words):
            continue
        for row in IN_PROSE:
            if re.search(row.pattern, words, re.IGNORECASE):
                yield f"{file}:{line}: {row.word!r} is retired in prose too; say {row.instead}"


def refusals(root: Path, files: Iterable[str]) -> list[str]:
    """List what is refused in these files. Raises ValueError if there is nothing to look at."""
    looked_at = [
        file
        for file in files
        if file.endswith((".py", ".md")) and file not in TELLS and not file.startswith(ITSELF)
    ]
    if not looked_at:
        raise ValueError("no page and no file of Python")
    hashed = hashed_names(root)
    return [
        refusal
        for file in looked_at
        for refusal in refusals_in(file, (root / file).read_text(encoding="utf-8"), hashed)
    ]


def main() -> int:
    """Print what is refused; 1 if anything is."""
    files = [file for file in tracked_files(ROOT) if (ROOT / file).is_file()]
    return told(refusals(ROOT, files))


if __name__ == "__main__":
    sys.exit(main())
