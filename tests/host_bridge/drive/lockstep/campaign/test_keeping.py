"""Logs of a campaign: those of its failures and of a sample, of the very drives of its rows."""

from __future__ import annotations

import json

import pytest

from host_bridge.cli.main import main
from host_bridge.core.errors import NotHeldFault
from host_bridge.drive.lockstep.campaign.runners.keeping import (
    KEEP,
    chosen,
    keep_log,
    log_of,
)
from host_bridge.drive.lockstep.campaign.store import read_rows
from host_bridge.sharing.services import make_host
from tests.host_bridge.drive.lockstep.campaign.test_campaign import SMALL
from tests.support.evidence import some

USUAL = {key.name: key.default for key in KEEP}


def row(number, outcome):
    return {"case_id": f"{number * 2**60:016x}", "outcome": outcome}


ROWS = [row(0, "passed"), row(1, "failed"), row(2, "refused"), row(15, "passed")]


@pytest.mark.parametrize(
    ("asked", "wanted", "left_out"),
    [
        ({"logs": "none"}, [], 0),
        ({"sample": 0.0}, [1], 0),
        ({"sample": 0.5}, [1, 0], 0),
        ({"logs": "all"}, [1, 0, 3], 0),
        ({"logs": "all", "most": 2}, [1, 0], 1),
    ],
)
def test_failures_come_first_then_a_sample_and_never_what_did_not_drive(asked, wanted, left_out):
    kept = chosen(ROWS, {**USUAL, **asked})
    assert list(kept.rows) == [ROWS[it] for it in wanted]
    assert kept.left_out == left_out


@pytest.mark.process
def test_a_run_keeps_logs_of_its_failures_and_they_can_be_read(tmp_path, capsys):
    (tmp_path / "campaign.toml").write_text(
        SMALL.replace("[report]", "[keep]\nsample = 0.0\n[report]"), encoding="utf-8"
    )
    assert main(["campaign", "run", str(tmp_path), "--workers", "1"]) == 0
    rows = read_rows(tmp_path).values()
    failed = some([it["case_id"] for it in rows if it["outcome"] == "failed"])
    assert sorted(it.stem for it in (tmp_path / "logs").iterdir()) == sorted(failed)
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert f'href="logs/{failed[0]}.mcap"' in page
    capsys.readouterr()
    assert main(["log", str(log_of(tmp_path, failed[0]))]) == 0
    assert "nigel" in capsys.readouterr().out
    log_of(tmp_path, failed[0]).unlink()
    assert main(["campaign", "run", str(tmp_path)]) == 0  # what is missing of the logs, too
    assert log_of(tmp_path, failed[0]).exists()
    passed = next(it["case_id"] for it in rows if it["outcome"] == "passed")
    mine = tmp_path / "mine" / "one.mcap"
    capsys.readouterr()
    words = ["campaign", "show", str(tmp_path), passed, "--log", str(mine), "--json"]
    assert main(words) == 0
    assert json.loads(capsys.readouterr().out)["is_same"] is True, "a log changes no bit"
    assert mine.stat().st_size > 1000
    assert main(words) == 7, "no file is overwritten"


def test_a_drive_that_is_another_one_leaves_no_log(tmp_path):
    (tmp_path / "campaign.toml").write_text(SMALL, encoding="utf-8")
    from host_bridge.drive.lockstep.campaign.plan import read_plan

    spec = next(read_plan(tmp_path / "campaign.toml").cases()).spec
    kept = {"case_id": "0123456789abcdef", "spec": spec, "result_hash": "another"}
    with pytest.raises(NotHeldFault, match="not the same"):
        keep_log(tmp_path, kept, make_host().vehicles)
    assert list((tmp_path / "logs").iterdir()) == []
