"""Finds the vocabularies that are installed, by the entry points that name them.

Each vocabulary is named under ``tandem.ros_vocabularies`` in the ``pyproject.toml`` of this or of
any other package: ``name = "module:object"``, where the object is a ``Vocabulary``.
"""

from __future__ import annotations

from importlib.metadata import entry_points

from host_bridge.core.errors import UsageFault
from host_bridge.ros2.vocabularies.vocabulary import Vocabulary

GROUP = "tandem.ros_vocabularies"


def vocabulary_names() -> list[str]:
    """Return the names of the installed vocabularies, sorted; nothing of them is imported."""
    return sorted(entry_points(group=GROUP).names)


def find_vocabulary(name: str) -> Vocabulary:
    """Return the vocabulary of a name. Raises errors.UsageFault."""
    for entry in entry_points(group=GROUP, name=name):
        found = entry.load()
        if isinstance(found, Vocabulary):
            return found
        raise UsageFault(
            f"the vocabulary {name!r} cannot be used",
            where=entry.value,
            expected="an object of host_bridge.ros2.vocabularies.vocabulary.Vocabulary",
            got=type(found).__name__,
            remedy="mend the package that names it, or say --as f1tenth",
        )
    raise UsageFault(
        f"unknown vocabulary {name!r}", expected=" or ".join(vocabulary_names()), got=name
    )
