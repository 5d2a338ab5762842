"""Reading of a TOML file, with the file's name in its errors."""

from pathlib import Path
from typing import Any

from hardware.schema.toml_text import parsed


def read_toml(path: Path) -> dict[str, Any]:
    """Read the file. Raises ValueError, with its name, if it cannot be read or is no TOML."""
    try:
        return parsed(path.read_text())
    except OSError as fault:
        raise ValueError(f"{path}: {fault.strerror or fault}") from None
    except ValueError as fault:  # of the encoding or of the TOML
        raise ValueError(f"{path}: {fault}") from None
