"""Where a command is to draw is looked at before its work, which may take a night."""

import pytest

from host_bridge.cli.arguments.picture_option import prepare_picture
from host_bridge.cli.main import main
from host_bridge.core.errors import DataFileFault, UsageFault


def test_the_folder_of_a_picture_is_made_and_nothing_else(tmp_path):
    path = tmp_path / "a" / "b" / "x.png"
    prepare_picture(path, "--out")
    assert list(path.parent.iterdir()) == []


def test_a_picture_that_is_there_stays_until_it_is_drawn_anew(tmp_path):
    path = tmp_path / "x.svg"
    path.write_text("old")
    prepare_picture(path, "--out")
    assert path.read_text() == "old"


def test_no_picture_is_nothing_to_prepare():
    prepare_picture(None, "--out")


@pytest.mark.parametrize("name", ["x", "x.foo", "x.csv"])
def test_a_kind_of_file_that_is_not_drawn_is_refused(tmp_path, name):
    with pytest.raises(UsageFault, match="no kind of picture"):
        prepare_picture(tmp_path / name, "--picture")


def test_a_picture_that_cannot_be_written_is_refused(tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "x.png").mkdir()
    for path in (tmp_path / "file" / "x.png", tmp_path / "x.png"):
        with pytest.raises(DataFileFault, match="picture cannot be written"):
            prepare_picture(path, "--out")


@pytest.mark.parametrize(
    "words",
    [
        ["faults", "--case", "total-silence", "--picture"],
        ["replay", "no_such.mcap", "--out"],
    ],
)
def test_each_command_that_draws_looks_before_its_work(words, capsys):
    assert main([*words, "x.foo"]) == 2
    said = capsys.readouterr()
    assert "no kind of picture" in said.err
    assert said.out == ""
