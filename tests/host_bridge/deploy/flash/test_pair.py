"""A key over a real raw REPL, and what of it the program's own reader makes then."""

from pathlib import Path

import pytest

from firmware.boards import keys
from firmware.protocol import codes
from host_bridge.cli import main as cli
from host_bridge.config.boards import heap
from host_bridge.config.boards.heap import HeapNeed
from host_bridge.core.errors import RefusedFault
from host_bridge.deploy.flash.board import pairing_key
from host_bridge.deploy.flash.board.repl import raw_board
from host_bridge.deploy.flash.install import install, plan_install
from host_bridge.deploy.flash.program.program import launcher_files
from tests.host_bridge.deploy.flash.far_end import repl_board
from tests.host_bridge.deploy.flash.test_power_cuts import program

KEY = bytes(range(1, 17))
PINS = 'PROGRAM = "%s"\nBOARD = "pico"\nVEHICLE = "f1tenth"\n'
CIPHER = "def aes(key, mode): pass\n"


class Board:
    """What firmware/boards/keys.py sets."""

    def __init__(self, board_id: bytes) -> None:
        self.board_id = board_id


@pytest.fixture
def board_of(tmp_path):
    """A board with a program of this kind, at its raw REPL; its folder."""

    def made(kind: str, with_cipher: bool = True) -> Path:
        folder = tmp_path / kind
        with repl_board(folder) as (port, _), raw_board(port) as board:
            files = {**program("healthy", 20), "pins.py": (PINS % kind).encode()}
            plan = plan_install(board, files)
            install(board, files, launcher_files(), plan, lambda what, done, total: None)
            if with_cipher:
                board.put("/cryptolib.py", CIPHER.encode())
        return folder

    return made


@pytest.mark.micropython
@pytest.mark.parametrize("kind", ["car", "box"])
def test_what_it_writes_is_the_key_of_this_very_board(board_of, kind):
    folder = board_of(kind)
    with repl_board(folder) as (port, _), raw_board(port) as board:
        chip = board.facts().unique_id
        pairing_key.check(board, port, kind)
        assert not pairing_key.has_key(board)
        pairing_key.store(board, bytes(16), "older")
        assert not pairing_key.has_key(board), "zeros are none"
        pairing_key.store(board, KEY, "red")
        assert pairing_key.has_key(board)
    paths = tuple(str(folder / path[1:]) for path in pairing_key.PATHS)
    found = Board(keys.folded(chip))
    keys.read_key(found, paths)
    assert (found.pairing, found.key[:16]) == (codes.PAIRING_SILENT, KEY)
    assert found.key[16:].rstrip(b"\0") == b"red"
    first, second = map(Path, paths)
    first.write_bytes(b"damaged")
    keys.read_key(found, paths)
    assert found.key[:16] == KEY, "no older key comes back with a damaged file"
    second.write_bytes(b"damaged too")
    keys.read_key(found, paths)
    assert (found.key, found.pairing) == (b"", codes.PAIRING_NO_KEY)
    assert found.needs_box, "a key that is lost is not forgotten"
    with repl_board(folder) as (port, _), raw_board(port) as board:
        pairing_key.store(board, bytes(16), "")
    keys.read_key(found, paths)
    assert (found.key, found.pairing, found.needs_box) == (b"", codes.PAIRING_NO_KEY, 0)


@pytest.mark.micropython
def test_a_board_of_the_other_kind_and_one_without_a_cipher_are_refused(board_of):
    folder = board_of("car", with_cipher=False)
    with repl_board(folder) as (port, _), raw_board(port) as board:
        with pytest.raises(RefusedFault, match="runstop box"):
            pairing_key.check(board, port, "box")
        with pytest.raises(RefusedFault, match="cryptolib"):
            pairing_key.check(board, port, "car")
        with pytest.raises(RefusedFault, match="runstop box"):
            pairing_key.check_kind(board, port, "box")
        pairing_key.check_kind(board, port, "car")


@pytest.mark.micropython
def test_a_car_without_a_cipher_forgets_the_key_that_it_cannot_use(board_of):
    """It is not armed but on a stand until then: it needs a box that it can never know."""
    folder = board_of("car", with_cipher=False)
    with repl_board(folder) as (port, _), raw_board(port) as board:
        pairing_key.store(board, KEY, "red")
        assert pairing_key.has_key(board)
    with repl_board(folder) as (port, _):
        assert cli.main(["pair", "--car", str(port), "--forget"]) == 0
    with repl_board(folder) as (port, _), raw_board(port) as board:
        assert not pairing_key.has_key(board)


@pytest.mark.micropython
def test_a_car_whose_heap_has_no_room_for_a_key_is_refused_before_it_is_written(
    board_of, monkeypatch
):
    folder = board_of("car")
    need = HeapNeed(
        "rp2040", "f1tenth", True, "car", "1.29.0", "usb", 1 << 40, "hash", "2026-11-26", "a test"
    )
    with repl_board(folder) as (port, _), raw_board(port) as board:
        pairing_key.check(board, port, "car")
        pairing_key.refuse_heap_without_room(
            board, port
        )  # by what was measured: Node has megabytes
        monkeypatch.setattr(heap, "read_needs", lambda: [need])
        with pytest.raises(RefusedFault, match="too little heap") as caught:
            pairing_key.refuse_heap_without_room(board, port)
    assert "f1tenth with a runstop box's key" in caught.value.expected
    assert "a Pico 2" in caught.value.remedy


def test_the_files_are_those_that_the_board_reads():
    assert pairing_key.PATHS == keys.PATHS
    assert (pairing_key.KEY, pairing_key.BOARD_ID, pairing_key.NAME) == (
        keys.KEY,
        keys.BOARD_ID,
        keys.NAME,
    )
    for chip in (bytes(range(8)), bytes(range(12)), b"\xff" * 6):
        assert pairing_key.board_id_of(chip) == keys.folded(chip)


@pytest.mark.parametrize(
    "words", [[], ["--car", "/a"], ["--box", "/a"], ["--car", "/a", "--box", "/a"],
              ["--car", "/a", "--box", "/b", "--forget"], ["--virtual", "f", "--car", "/a"]],
)  # fmt: skip
def test_what_makes_no_pair_is_a_mistake_of_usage(words, capsys):
    assert cli.main(["pair", *words]) == 2
    assert "remedy" in capsys.readouterr().err or words


def test_a_virtual_key_is_for_this_user_only_and_never_written_over(tmp_path, capsys):
    path = tmp_path / "box.key"
    assert cli.main(["pair", "--virtual", str(path)]) == 0
    assert path.stat().st_mode & 0o777 == 0o600
    key = path.read_text()
    assert len(bytes.fromhex(key)) == 16
    assert key.strip() not in capsys.readouterr().out
    assert cli.main(["pair", "--virtual", str(path)]) != 0
    assert path.read_text() == key
