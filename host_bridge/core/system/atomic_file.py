"""Atomic writing of a file, safe in a folder where other logins may write too."""

from __future__ import annotations

import tempfile
from pathlib import Path


def write_atomically(path: Path, text: str) -> None:
    """Replace ``path`` by a file with this text, readable by this login alone. Raises OSError.

    The temporary file beside it has an unpredictable name and is created exclusively (O_EXCL,
    O_NOFOLLOW), so that a file or link that another login has put there is neither written to nor
    taken for it.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    draft = Path(name)
    try:
        with open(handle, "w", encoding="utf-8") as file:
            file.write(text)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
