"""Makes the ROS 2 input of a command line: its vocabulary, and the files that belong to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from host_bridge.core.errors import UsageFault
from host_bridge.ros2.bus.message_types import has_message
from host_bridge.ros2.node.ros_input import RosInput
from host_bridge.ros2.vocabularies.autorally.priorities import read_priorities
from host_bridge.ros2.vocabularies.f1tenth.config_files import read_mux, read_vesc
from host_bridge.ros2.vocabularies.registry import find_vocabulary
from host_bridge.ros2.vocabularies.topics import Content, MuxRow
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary

# option -> (the part that a vocabulary must subscribe to for it, a vocabulary that does)
_FILES = {
    "mux": (Content.ACKERMANN, "f1tenth"),
    "vesc": (Content.MOTOR_SPEED, "f1tenth"),
    "priorities": (Content.CHASSIS, "autorally"),
}


def make(rest: str, options: Mapping[str, str], now_us: Callable[[], int]) -> RosInput:
    """Make the input of ``--input ros2:VOCABULARY``.

    The options are ns, sensors, poses, mux, vesc, priorities, remap and
    forgiving. Raises errors.TandemError.
    """
    name = rest or "f1tenth"
    vocabulary = _installed(find_vocabulary(name))
    heard = {it.content for it in vocabulary.subscriptions}
    for option, (content, whose) in _FILES.items():
        if option in options and content not in heard:
            raise UsageFault(
                f"--{option} says nothing of the topics of {name}",
                expected=f"a vocabulary that has such a file: {whose}",
                got=name,
                remedy=f"leave --{option} out, or say --as {whose}",
            )
    mux, notes = _rows(options)
    scale, lacking = read_vesc(Path(options["vesc"])) if "vesc" in options else (None, ())
    notes += lacking + _lacking(vocabulary)
    if "forgiving" in options:
        notes += (
            "forgiving: silence yields, and what it stopped is armed again; virtual cars alone",
        )
    return RosInput(
        vocabulary,
        options.get("ns", ""),
        sensors=options.get("sensors"),
        poses=options.get("poses"),
        mux=mux,
        scale=scale,
        notes=notes,
        remaps=options.get("remap", "").split(),
        is_forgiving="forgiving" in options,
    )


def _installed(vocabulary: Vocabulary) -> Vocabulary:
    """Return it, or the same in its older messages where this Python has those alone."""
    older = vocabulary.older
    if older is None or has_message(vocabulary.subscriptions[0].type):
        return vocabulary
    return older if has_message(older.subscriptions[0].type) else vocabulary


def _lacking(vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return a sentence for each missing message package, with the topics that are left out."""
    notes = []
    for topics, words in (
        (vocabulary.subscriptions, "not heard"),
        (vocabulary.publications, "not published"),
    ):
        missing = [it for it in topics if it.is_optional and not has_message(it.type)]
        for package in sorted({it.type.split("/")[0] for it in missing}):
            names = [it.topic for it in missing if it.type.startswith(f"{package}/")]
            are = "is" if len(names) == 1 else "are"
            notes.append(f"this Python has no {package}: {', '.join(names)} {are} {words}")
    return tuple(notes)


def _rows(options: Mapping[str, str]) -> tuple[tuple[MuxRow, ...] | None, tuple[str, ...]]:
    if "mux" in options:
        return read_mux(Path(options["mux"]))
    if "priorities" in options:
        return read_priorities(Path(options["priorities"]))
    return None, ()
