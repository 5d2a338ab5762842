"""Where the sockets of served cars are. Imports as little as a stop in a hurry needs.

Two kinds of folder. The private one holds the sockets by which a car is driven, and only its login
may enter it. The stop folders are the same for every login, whatever its environment: each served
car has a socket there by which anybody may stop it, and nothing else (``serve/stop_rim.py``).
"""

from __future__ import annotations

import os
import stat

# In this order, the first that will do. /run/tandem is for machines that have it made (a shared
# mount, a container); a unit with PrivateTmp= has a /tmp of its own, but no /dev/shm.
STOP_FOLDERS = ("/run/tandem", "/dev/shm", "/tmp")
STOP_FOLDER_VARIABLE = "TANDEM_STOP_DIR"  # for tests: the only one, for whoever has it set


def stop_folders() -> tuple[str, ...]:
    """All in which a served car may have its stop socket."""
    only = os.environ.get(STOP_FOLDER_VARIABLE)
    return (only,) if only else STOP_FOLDERS


def private_folder() -> str:
    """Of this login's own sockets; it need not be there."""
    own = os.environ.get("TANDEM_RUNTIME_DIR")
    of_session = os.environ.get("XDG_RUNTIME_DIR")
    if own:
        return own
    if of_session:
        return os.path.join(of_session, "tandem")
    return os.path.join(os.environ.get("TMPDIR") or "/tmp", f"tandem-{os.getuid()}")


def is_safe_for_all(folder: str) -> bool:
    """Whether a socket in it stays until its owner or root removes it: root's or our own, and, if
    others may write in it, sticky."""
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in (0, os.getuid()):
        return False
    is_shared = bool(status.st_mode & 0o022)
    return not is_shared or bool(status.st_mode & stat.S_ISVTX)
