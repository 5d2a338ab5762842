"""What is written beside and renamed is this login's own, whatever lies there already."""

from __future__ import annotations

import json
import re
import stat
from pathlib import Path

import pytest

import host_bridge
from host_bridge.config.store import backup_file
from host_bridge.config.store.pairings import Pairing, Pairings
from host_bridge.core.errors import DataFileFault
from host_bridge.core.system.atomic_file import write_atomically
from host_bridge.inputs.gamepad import PadMapping, PadMappings

PAIRING = Pairing("00ff", "red", "nigel", "0011")


def keep_pairing(folder: Path) -> Path:
    return Pairings(folder).keep(PAIRING)


def keep_pad(folder: Path) -> Path:
    return PadMappings(folder).keep(PadMapping("00ff"))


def keep_backup(folder: Path) -> Path:
    backup_file.write_backup(folder / "00ff.json", {"what": 7})
    return folder / "00ff.json"


WRITERS = [keep_pairing, keep_pad, keep_backup]


@pytest.mark.parametrize("write", WRITERS)
def test_a_link_that_lies_beside_it_leads_nowhere(tmp_path, write):
    """Another login's, in a folder that all may write: under the names that were used once."""
    folder, victim = tmp_path / "shared", tmp_path / "victim"
    folder.mkdir()
    victim.write_text("theirs")
    for name in ("00ff.json.new", "00ff.new", "00ff.1"):
        (folder / name).symlink_to(victim)
    path = write(folder)
    assert victim.read_text() == "theirs"
    assert not path.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    json.loads(path.read_text())


@pytest.mark.parametrize("write", WRITERS)
def test_a_file_that_lies_beside_it_does_not_become_it(tmp_path, write):
    theirs = [tmp_path / name for name in ("00ff.json.new", "00ff.new")]
    for it in theirs:
        it.write_text("theirs")
    numbers = {it.stat().st_ino for it in theirs}
    path = write(tmp_path)
    assert path.stat().st_ino not in numbers
    assert [it.read_text() for it in theirs] == ["theirs", "theirs"]
    assert {it.name for it in tmp_path.iterdir()} == {path.name, *(it.name for it in theirs)}


def test_a_link_in_its_place_is_replaced_and_not_followed(tmp_path):
    victim, path = tmp_path / "victim", tmp_path / "path"
    victim.write_text("theirs")
    path.symlink_to(victim)
    write_atomically(path, "ours")
    assert (victim.read_text(), path.read_text(), path.is_symlink()) == ("theirs", "ours", False)


def test_what_could_not_be_put_in_its_place_leaves_no_draft_and_the_old_one(tmp_path, monkeypatch):
    path = tmp_path / "path"
    path.write_text("before")

    def fail(*given):
        raise OSError("full")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(OSError, match="full"):
        write_atomically(path, "after")
    assert [(it.name, it.read_text()) for it in tmp_path.iterdir()] == [("path", "before")]
    with pytest.raises(DataFileFault, match="cannot write the backup"):
        backup_file.write_backup(path, {})


def test_nothing_else_of_the_host_writes_beside_and_renames():
    """A board's own files have their rename in its program; a drive's log is made with O_EXCL, and
    that of a campaign's case has its name once it is whole."""
    folder = Path(host_bridge.__file__).parent
    renames = (
        r"\b(?:draft|beside|part|aside|temporary)\.(?:replace|rename)\(|os\.(?:replace|rename)\("
    )
    found = {
        str(path.relative_to(folder))
        for path in folder.rglob("*.py")
        if re.search(renames, path.read_text())
    }
    assert found == {
        "core/system/atomic_file.py",
        "deploy/flash/board/board.py",
        "drive/lockstep/campaign/runners/keeping.py",
    }
