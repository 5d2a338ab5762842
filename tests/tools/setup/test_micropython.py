"""A MicroPython is found where it should be, and fetched from the machine's own mirror only."""

import subprocess
import sys
from pathlib import Path

import pytest

from sim_mock.runtime import fetch_micropython, micropython

BOOKWORM = 'ID=debian\nVERSION_ID="12"\nVERSION_CODENAME=bookworm\n'
JAMMY = "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=jammy\nUBUNTU_CODENAME=jammy\n"
MINT = 'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_CODENAME=vera\nUBUNTU_CODENAME=jammy\n'
FEDORA = "ID=fedora\nVERSION_ID=42\n"

STANZAS = """\
Types: deb
# a comment
URIs: http://mirror/security
Suites: bookworm-security
Components: main

Types: deb deb-src
URIs: http://mirror/debian
Suites: bookworm bookworm-updates
Components: main contrib
Signed-By: /usr/share/keyrings/d.gpg
"""
LINES = """\
# deb http://mirror/commented jammy main
deb-src http://mirror/ubuntu jammy main
deb [arch=amd64 signed-by=/etc/keys/u.gpg] http://mirror/ubuntu jammy main universe # why
"""


def interpreter(path: Path, answer: str) -> str:
    path.write_text(f"#!/bin/sh\necho {answer}\n")
    path.chmod(0o755)
    return str(path)


@pytest.fixture(autouse=True)
def bare_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    private = tmp_path / "private"
    monkeypatch.setattr(
        micropython,
        "PLACES",
        {64: ("MICROPYTHON", "micropython", private), 32: ("MICROPYTHON32", "mpy32", private)},
    )
    for variable in ("MICROPYTHON", "MICROPYTHON32"):
        monkeypatch.delenv(variable, raising=False)
    (tmp_path / "path").mkdir()
    monkeypatch.setenv("PATH", f"{tmp_path}/path:/usr/bin:/bin")
    micropython.fault.cache_clear()


def test_none_is_found_on_a_bare_machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    monkeypatch.setenv("PATH", f"{tmp_path}/path")
    assert micropython.find(64) is None
    assert micropython.find(32) is None


@pytest.mark.process
@pytest.mark.parametrize(
    ("answer", "word"),
    [
        ("micropython 1 21 64", "1.22 or newer is needed"),
        ("micropython 1 25 32", "a 64-bit one is expected"),
        ("cpython 3 12 64", "does not answer as a MicroPython"),
        ("", "does not answer as a MicroPython"),
    ],
)
def test_an_unfit_interpreter_is_refused_with_the_reason(answer, word, tmp_path, monkeypatch):
    monkeypatch.setenv("MICROPYTHON", interpreter(tmp_path / "unfit", answer))
    assert micropython.find(64) is None
    assert [word in candidate.fault for candidate in micropython.candidates(64)] == [True]


@pytest.mark.process
def test_what_the_variable_names_comes_before_the_path_and_the_private_one(tmp_path, monkeypatch):
    private = interpreter(tmp_path / "private", "micropython 1 25 64")
    assert micropython.find(64) == [private]
    on_path = interpreter(tmp_path / "path" / "micropython", "micropython 1 22 64")
    assert micropython.find(64) == [on_path]
    named = interpreter(tmp_path / "named", "micropython 2 0 64")
    monkeypatch.setenv("MICROPYTHON", named)
    assert micropython.find(64) == [named]


@pytest.mark.process
def test_an_old_one_on_the_path_gives_way_to_the_private_one(tmp_path):
    interpreter(tmp_path / "path" / "micropython", "micropython 1 19 64")
    private = interpreter(tmp_path / "private", "micropython 1 25 64")
    assert micropython.find(64) == [private]


@pytest.mark.parametrize(
    ("os_release", "sources", "line"),
    [
        (
            BOOKWORM,
            STANZAS,
            "deb [signed-by=/usr/share/keyrings/d.gpg] http://mirror/debian trixie main\n",
        ),
        (
            JAMMY,
            LINES,
            "deb [signed-by=/etc/keys/u.gpg] http://mirror/ubuntu resolute main universe\n",
        ),
        (
            MINT,
            LINES,
            "deb [signed-by=/etc/keys/u.gpg] http://mirror/ubuntu resolute main universe\n",
        ),
    ],
)
def test_the_mirror_is_the_machines_own_with_the_suite_replaced(os_release, sources, line):
    assert fetch_micropython.mirror_line(os_release, [sources]) == line


@pytest.mark.parametrize(
    ("os_release", "sources", "word"),
    [
        (FEDORA, STANZAS, "neither Debian nor Ubuntu"),
        ("", "", "neither Debian nor Ubuntu"),
        (BOOKWORM, LINES, "no source in /etc/apt offers bookworm"),
        (
            BOOKWORM,
            "Types: deb\nURIs: x\nEnabled: no\nSuites: bookworm\nComponents: main",
            "offers",
        ),
    ],
)
def test_a_machine_without_such_a_mirror_is_told_why(os_release, sources, word):
    with pytest.raises(fetch_micropython.Unobtainable, match=word):
        fetch_micropython.mirror_line(os_release, [sources])


def test_setup_goes_on_without_a_micropython_and_says_what_to_install(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.setenv("PATH", f"{tmp_path}/path")  # no apt here either
    monkeypatch.setattr(micropython, "FOLDER", tmp_path / "folder")
    assert fetch_micropython.main([]) == 0
    assert "sudo apt install micropython" in capsys.readouterr().out
    assert fetch_micropython.main([]) == 0  # the second time one line, and no attempt
    assert capsys.readouterr().out.count("\n") == 1
    assert fetch_micropython.main(["--again"]) == 0
    assert "brew install micropython" in capsys.readouterr().out


@pytest.mark.process
@pytest.mark.parametrize("words", [["false"], ["no-such-command"]])
def test_a_command_that_fails_is_a_reason_not_a_crash(words, tmp_path):
    with pytest.raises(fetch_micropython.Unobtainable, match=words[0]):
        fetch_micropython._run(words)


@pytest.mark.process
@pytest.mark.parametrize(
    "program",
    ["sim_mock.runtime.fetch_micropython", "sim_mock.runtime.compiled", "hardware.drawing"],
)
def test_a_program_that_is_asked_for_help_does_nothing_else(program):
    begun = [sys.executable, "-m", program]
    asked = subprocess.run([*begun, "--help"], capture_output=True, text=True, check=False)
    assert asked.returncode == 0
    assert asked.stdout.startswith(f"usage: python -m {program} [-h]")
    wrong = subprocess.run([*begun, "--hepl"], capture_output=True, text=True, check=False)
    assert wrong.returncode == 2
    assert "unrecognized arguments: --hepl" in wrong.stderr
