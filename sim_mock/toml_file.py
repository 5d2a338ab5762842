"""A TOML file, refused with its name."""

from pathlib import Path
from typing import Any

from hardware.schema.toml_text import parsed


def read_toml(path: Path) -> dict[str, Any]:
    """Raises ValueError, with the file's name, for what cannot be read or is no TOML."""
    try:
        return parsed(path.read_text())
    except OSError as fault:
        raise ValueError(f"{path}: {fault.strerror or fault}") from None
    except ValueError as fault:  # of the letters or of the TOML
        raise ValueError(f"{path}: {fault}") from None
