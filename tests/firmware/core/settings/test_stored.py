"""What a car answers to a commit, what its store keeps and what it drives by agree."""

import pytest

from firmware.boards import store
from firmware.boards.store import Store
from firmware.core.settings.checked_params import CheckedParams
from firmware.protocol.codes import FAULT, FAULT_CONFIGURATION
from firmware.protocol.frame import crc_table
from tests.firmware.core.link.test_dispatcher_replies import Line
from tests.firmware.core.settings.failing_files import FailingFiles
from tests.firmware.core.settings.test_overlay import OK, committed, in_standby, written

STAND_MS = 5_000
NOT_TAKEN = 10


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


def configured_parts(line, monkeypatch) -> list:
    """The parts that a commit configures, each with the name of the method, in order."""
    app, found = line.car.app, []
    parts = [part for part in vars(app).values() if hasattr(part, "configure")]
    for part, method in [*((part, "configure") for part in parts), (app.board, "begin")]:
        own = getattr(part, method)
        monkeypatch.setattr(part, method, noting(found, part, method, own), raising=True)
    before = app.configuration.values[line.at]
    for value in (STAND_MS + 1, before):
        assert written(line, value)[0] == OK
        assert committed(line, line.at, value) == OK
    monkeypatch.undo()
    assert len(found) % 2 == 0
    return found[: len(found) // 2]


def noting(found, part, method, own):
    def noted(*arguments):
        found.append((part, method))
        return own(*arguments)

    return noted


def failing(own, error, is_late):
    def failed(*arguments):
        if is_late:
            own(*arguments)
        raise error("planted")

    return failed


@pytest.mark.parametrize("error", [MemoryError, ImportError, OSError])
@pytest.mark.parametrize("is_late", [False, True])
def test_a_part_without_memory_for_what_was_stored_is_told_and_holds_the_car(
    tmp_path, monkeypatch, error, is_late
):
    """It stands in FAULT with what it cannot go by, resets nothing, and takes the next commit."""
    line = a_line(tmp_path / "store")
    parts = configured_parts(line, monkeypatch)
    assert len(parts) > 15, "each part was tried"
    held = line.car.app.configuration
    for at, (part, method) in enumerate(parts):
        value = STAND_MS + 2 + at
        assert written(line, value)[0] == OK
        with monkeypatch.context() as planted:
            planted.setattr(part, method, failing(getattr(part, method), error, is_late))
            assert committed(line, line.at, value) == NOT_TAKEN, method
        assert kept_by(line).values[line.at] == value, "a restart goes by it"
        line.say(steps=20)
        assert (line.car.state, held.is_valid) == (FAULT, False)
        assert line.car.app.faults.present >> FAULT_CONFIGURATION & 1
        assert written(line, value)[0] == OK
        assert committed(line, line.at, value) == OK
        assert agree(line, value)
