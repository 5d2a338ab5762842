"""TOML parsing on every supported Python."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

# Imported by name, as a type checker may run on a Python that has only one of the two libraries.
_toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def parsed(text: str) -> dict[str, Any]:
    """Return the parsed text. Raises ValueError with the line for what is no TOML."""
    values: dict[str, Any] = _toml.loads(text)
    return values


def read_toml(path: Path) -> dict[str, Any]:
    """Read the file. Raises ValueError, with its name, if it cannot be read or is no TOML."""
    try:
        return parsed(path.read_text())
    except OSError as fault:
        raise ValueError(f"{path}: {fault.strerror or fault}") from None
    except ValueError as fault:  # of the encoding or of the TOML
        raise ValueError(f"{path}: {fault}") from None
