"""What ``tandem replay`` refuses before it reads anything."""

import argparse
from pathlib import Path

import pytest

from host_bridge.cli.commands import replay
from host_bridge.core.errors import DataFileFault, UsageFault

LOG = Path("a.mcap")
NONE = {
    "commands": [], "against": [], "bag": [], "logs": [], "fit": "", "date": "",
    "leave_one_out": False, "calibration": "", "out": "",
}  # fmt: skip


def refuses(**given):
    replay._refuse(argparse.Namespace(**{**NONE, **given}))


@pytest.mark.parametrize(
    "drive",
    [{"logs": [LOG]}, {"bag": ["bag"]}, {"commands": ["a.csv"], "against": ["b.csv"]}],
    ids="_".join,
)
def test_one_drive_of_any_kind_is_enough(drive):
    refuses(**drive)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({}, "no drive was given"),
        ({"commands": ["a.csv"]}, "do not pair"),
        ({"against": ["b.csv"], "logs": [LOG]}, "do not pair"),
        ({"logs": [LOG], "fit": "own"}, "a fit has a date"),
        ({"logs": [LOG], "date": "2026-01-02"}, "a fit has a date"),
        ({"logs": [LOG], "leave_one_out": True, "fit": "own", "date": "2026-01-02"}, "own"),
        ({"logs": [LOG], "leave_one_out": True, "calibration": "own"}, "of its own"),
        ({"bag": ["a", "b"], "out": "a.png"}, "draws one run"),
        ({"bag": ["a"], "leave_one_out": True}, "fits on the other runs"),
    ],
)
def test_what_does_not_go_together_is_refused(given, why):
    with pytest.raises(UsageFault, match=why):
        refuses(**given)


def test_a_calibration_that_is_there_is_not_lost_to_a_new_one(tmp_path):
    mine = tmp_path / "mine.toml"
    mine.touch()
    with pytest.raises(DataFileFault, match="none is overwritten"):
        refuses(logs=[LOG], fit=mine, date="2026-01-02")
    refuses(logs=[LOG], fit=tmp_path / "new.toml", date="2026-01-02")
