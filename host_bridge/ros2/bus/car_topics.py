"""Keeps two nodes of one car apart: neither hears what the other publishes, and no topic has two.

Each node writes its topics into a file of the car in this login's private folder, and holds a lock
on it for as long as it runs: a file that nobody holds is a killed node's, and is removed. A car is
driven by the programs of one login on one machine, so all its nodes are there. ROS 2's own
discovery would find a node only some time after both have begun. Nothing here imports rclpy.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO

from host_bridge.core.errors import UsageFault
from host_bridge.sharing.endpoints.served import runtime_dir

_SUFFIX = ".topics"
_LOCK = "topics.lock"
# Every node of ROS 2 may publish these beside others: each message says whose it is
_COMMON = frozenset(("/tf", "/tf_static", "/diagnostics", "/clock"))


@dataclass(frozen=True)
class NodeTopics:
    """The topics of one node by their full names, and the domain in which they are visible."""

    node: str
    domain: str
    pid: int
    published: tuple[str, ...]
    subscribed: tuple[str, ...]


class CarTopics:
    """The topics of this node, registered for its car until ``close``."""

    def __init__(self, path: Path, file: IO[str]) -> None:
        self._path = path
        self._file = file

    def close(self) -> None:
        """Withdraw them."""
        self._path.unlink(missing_ok=True)
        self._file.close()


def register(car: str, mine: NodeTopics) -> CarTopics:
    """Register a node's topics for the car that is served by this name.

    Raises errors.UsageFault for a topic that it would share with another node of the car,
    errors.DeviceFault for a private folder that cannot be trusted.
    """
    folder = runtime_dir()
    with _locked(folder / _LOCK):
        for other in _running(folder, car):
            if other.domain == mine.domain:
                _refuse_shared(car, mine, other)
        path = folder / f"{car}.{os.urandom(4).hex()}{_SUFFIX}"
        file = path.open("x", encoding="utf-8")
        fcntl.flock(file, fcntl.LOCK_EX)
        file.write(json.dumps(asdict(mine)))
        file.flush()
    return CarTopics(path, file)


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one program at a time look and register."""
    with path.open("w", encoding="utf-8") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def _running(folder: Path, car: str) -> Iterator[NodeTopics]:
    """Yield what the running nodes of this car registered; remove what killed ones left behind."""
    for path in sorted(folder.glob(f"{car}.*{_SUFFIX}")):
        with suppress(OSError), path.open(encoding="utf-8") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                row = json.loads(file.read())
                yield NodeTopics(
                    row["node"],
                    row["domain"],
                    row["pid"],
                    tuple(row["published"]),
                    tuple(row["subscribed"]),
                )
            else:
                path.unlink(missing_ok=True)


def _refuse_shared(car: str, mine: NodeTopics, other: NodeTopics) -> None:
    named = f"{other.node} of process {other.pid}"
    shared = {
        f"published by this node, {mine.node}, and heard by {named}": (
            mine.published,
            other.subscribed,
        ),
        f"published by {named}, and heard by this node, {mine.node}": (
            other.published,
            mine.subscribed,
        ),
        f"published by {named}, and by this node, {mine.node}": (
            tuple(set(mine.published) - _COMMON),
            other.published,
        ),
    }
    for got, (one, another) in shared.items():
        if topics := sorted(set(one) & set(another)):
            raise UsageFault(
                f"a second node of the car {car}: one would hear the other, or both speak at once, "
                "and the car could drive on by its own echo",
                where=topics[0],
                expected="a topic that one node of a car publishes, and no other node of it has",
                got=got,
                remedy="end the other one (it is a tandem ros of this car); or give this one "
                "a namespace of its own by --ns, and remap nothing onto the other's topics",
            )
