"""What a car answers to a commit, what its store keeps and what it drives by agree."""

import pytest

from firmware.boards import store
from firmware.boards.store import Store
from firmware.core.settings.checked_params import CheckedParams
from firmware.protocol.frame import crc_table
from tests.firmware.core.link.test_dispatcher_replies import Line
from tests.firmware.core.settings.failing_files import FailingFiles
from tests.firmware.core.settings.test_overlay import OK, committed, in_standby, written

STAND_MS = 5_000


def a_line(folder) -> Line:
    """A car in STANDBY that stores its configuration in files, and the first one is the newer."""
    folder.mkdir()
    line = in_standby(Line(start_ms=0))
    line.store = Store((str(folder / "a"), str(folder / "b")))
    line.car.board.save = line.store.save
    for value in (STAND_MS - 3, STAND_MS - 2, STAND_MS - 1):
        result, at, _ = written(line, value)
        assert (result, committed(line, at, value)) == (OK, OK)
    line.at = at
    return line


def kept_by(line) -> CheckedParams:
    """What the next start would take."""
    params = CheckedParams(crc_table())
    image = bytearray(params.image_size())
    assert line.store.load_into(image) == len(image)
    assert params.read_image(image)
    return params


def agree(line, value: int) -> bool:
    held, kept = line.car.app.configuration, kept_by(line)
    return (
        held.is_valid
        and held.is_ours
        and held.values == kept.values
        and held.config_hash == kept.config_hash
        and held.values[line.at] == value
    )


@pytest.mark.parametrize(
    ("error", "lasts"),
    [(MemoryError, False), (MemoryError, True), (OSError, False), (OSError, True)],
)
def test_wherever_its_store_fails(tmp_path, monkeypatch, error, lasts):
    monkeypatch.setattr(store, "_PIECE", 4_096)  # a file is read at once: fewer calls to try
    line, answers, at, calls = a_line(tmp_path / "store"), [], 0, 1
    while at <= calls:
        before, value = line.car.app.configuration.values[line.at], STAND_MS + at
        assert written(line, value)[0] == OK
        with pytest.MonkeyPatch.context() as planted:
            files = FailingFiles(planted, error, at, lasts)
            answers.append(committed(line, line.at, value))
        calls = calls if at else files.calls
        assert agree(line, value if answers[-1] == OK else before), (at, answers[-1])
        if answers[-1] != OK:
            assert committed(line, line.at, value) == OK, "the draft waits"
            assert agree(line, value), at
        at += 1
    assert answers[0] == OK
    assert len(set(answers)) > 1, "some failures are told"
    assert len(answers) > 20, "each call was tried"
