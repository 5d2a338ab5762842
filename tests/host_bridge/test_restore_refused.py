"""A backup that somebody changed passes by no rule: the board itself refuses it (S8)."""

from __future__ import annotations

import json

import pytest

from host_bridge.errors import RefusedFault
from host_bridge.interfaces.cli.backup import _hash
from tests.host_bridge.programs import serving, tandem
from tests.host_bridge.serve.desk import runtime_folder


@pytest.fixture(autouse=True)
def folder(monkeypatch, tmp_path):
    monkeypatch.setenv("TANDEM_DATA_DIR", str(tmp_path / "data"))
    with runtime_folder(monkeypatch) as path:
        yield path


def changed(path, **values):
    """With a new sha256, as whoever changes it would write."""
    row = json.loads(path.read_text())
    del row["sha256"]
    for name, value in values.items():
        row["parameters"][name] = [value] * len(row["parameters"][name])
    path.write_text(json.dumps({**row, "sha256": _hash(row)}))


def test_numbers_that_no_car_may_have_are_refused_and_the_old_ones_stay(tmp_path):
    kept = tmp_path / "backup.json"
    with serving("sim://f1tenth", "car"):
        assert tandem("backup", "--car", "car", str(kept)).returncode == 0
        before = kept.read_text()
        for name, value in (("stop_source_kind", 0), ("blind_mm", 10_000), ("brake_effort_max", 0)):
            kept.write_text(before)
            changed(kept, **{name: value})
            refused = tandem("restore", "--car", "car", str(kept))
            assert refused.returncode == RefusedFault.exit_code, refused.stderr
            where = "stop_source_need" if name == "stop_source_kind" else name
            assert f"first wrong: {where}" in refused.stderr
        again = tmp_path / "again.json"
        assert tandem("backup", "--car", "car", str(again)).returncode == 0
        held = json.loads(again.read_text())["parameters"]
        assert held == json.loads(before)["parameters"]
