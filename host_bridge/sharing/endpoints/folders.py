"""The folders with the sockets of served cars. Imports as little as ``tandem stop`` needs.

There are two kinds. The private folder holds the sockets by which a car is driven, and only its
login may enter it. The stop folders are the same for every login, whatever its environment: each
served car has a socket there by which anybody may stop it, and do nothing else
(``sharing/stop/stop_endpoint.py``).
"""

from __future__ import annotations

import os
import stat

# In this order; the first usable one is taken. /run/tandem is for machines set up with it (a shared
# mount, a container); a unit with PrivateTmp= has a /tmp of its own, but no /dev/shm.
STOP_FOLDERS = ("/run/tandem", "/dev/shm", "/tmp")
STOP_FOLDER_VARIABLE = "TANDEM_STOP_DIR"  # for tests: if set, the only stop folder


def stop_folders() -> tuple[str, ...]:
    """Return all folders in which a served car may have its stop socket."""
    only = os.environ.get(STOP_FOLDER_VARIABLE)
    return (only,) if only else STOP_FOLDERS


def private_folder() -> str:
    """Return the folder of this login's own sockets; it need not exist."""
    own = os.environ.get("TANDEM_RUNTIME_DIR")
    of_session = os.environ.get("XDG_RUNTIME_DIR")
    if own:
        return own
    if of_session:
        return os.path.join(of_session, "tandem")
    return os.path.join(os.environ.get("TMPDIR") or "/tmp", f"tandem-{os.getuid()}")


def is_safe_for_all(folder: str) -> bool:
    """Return whether only its owner or root can remove a socket from this folder.

    It has to be root's or our own and, if others may write in it, sticky.
    """
    try:
        status = os.lstat(folder)
    except OSError:
        return False
    if not stat.S_ISDIR(status.st_mode) or status.st_uid not in (0, os.getuid()):
        return False
    is_shared = bool(status.st_mode & 0o022)
    return not is_shared or bool(status.st_mode & stat.S_ISVTX)
