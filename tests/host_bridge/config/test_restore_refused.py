"""Numbers that passed by the host's rules pass by no rule of the board: it refuses them (S8)."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace

import pytest

from host_bridge.config.store.backup_file import content_hash
from host_bridge.core.errors import RefusedFault
from tests.host_bridge.cli.programs import serving, tandem
from tests.host_bridge.sharing.desk import runtime_folder

pytestmark = pytest.mark.process


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
    path.write_text(json.dumps({**row, "sha256": content_hash(row)}))


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


@pytest.mark.parametrize(
    ("vehicle", "name", "value", "where"),
    [
        ("f1tenth", "stop_source_kind", [0] * 6, "stop_source_need"),
        ("f1tenth", "brake_effort_max", [0], "brake_effort_max"),
        ("f1tenth", "blind_mm", [10_000], "blind_mm"),
        ("autorally", "blind_mm", [10_000], "blind_mm"),
    ],
)
def test_a_host_with_other_rules_writes_what_the_board_refuses(
    vehicle, name, value, where, monkeypatch
):
    """``config write`` of a host that was changed to know no better: its compiler lets all pass."""
    from host_bridge.sharing.services import make_host  # its commands run in this process, changed

    with serving(f"sim://{vehicle}", "car"):
        host = make_host()
        file = host.vehicles.load(vehicle)
        parameters = {**file.parameters, name: value[: len(file.parameters[name])]}
        wrong = replace(file, parameters=parameters)

        async def write() -> None:
            opened = await host.cars.open("car", epoch=host.cars.new_epoch())
            try:
                await host.configurations.write(
                    opened, wrong, "car", lambda word: lambda done, all_: None
                )
            finally:
                await opened.close()

        with pytest.raises(RefusedFault) as raised:
            asyncio.run(write())
        assert where in raised.value.what
        assert json.loads(tandem("identify", "car", "--json").stdout)[0]["vehicle"] == vehicle
