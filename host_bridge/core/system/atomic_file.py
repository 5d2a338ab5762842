"""Atomic writing of a file, safe in a folder where other logins may write too."""

from __future__ import annotations

import tempfile
from pathlib import Path


def write_atomically(path: Path, content: str | bytes) -> None:
    """Replace ``path`` by a file with this text (as UTF-8) or bytes. Raises OSError.

    The temporary file beside it has an unpredictable name and is created exclusively (O_EXCL,
    O_NOFOLLOW), so that a file or link that another login has put there is neither written to nor
    taken for it.
    """
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    draft = Path(name)
    try:
        with open(handle, "wb") as file:
            file.write(content.encode() if isinstance(content, str) else content)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
