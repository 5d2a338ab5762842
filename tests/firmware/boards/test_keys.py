"""What a board takes its stored key for: its own, none, or one that was lost, which is not none."""

from types import SimpleNamespace

import pytest

from firmware.boards import keys
from firmware.boards.physical import board as metal
from firmware.boards.store import Store
from firmware.protocol.codes import PAIRING_MOVED, PAIRING_NO_KEY, PAIRING_SILENT
from sim_mock.board.pairing_keys import stored_key
from tests.firmware.boards.physical.test_physical_board import car_with

KEY, BOARD_ID, OTHER_ID = b"a key of 16 byte", b"12345678", b"87654321"
OWN = stored_key(KEY, BOARD_ID, "red")


@pytest.fixture
def paths(tmp_path):
    return str(tmp_path / "key_a.bin"), str(tmp_path / "key_b.bin")


def told(read, *args):
    """Whether it holds the key, how it stands with its box, and whether it needs it."""
    board = SimpleNamespace(board_id=BOARD_ID)
    read(board, *args)
    return board.key == KEY + OWN[24:], board.pairing, board.needs_box


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (b"", (False, PAIRING_NO_KEY, 0)),
        (stored_key(bytes(16), BOARD_ID), (False, PAIRING_NO_KEY, 0)),
        (stored_key(bytes(16), OTHER_ID), (False, PAIRING_NO_KEY, 0)),
        (OWN, (True, PAIRING_SILENT, 1)),
        (stored_key(KEY, OTHER_ID, "red"), (False, PAIRING_MOVED, 1)),
        (OWN[:-1], (False, PAIRING_NO_KEY, 1)),
        (OWN + b"\0", (False, PAIRING_NO_KEY, 1)),
        (bytes(16), (False, PAIRING_NO_KEY, 1)),
        (b"\0", (False, PAIRING_NO_KEY, 1)),
    ],
)
def test_only_what_was_never_given_or_was_forgotten_needs_no_box(image, expected):
    assert told(keys.take_key, image) == expected


def test_two_damaged_files_are_a_key_that_was_lost_and_one_is_no_loss(paths):
    for _ in range(2):
        assert Store(paths).save([bytearray(OWN)])
    assert told(keys.read_key, paths) == (True, PAIRING_SILENT, 1)
    for path, expected in zip(
        paths, [(True, PAIRING_SILENT, 1), (False, PAIRING_NO_KEY, 1)], strict=True
    ):
        with open(path, "r+b") as file:
            file.seek(7)
            file.write(b"\xff")
        assert told(keys.read_key, paths) == expected


@pytest.mark.parametrize(
    ("files", "needs_box"),
    [(["main.py"], 0), (["key_a.bin"], 1), (["key_b.bin"], 1), (["key_b.bin", "key_a.bin"], 1)],
)
def test_a_board_of_metal_needs_its_box_by_either_file(tmp_path, monkeypatch, files, needs_box):
    """These are listed and cannot be read: their key is lost."""
    monkeypatch.setattr(metal, "os", SimpleNamespace(listdir=lambda folder: files))
    board = car_with(tmp_path).board
    assert (board.key, board.pairing, board.needs_box) == (b"", PAIRING_NO_KEY, needs_box)
