"""A bench that measured nothing fails."""

from __future__ import annotations

import sys

import pytest

from tests.bench.support.sheet import Sheet, publish


@pytest.mark.parametrize("sheets", [[], [Sheet("x", ("a",), [])]])
def test_nothing_measured_is_no_result(sheets, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["bench"])
    with pytest.raises(SystemExit, match="measured nothing"):
        publish("x", lambda: sheets)


def test_what_was_measured_is_shown(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["bench"])
    publish("x", lambda: [Sheet("metres", ("a",), [[1.5]])])
    assert "metres" in capsys.readouterr().out
