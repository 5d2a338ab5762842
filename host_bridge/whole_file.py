"""A file that is written whole or not at all, even where other logins may write beside it."""

from __future__ import annotations

import tempfile
from pathlib import Path


def write_whole(path: Path, text: str) -> None:
    """Put ``text`` in the place of ``path``, readable by this login alone. Raises OSError.

    The draft beside it has a name that nobody can know, and is made by this call or not at all
    (O_EXCL, O_NOFOLLOW): a file or a link that another login has laid there is neither written to
    nor taken for it.
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
