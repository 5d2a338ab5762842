"""Refuses a text that shows a person a name of the code, unless it is one that they type.

A name is a word that no prose has: ``snake_case``, ``CapitalsRunTogether``, ``WITH_LINES``. In a
text of the product (a string of several words that is no docstring) it has to be something that is
typed, or read in a file: somewhere in the product or in its data it stands by itself, as a key, a
column, a value, a topic; or it is a row of ``FOREIGN``. Nor does a text have a class's name in it,
nor what Python says of an error that no reader of files has worded.

Texts that a machine reads (``PROGRAMS``), and assertions, are no prose.

    python tests/tools/rules/program/raw_names_rule.py
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tests.tools.rules.refusing import product_files, told

ROOT = Path(__file__).resolve().parents[4]
NAME = re.compile(
    r"(?<![\w/.\-{=$])(?:[a-z][a-z0-9]*(?:_[a-z0-9]+)+|[A-Z][a-z]+(?:[A-Z][a-z]+)+"
    r"|[A-Z]+(?:_[A-Z0-9]+)+)(?![\w(]|/|\.\w)"
)
DATA = ("*.toml", "*.csv", "*.yaml")
# Names of others, by what they are
FOREIGN = {
    "ArduPilot": "a program",
    "AutoDRIVE": "a program",
    "AutoRally": "a car and its program",
    "CommonRoad": "a project",
    "LiPo": "a kind of battery",
    "McNemar": "a person, for whom a test is named",
    "MicroPython": "a program",
    "QinHeng": "a maker",
    "WezTerm": "a program",
    "ROS_AUTOMATIC_DISCOVERY_RANGE": "a variable that ROS reads",
    "ROS_LOCALHOST_ONLY": "a variable that ROS reads",
    "accel_map": "a table of Autoware's",
    "brake_map": "a table of Autoware's",
    "f1tenth_gym_ros": "a package of ROS",
    "kbd_intr": "a function of MicroPython's",
    "map_saver": "a program of ROS",
    "map_server": "a program of ROS",
    "motion_publish_mode": "an argument of Autoware's launch files",
    "raw_vehicle_cmd_converter": "a node of Autoware's",
    "render_mode": "an argument of Gymnasium's",
    "teleop_twist_keyboard": "a program of ROS",
    "ticks_us": "a function of MicroPython's",
    # examples of names of one's own
    "bad_link": "an example",
    "my_car": "an example",
    "my_nigel": "an example",
    # the parts of a value, in their order
    "pulse_ns": "of a servo's table",
    "pulse_us": "of a servo's table",
    "towards_deg": "of a virtual car's wind",
    "up_deg": "of a virtual car's slope",
}
PROGRAMS = {
    "hardware/drawing/pictures.py": "a style of matplotlib's",
    "host_bridge/cli/commands/completion.py": "scripts of shells",
    "host_bridge/deploy/autostart/unit.py": "a unit of systemd's",
    "host_bridge/deploy/doctor/udev.py": "rules of udev's",
    "host_bridge/deploy/flash/board/board.py": "a program for a board",
    "host_bridge/deploy/flash/board/pairing_key.py": "a program for a board",
    "host_bridge/logs/bags/writing.py": "a bag's metadata",
    "host_bridge/logs/bags/ros_types.py": "layouts of messages",
    "host_bridge/station/phone/phone_server.py": "a cookie",
}
# Where a class's name, or Python's words, are what has to be shown
SHOWN = {
    "host_bridge/api/tandem/car_reports.py": "an object as Python itself shows it",
    "host_bridge/cars/external_stop.py": "what is wrong with another package's stop source",
    "host_bridge/cli/commands/stop_source.py": "what another package's stop source raised",
    "host_bridge/drive/drive.py": "what another package's input raised",
    "host_bridge/drive/lockstep/campaign/rare/forks.py": "what a case raised",
    "host_bridge/drive/lockstep/campaign/runners/dask_runner.py": "what a worker raised",
    "host_bridge/drive/lockstep/campaign/runners/worker.py": "what a case raised",
    "host_bridge/inputs/function.py": "what a user's own function raised",
    "host_bridge/ros2/vocabularies/registry.py": "what is wrong with another package's vocabulary",
    "host_bridge/station/views/foxglove_server.py": "what Foxglove's library says",
    "sim_mock/files/yaml_document.py": "what the YAML library says",
    "sim_mock/models/planning/learned.py": "what is wrong with a user's own module",
}
UNWORDED = ("Exception", "KeyError", "TypeError", "AttributeError", "IndexError")


def texts_of(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and the text of each string of the code; {} stands for what is filled in."""
    left: set[int] = set()
    strings: list[ast.JoinedStr | ast.Constant] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr):
            left.add(id(node.value))
        elif isinstance(node, ast.Assert):
            left |= {id(part) for part in ast.walk(node)}
        elif isinstance(node, ast.JoinedStr):
            left |= {id(part) for part in node.values}
            strings.append(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.append(node)
    for string in strings:
        if id(string) not in left:
            parts = string.values if isinstance(string, ast.JoinedStr) else [string]
            text = (str(it.value) if isinstance(it, ast.Constant) else "{}" for it in parts)
            yield string.lineno, "".join(text)


def typed_words(
    trees: Iterable[ast.AST], texts: Iterable[list[tuple[int, str]]], root: Path
) -> frozenset[str]:
    """Return what stands by itself in these files or in data, and is no class of theirs."""
    classes = {it.name for tree in trees for it in ast.walk(tree) if isinstance(it, ast.ClassDef)}
    found = set(FOREIGN)
    for _, text in (row for rows in texts for row in rows):
        if " " not in text.strip():
            found |= set(re.findall(r"\w+", text))
    for path in (path for pattern in DATA for path in root.glob(f"[a-z]*/**/{pattern}")):
        found |= {path.stem, *re.findall(r"\w+", path.read_text(encoding="utf-8"))}
    return frozenset(found - classes)


def raw_names(text: str, typed: frozenset[str]) -> list[str]:
    """List the names in a text that nobody types. A type in quotes is no text."""
    if " " not in text or text.endswith(" | None"):
        return []
    return [name for name in NAME.findall(text) if name not in typed]


def words_of_python(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield where a text is made of a class's name, or of an error that nobody worded."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FormattedValue | ast.keyword):
            for part in ast.walk(node.value):
                if isinstance(part, ast.Attribute) and ast.unparse(part).endswith(").__name__"):
                    yield part.lineno, ast.unparse(part)
        elif isinstance(node, ast.ExceptHandler) and node.name and _is_unworded(node.type):
            yield from _made_of_error(node)


def _is_unworded(caught: ast.expr | None) -> bool:
    return caught is not None and bool({*UNWORDED} & {*re.findall(r"\w+", ast.unparse(caught))})


def _made_of_error(handler: ast.ExceptHandler) -> Iterator[tuple[int, str]]:
    for node in ast.walk(handler):
        parts: list[ast.expr] = []
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("str", "repr"):
            parts = node.args
        elif isinstance(node, ast.FormattedValue):
            parts = [node.value]
        if any(isinstance(it, ast.Name) and it.id == handler.name for it in parts):
            yield node.lineno, ast.unparse(node)


def refusals(sources: Mapping[str, str], root: Path) -> list[str]:
    """List what is refused in these files. Raises ValueError if there is none."""
    if not sources:
        raise ValueError("no file of the product")
    trees = {file: ast.parse(source) for file, source in sources.items()}
    texts = {file: [*texts_of(tree)] for file, tree in trees.items()}
    typed = typed_words(trees.values(), texts.values(), root)
    found, shown = [], set()
    for file, tree in trees.items():
        if file.startswith("firmware/"):  # what a board says are codes, which the host words
            continue
        found += [
            f"{file}:{line}: {name!r} is no word that anybody types: say what it is"
            for line, text in texts[file]
            if file not in PROGRAMS
            for name in raw_names(text, typed)
        ]
        if not any(word in sources[file] for word in ("__name__", *UNWORDED)):
            continue
        for line, part in words_of_python(tree):
            shown.add(file)
            if file not in SHOWN:
                found.append(f"{file}:{line}: {part}: Python's own words; misread_text has ours")
    return found + [
        f"{file}: has its reason in raw_names_rule.py, and needs none any more"
        for file in SHOWN
        if file in sources and file not in shown
    ]


def main() -> int:
    """Print what is refused; 1 if anything is."""
    paths = product_files(ROOT)
    sources = {it.relative_to(ROOT).as_posix(): it.read_text("utf-8") for it in paths}
    return told(refusals(sources, ROOT))


if __name__ == "__main__":
    sys.exit(main())
