"""The reader of YAML, with the numbers of YAML 1.2, as ROS reads them.

``1e-3`` is a number; ``2_5`` and ``1:30`` are texts, and not 25 and 90 as in YAML 1.1. A key that
is written twice is refused, and so is what aliases blow up: they count as often as they are used.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from sim_mock.files.documents import (
    DEPTH_MAX,
    Document,
    mapping_of,
    not_a,
    refuse_excess,
    too_deep,
)
from sim_mock.files.reading import joined
from sim_mock.files.text import KIB, read_text

YAML_BYTES = 128 * KIB  # PyYAML takes a second for 100 kB; a map has 1 kB, parameters of ROS 20 kB
_MERGE = "tag:yaml.org,2002:merge"
_TIMESTAMP = "tag:yaml.org,2002:timestamp"


def read_yaml(path: Path) -> Document:
    """Read a YAML file whose top is a mapping. Raises FileFault."""
    return yaml_document(path, read_text(path, YAML_BYTES))


def yaml_document(path: Path, text: str) -> Document:
    """Return the document in YAML text; ``path`` is named in errors. Raises FileFault."""
    values, node = _parsed(path, text)
    lines = {} if node is None else dict(_node_lines(node, "", 0))
    return Document(path, mapping_of(path, "YAML", values), lines)


def yaml_value(text: str) -> Any:
    """Return the value of a few words of YAML, as on a command line. Raises FileFault."""
    return _parsed(Path("value"), text)[0]


def _parsed(path: Path, text: str) -> tuple[Any, yaml.Node | None]:
    """Return the value of a text, and its node, which knows the lines. Raises FileFault."""
    try:
        loader = _Loader(text)
        try:
            node = loader.get_single_node()
            value = None if node is None else loader.construct_document(node)
        finally:
            loader.dispose()
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise not_a(path, "YAML", problem, mark.line + 1 if mark else 0) from None
    except RecursionError:
        raise too_deep(path) from None
    except (ValueError, OverflowError, TypeError) as error:
        raise not_a(path, "YAML", str(error)) from None
    refuse_excess(path, value)
    return value, node


class _Loader(yaml.SafeLoader):  # type: ignore[misc] # the library has no types
    """YAML's safe loader with the numbers of YAML 1.2, and no key twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        """Return a mapping. Raises ConstructorError for a key that is there twice, and for <<."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                continue
            problem = f"the key {key.value!r} is there twice" if key.value in seen else ""
            if key.tag == _MERGE:  # yaml-cpp, which ROS reads with, has none; they blow up, too
                problem = "merging by << is not read"
            if problem:
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        mapping: dict[Any, Any] = super().construct_mapping(node, deep)
        return mapping


_NUMBERS = {
    "tag:yaml.org,2002:int": r"[-+]?(?:0|[1-9][0-9]*)|0x[0-9a-fA-F]+|0o[0-7]+",
    "tag:yaml.org,2002:float": r"[-+]?(?:\.[0-9]+|[0-9]+\.[0-9]*)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?[0-9]+[eE][-+]?[0-9]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)",
}
# PyYAML's own numbers are those of YAML 1.1, and its dates are texts to everybody else
_Loader.yaml_implicit_resolvers = {
    first: [row for row in rows if row[0] not in (*_NUMBERS, _TIMESTAMP)]
    for first, rows in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
for _tag, _form in _NUMBERS.items():
    _Loader.add_implicit_resolver(_tag, re.compile(f"(?:{_form})$"), list("-+0123456789."))


def _construct_int(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    return int(loader.construct_scalar(node), 0)


_Loader.add_constructor("tag:yaml.org,2002:int", _construct_int)


def _node_lines(node: yaml.Node, path: str, depth: int) -> Iterator[tuple[str, int]]:
    """Yield the line of each key of a YAML document that is no deeper than is read."""
    if not isinstance(node, yaml.MappingNode) or depth > DEPTH_MAX:
        return
    for key, value in node.value:
        if isinstance(key, yaml.ScalarNode):
            place = joined(path, str(key.value))
            yield place, key.start_mark.line + 1
            yield from _node_lines(value, place, depth + 1)
