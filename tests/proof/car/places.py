"""Every place in the objects of a car where a value is kept: found, read and written back.

The graph of objects is walked once. Which places ever vary is found out by driving the car about,
and checked again and again in the search: a place that varies and was not known to is an error.
"""

from array import array
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from firmware.c_library import Aes
from firmware.core.deadlines import Deadline
from firmware.core.link.event_reporter import EventReporter
from firmware.core.link.events import Events
from firmware.core.link.outbox import Outbox
from firmware.core.link.receiver import Receiver
from firmware.core.link.telemetry import Telemetry
from firmware.protocol.codec import Message

# The way in and the reports: the search hands messages to their handlers, and reads its reports
# where they are made. The differential test runs the whole of them. A cipher remembers nothing.
_NOT_WALKED = (Telemetry, Events, EventReporter, Receiver, Outbox, Message, Aes)
_RESERVED = {"_room"}  # memory that is kept free for a file (settings/writing.py): nobody reads it
_WHOLE = 16  # a list of so many is one value; of a longer one each place that varies is its own

Values = tuple[Any, ...]


@dataclass(frozen=True)
class Place:
    """One attribute, or one place of a list that is an attribute, or a piece of one."""

    path: str  # of the attribute
    owner: Any
    name: str  # with [i] behind it: of the piece i of a list of pieces
    kind: str  # value, list, array, table
    index: int = -1

    @property
    def words(self) -> str:
        return self.path if self.index < 0 else f"{self.path}[{self.index}]"

    def text(self, owner: str, is_target: bool) -> str:
        """How the generated code reads it, or writes to it."""
        at = f"{owner}.{self.name}"
        if self.index >= 0:
            return f"{at}[{self.index}]"
        if self.kind == "value":
            return at
        if self.kind == "array" and is_target:
            raise TypeError(f"{self.path} is an array: name its places one by one")
        return f"{at}[:]" if is_target else f"tuple({at})"

    def get(self) -> Any:
        held = self._held()
        if self.index >= 0:
            return held[self.index]
        return held if self.kind == "value" else _plain(held)

    def put(self, value: Any) -> None:
        if self.index >= 0:
            self._held()[self.index] = value
        elif self.kind == "value":
            setattr(self.owner, self.name, value)
        elif self.kind == "table":
            self._held().clear()
            self._held().update(value)
        else:
            held = self._held()
            held[:] = array(held.typecode, value) if self.kind == "array" else value

    def _held(self) -> Any:
        name, _, piece = self.name.partition("[")
        held = getattr(self.owner, name)
        return held[int(piece[:-1])] if piece else held


def _plain(held: Any) -> Any:
    return tuple(held.items()) if isinstance(held, dict) else tuple(held)


def _kind_of(value: Any, path: str) -> str:
    if isinstance(value, dict):
        return "table"
    if isinstance(value, array):
        return "array"
    if isinstance(value, list | bytearray):
        if value and not isinstance(value[0], int):
            return ""  # of objects: they are reached otherwise, or are not walked
        return "list"
    if value is None or isinstance(value, int | str | bytes | tuple):
        return "value"
    raise TypeError(f"{path} is a {type(value).__name__}, of which nobody knows how to keep it")


def _is_ours(value: Any) -> bool:
    return hasattr(value, "__dict__") and type(value).__module__.startswith(("firmware", "tests."))


def _is_in_pieces(value: Any) -> bool:
    return isinstance(value, list) and len(value) > 0 and isinstance(value[0], bytearray)


def _places_of(where: str, owner: Any, name: str, value: Any, seen: set[int]) -> list[Place]:
    """What an attribute keeps, unless another one that was ``seen`` keeps the very same."""
    names = [""]
    kind = "list"
    if _is_in_pieces(value):
        names = [f"[{i}]" for i in range(len(value))]
    else:
        kind = _kind_of(value, where)
    if not kind or (kind != "value" and id(value) in seen):
        return []
    if kind != "value":
        seen.add(id(value))
    return [Place(where + at, owner, name + at, kind) for at in names]


def walked(roots: dict[str, Any]) -> tuple[list[Place], dict[str, Deadline]]:
    """All places below these objects, in an order that is the same for two cars of one kind."""
    places: list[Place] = []
    deadlines: dict[str, Deadline] = {}
    seen: set[int] = set()
    todo = list(roots.items())
    while todo:
        path, owner = todo.pop(0)  # the shortest way to it names it
        if id(owner) in seen or isinstance(owner, _NOT_WALKED):
            continue
        seen.add(id(owner))
        if isinstance(owner, Deadline):
            deadlines[path] = owner
        for name, value in list(vars(owner).items()):
            where = f"{path}.{name}"
            if callable(value) or name in _RESERVED or getattr(value, "is_apart", False):
                continue
            if _is_ours(value):
                todo.append((where, value))
                continue
            if isinstance(value, tuple):
                todo += [(f"{where}[{i}]", e) for i, e in enumerate(value) if _is_ours(e)]
            places += _places_of(where, owner, name, value, seen)
    return sorted(places, key=lambda place: place.path), deadlines


def whole(places: Sequence[Place]) -> Values:
    """What all of them hold."""
    return tuple([place.get() for place in places])


def put_back(places: Sequence[Place], values: Values) -> None:
    for place, value in zip(places, values, strict=True):
        place.put(value)


def differing(places: Sequence[Place], one: Values, other: Values) -> list[Place]:
    """Which places differ: of a long list, or of an array, each by itself."""
    found: list[Place] = []
    for place, a, b in zip(places, one, other, strict=True):
        if a is b or (a == b and type(a) is type(b)):
            continue
        if place.kind == "table":
            raise TypeError(f"{place.path} is a table, and varies")
        if place.kind == "value" or (place.kind == "list" and len(a) <= _WHOLE):
            found.append(place)
            continue
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            if x != y:
                found.append(Place(place.path, place.owner, place.name, place.kind, i))
    return found


def _compiled(source: str, names: dict[str, Any], what: str) -> Callable[..., Any]:
    exec(compile(source, f"<{what}>", "exec"), names)
    made: Callable[..., Any] = names[what]
    return made


def _joined(words: Iterable[str]) -> str:
    return "(" + "".join(word + ", " for word in words) + ")"


def reader(chunks: Sequence[Sequence[Place]]) -> Callable[[], tuple[Values, ...]]:
    """A function that reads these places, in chunks: text made for just them, for its speed."""
    names: dict[str, Any] = {}
    rows = []
    for c, chunk in enumerate(chunks):
        row = []
        for i, place in enumerate(chunk):
            names[f"o{c}_{i}"] = place.owner
            row.append(place.text(f"o{c}_{i}", False))
        rows.append(_joined(row))
    return _compiled(f"def read():\n    return {_joined(rows)}\n", names, "read")


def writer(chunk: Sequence[Place]) -> Callable[[Values], None]:
    """The other way round, for one chunk."""
    names: dict[str, Any] = {f"o{i}": place.owner for i, place in enumerate(chunk)}
    row = _joined(place.text(f"o{i}", True) for i, place in enumerate(chunk))
    body = f"{row} = values" if chunk else "pass"
    return _compiled(f"def write(values):\n    {body}\n", names, "write")


def fixed_reader(places: Sequence[Place], varying: Sequence[Place]) -> Callable[[], Values]:
    """Reads what is taken to be fixed, without copies: compare it at once."""
    by_place = {(p.path) for p in varying}
    names: dict[str, Any] = {}
    row = []
    for i, place in enumerate(p for p in places if p.path not in by_place):
        names[f"o{i}"] = place.owner
        row.append(f"o{i}.{place.name}")
    return _compiled(f"def read():\n    return {_joined(row)}\n", names, "read")
