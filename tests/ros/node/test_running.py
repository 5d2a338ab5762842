"""Waiting for a row of ``tandem ros``: a program that has ended is no hang."""

from __future__ import annotations

import json
import queue

import pytest

from tests.ros.conftest import Running
from tests.support.patience import Hang


def saying(*lines: str) -> Running:
    """A program that has said these lines; "" is its end."""
    program = Running.__new__(Running)
    program._lines = queue.SimpleQueue()
    for line in lines:
        program._lines.put(line)
    return program


def test_the_end_of_a_program_is_told_as_its_end_and_silence_as_a_hang():
    row = json.dumps({"phase": "arming"})
    with pytest.raises(AssertionError, match=r"ended before it came to that: .*arming") as ended:
        saying(row, "").until(lambda row: row["phase"] == "driving")
    assert not isinstance(ended.value, Hang)
    with pytest.raises(Hang, match="arming"):
        saying(row).until(lambda row: row["phase"] == "driving", 1.0)
    assert saying(row, "").until(lambda row: row["phase"] == "arming") == {"phase": "arming"}
