"""The list of logs: what is in it, and that no name leads out of its folder."""

from __future__ import annotations

import os

import pytest

from host_bridge.core.errors import DataFileFault
from host_bridge.station.log_views import folder as log_folder
from host_bridge.station.log_views.folder import LogFolder, parts_of
from tests.host_bridge.station.log_views.made_logs import made_log


@pytest.fixture
def place(tmp_path):
    (tmp_path / "logs").mkdir()
    return tmp_path / "logs"


def test_each_log_has_its_cars_length_and_size_and_the_newest_is_first(place):
    made_log(place / "old.mcap", 1.0)
    new = made_log(place / "new.mcap", 1.0, cars=("red", "twin"), drives_s=3.0)
    os.utime(place / "old.mcap", (1.0, 1.0))
    newest, oldest = LogFolder(place).rows()
    assert (newest.name, newest.cars, newest.is_complete) == ("new.mcap", ("red", "twin"), True)
    assert newest.length_s == pytest.approx(5.0, abs=0.05)
    assert newest.size_bytes == new.stat().st_size
    assert (oldest.name, oldest.written_s) == ("old.mcap", 1.0)


def test_a_log_that_is_cut_short_is_in_the_list_and_says_so(place):
    whole = made_log(place / "whole.mcap", 1.0, drives_s=400.0)  # several chunks
    (place / "cut.mcap").write_bytes(whole.read_bytes()[: whole.stat().st_size * 3 // 4])
    cut, _ = sorted(LogFolder(place).rows(), key=lambda it: it.name)
    assert not cut.is_complete
    assert 100.0 < cut.length_s < 400.0


def test_what_is_no_log_of_tandem_is_not_in_the_list(place):
    (place / "notes.txt").write_text("words")
    (place / "empty.mcap").write_bytes(b"")
    (place / "other.mcap").write_bytes(b"\x89MCAP0\r\n" + b"\0" * 200)
    (place / "folder.mcap").mkdir()
    made_log(place / ".hidden.mcap", 1.0)
    assert LogFolder(place).rows() == []
    assert LogFolder(place / "nowhere").rows() == []


def test_a_file_that_has_not_changed_is_not_read_again(place, monkeypatch):
    made_log(place / "a.mcap", 1.0)
    folder = LogFolder(place)
    first = folder.rows()
    read = []
    monkeypatch.setattr(log_folder, "outline", read.append)
    assert folder.rows() == first
    assert read == []
    made_log(place / "b.mcap", 1.0)
    folder.rows()
    assert [it.name for it in read] == ["b.mcap"]


HOSTILE = (
    "../secret.mcap", "..", ".", "", "/etc/passwd", "logs/../../secret.mcap", "..\\secret.mcap",
    "%2e%2e%2fsecret.mcap", "a.mcap\0", "a.mcap/", "./a.mcap", "A.MCAP", ".hidden.mcap",
    "link.mcap", "notes.txt", "folder.mcap", "\ud800.mcap", "a" * 5000 + ".mcap",
)  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
def test_no_other_name_than_that_of_a_log_here_is_served(place, name):
    secret = made_log(place.parent / "secret.mcap", 1.0)
    made_log(place / "a.mcap", 1.0)
    made_log(place / ".hidden.mcap", 1.0)
    (place / "link.mcap").symlink_to(secret)
    (place / "notes.txt").write_text("words")
    (place / "folder.mcap").mkdir()
    folder = LogFolder(place)
    assert folder.path_of("a.mcap") == place / "a.mcap"
    with pytest.raises(DataFileFault, match="no such log"):
        folder.path_of(name)


def test_of_a_log_that_grows_on_as_much_is_sent_as_was_promised(place):
    log = made_log(place / "a.mcap", 1.0)
    before = log.read_bytes()
    size, parts = parts_of(log)
    with log.open("ab") as file:
        file.write(b"more")
    assert size == len(before)
    assert b"".join(parts) == before
