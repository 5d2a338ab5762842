"""A self-test that looked at nothing does not say that all is well."""

from __future__ import annotations

import pytest

from host_bridge.core.errors import UsageFault
from host_bridge.deploy.selftest import CHECKS
from tests.host_bridge.cli.programs import tandem
from tests.host_bridge.sharing.desk import runtime_folder


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


@pytest.mark.process
def test_with_everything_left_out():
    without = [word for name, *_ in CHECKS for word in ("--without", name)]
    done = tandem("selftest", "sim://nigel", *without)
    assert done.returncode == UsageFault.exit_code, done.stdout
    assert "every check is left out" in done.stderr
