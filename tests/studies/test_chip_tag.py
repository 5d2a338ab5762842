"""The times of a box's words are taken on the program that a flashed board has."""

import pytest

from host_bridge.deploy.flash.build import program_for
from host_bridge.deploy.flash.program.flattening import text_for_board
from sim_mock.runtime import micropython
from tests.studies import chip_tag

ROWS = {
    "nothing", "one block, in place", "a tag made", "a word heard: frame, fields, tag",
    "a word of another key", "a challenge said: fields, tag, frame",
}  # fmt: skip


@pytest.mark.micropython
@pytest.mark.parametrize("is_flashed", [True, False])
def test_a_word_is_believed_and_each_row_timed(tmp_path, is_flashed):
    command = micropython.find(64)
    if command is None:
        pytest.skip("it is timed under a MicroPython, and there is none: make setup")
    folder, text = chip_tag.ROOT, chip_tag.TIMED
    if is_flashed:
        folder, text = tmp_path, text_for_board(text)
        for path, source in program_for("rp2").items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(source)
    taken, found = chip_tag.timed_here(command, folder, text)
    assert taken
    assert set(found) == ROWS
    assert found["a word heard: frame, fields, tag"][0] > 0
