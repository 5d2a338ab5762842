"""A decorator for records that are made a hundred times a second, or more often."""

from __future__ import annotations

from dataclasses import MISSING, fields
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


def quickly_made(kind: type[T]) -> type[T]:
    """Let a frozen dataclass with slots be made in a third of the time; return it.

    Its own ``__init__`` looks for the descriptor of each field by the field's name, anew each time;
    this one has them at hand. Raises TypeError for a field whose default has to be made.
    """
    names: dict[str, Any] = {}
    heads, puts = ["self"], []
    for field in fields(kind):  # type: ignore[arg-type]  # of a dataclass
        if not field.init or field.default_factory is not MISSING:
            raise TypeError(f"{kind.__name__}.{field.name}: expected a plain field")
        names[f"_put_{field.name}"] = getattr(kind, field.name).__set__
        names[f"_else_{field.name}"] = field.default
        is_needed = field.default is MISSING
        heads.append(field.name if is_needed else f"{field.name}=_else_{field.name}")
        puts.append(f"    _put_{field.name}(self, {field.name})")
    head = f"def made({', '.join(heads)}):"
    exec("\n".join([head, *puts]), names)
    setattr(kind, "__init__", wraps(kind.__init__)(names["made"]))  # noqa: B010 - checked as it is
    return kind
