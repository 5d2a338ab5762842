"""TOML, on every Python that this runs on."""

import sys
from importlib import import_module
from typing import Any

# By name: the type checker looks at the code of one Python, and has the library of another.
_toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def parsed(text: str) -> dict[str, Any]:
    """Raises ValueError with the line for what is no TOML."""
    values: dict[str, Any] = _toml.loads(text)
    return values
