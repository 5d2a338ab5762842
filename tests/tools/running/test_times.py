"""What is told of where the time of the tests went."""

import sys

import pytest

from tests.tools.running import times

XML = """<?xml version="1.0" encoding="utf-8"?>
<testsuites><testsuite name="pytest" tests="4" time="20.0">
<testcase classname="tests.firmware.core.arbitration.test_arbiter" name="test_a" time="1.5" />
<testcase classname="tests.firmware.core.arbitration.test_arbiter" name="test_b[1]" time="0.5" />
<testcase classname="tests.host_bridge.cli.test_cli.TestIt" name="test_c" time="6.0" />
<testcase classname="tests.firmware.boards.link.test_link" name="test_d" time="2.0" />
<testcase time="7.0" />
</testsuite></testsuites>
"""


@pytest.fixture
def report(tmp_path):
    path = tmp_path / "times.xml"
    path.write_text(XML)
    return path


def test_folders_come_with_the_dearest_first_and_their_share(report):
    assert times.by_folder(times.read(report)) == [
        ("tests/host_bridge/cli", 1, 6.0),
        ("tests/firmware/core/arbitration", 2, 2.0),
        ("tests/firmware/boards/link", 1, 2.0),
    ]


def test_the_slowest_tests_are_named(report):
    slowest = times.read(report)[:2]
    assert [(test.name, test.seconds) for test in slowest] == [
        ("tests.host_bridge.cli.test_cli.TestIt.test_c", 6.0),
        ("tests.firmware.boards.link.test_link.test_d", 2.0),
    ]


def test_the_command_says_both_and_how_much_work_there_is(report, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["times.py", str(report)])
    assert times.main() == 0
    said = capsys.readouterr().out
    assert "4 tests, 10.0 s of work" in said
    assert "  60.0 %" in said
    assert said.index("tests/host_bridge") < said.index("test_cli.TestIt.test_c")


@pytest.mark.parametrize("text", ["", "<testsuites></testsuites>", "no xml"])
def test_no_evidence_is_a_failure(tmp_path, monkeypatch, capsys, text):
    path = tmp_path / "times.xml"
    path.write_text(text)
    monkeypatch.setattr(sys, "argv", ["times.py", str(path)])
    assert times.main() == 1
    assert "make test" in capsys.readouterr().err
