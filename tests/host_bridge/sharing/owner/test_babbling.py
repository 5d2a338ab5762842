"""A stop of a served car whose socket somebody floods. Real processes."""

from __future__ import annotations

import json
import socket
import threading
import time

import pytest

from host_bridge.sharing.endpoints.served import socket_path
from tests.host_bridge.cli.programs import serving, tandem
from tests.host_bridge.sharing.desk import runtime_folder
from tests.host_bridge.sharing.owner.test_admission import WORD
from tests.support.evidence import every


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def babble(name, is_over, word):
    """All that the driving socket takes."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as end:
        end.connect(str(socket_path(name)))
        end.settimeout(0.05)
        while not is_over.is_set():
            try:
                end.send(word * 200)
            except TimeoutError:
                pass
            except OSError:
                return


@pytest.mark.process(drives=True)
@pytest.mark.parametrize("word", [WORD, b"\xaa" * 40, b"\0" * 40], ids=["words", "noise", "zeros"])
def test_a_stop_behind_a_babbling_client_is_acknowledged(word):
    with serving("sim://nigel", "car"):
        is_over = threading.Event()
        babbler = threading.Thread(target=babble, args=("car", is_over, word))
        babbler.start()
        try:
            time.sleep(2.0)
            rows = [json.loads(tandem("stop", "--json").stdout)[0] for _ in range(3)]
        finally:
            is_over.set()
            babbler.join()
        assert every(row["is_seen"] for row in rows)
        assert min(row["took_ms"] for row in rows) < 100
        assert tandem("clear").returncode == 0
        armed = tandem("arm")
        assert armed.returncode == 0, armed.stderr
