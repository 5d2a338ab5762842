"""What each attack needs: a folder that all logins share, and how often is tried."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from host_bridge.sharing.endpoints import folders
from tests.host_bridge.sharing.desk import runtime_folder


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that all logins share, as /tmp is; and a private one."""
    with runtime_folder(monkeypatch), tempfile.TemporaryDirectory(prefix="tandem-") as folder:
        os.chmod(folder, 0o1777)
        monkeypatch.setenv(folders.STOP_FOLDER_VARIABLE, folder)
        yield Path(folder)
