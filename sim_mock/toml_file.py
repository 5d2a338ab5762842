"""A TOML file, on every Python that this runs on."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

_toml: Any = import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def read_toml(path: Path) -> dict[str, Any]:
    """Raises ValueError, with the file's name, for what cannot be read or is no TOML."""
    try:
        table: dict[str, Any] = _toml.loads(path.read_text())
    except OSError as fault:
        raise ValueError(f"{path}: {fault.strerror or fault}") from None
    except ValueError as fault:  # of the letters or of the TOML
        raise ValueError(f"{path}: {fault}") from None
    return table
