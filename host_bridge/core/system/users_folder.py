"""The folder of what this user's programs keep from one day to the next."""

from __future__ import annotations

import os
from pathlib import Path


def users_folder(room: str) -> Path:
    """Return the folder of one kind of what is kept: in $TANDEM_DATA_DIR or the user's data."""
    own, shared = os.environ.get("TANDEM_DATA_DIR"), os.environ.get("XDG_DATA_HOME")
    home = Path(shared) if shared else Path.home() / ".local" / "share"
    return (Path(own) if own else home / "tandem") / room
