"""The folder in which every login of a machine finds the stop sockets of its cars."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from host_bridge.sharing.endpoints import folders


@pytest.fixture
def shared(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that all logins share; its path is short enough for a socket."""
    with tempfile.TemporaryDirectory(prefix="tandem-") as name:
        folder = Path(os.path.realpath(name))
        folder.chmod(0o1777)
        monkeypatch.setenv(folders.STOP_FOLDER_VARIABLE, str(folder))
        yield folder
