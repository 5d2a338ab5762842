"""QR codes in a terminal's characters, read by another program from a picture of the screen."""

from __future__ import annotations

import io

import pytest

from host_bridge.cli.commands import invite
from host_bridge.sharing.network.sealed.handshake import Role
from host_bridge.sharing.network.tokens import Token
from host_bridge.station.phone import phone_station
from tests.host_bridge.sharing.network.bench import Bench

HALVES = {" ": (0, 0), "▀": (1, 0), "▄": (0, 1), "█": (1, 1)}  # lit: above, below
DOTS = 4  # of the picture, for half a character each way
LINK = "https://192.168.1.7:27443/seat#" + "0a1B" * 8


class Terminal(io.StringIO):
    """A standard output that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def decoded(screen: str) -> str:
    """Photograph the lines of blocks of a dark terminal, and return what a QR decoder reads."""
    cv2 = pytest.importorskip("cv2", reason="no decoder of QR codes here")
    numpy = pytest.importorskip("numpy")
    blocks = [line for line in screen.splitlines() if line and not set(line) - set(HALVES)]
    assert len(blocks) > 10, screen
    assert len(set(map(len, blocks))) == 1
    rows = [[HALVES[it][half] for it in line] for line in blocks for half in (0, 1)]
    lit = numpy.kron(numpy.array(rows, numpy.uint8) * 255, numpy.ones((DOTS, DOTS), numpy.uint8))
    text, corners, _ = cv2.QRCodeDetector().detectAndDecode(numpy.pad(lit, 40))
    assert corners is not None, "no code is seen in it"
    return text


@pytest.mark.parametrize("role", [Role.WATCH, Role.DRIVE], ids=["watch", "drive"])
def test_the_code_of_a_token_is_the_token(role, tmp_path, monkeypatch):
    token = Bench(tmp_path / "guests").token(role)
    monkeypatch.setattr("sys.stdout", terminal := Terminal())
    invite._draw(token.text())
    assert Token.parse(decoded(terminal.getvalue())) == token


def test_the_code_for_a_phone_is_the_page_of_its_seat(monkeypatch):
    monkeypatch.setattr("sys.stdout", terminal := Terminal())
    phone_station._draw(LINK)
    assert LINK in terminal.getvalue().splitlines()
    assert decoded(terminal.getvalue()) == LINK


def test_no_key_is_drawn_into_a_log(capsys):
    invite._draw("TANDEM:ABC")
    assert capsys.readouterr().out == ""
