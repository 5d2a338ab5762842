"""What writes a configuration is brought in at rest, and let go of; what fails is told in words."""

import sys

import pytest

from firmware.core.settings import overlay, writing
from firmware.core.settings.configuration import drafted
from firmware.core.supervisor import ARMED
from firmware.protocol.codes import EVENT_CONFIGURED
from firmware.protocol.messages import Committed, ConfigCommit, Parameter, ParameterWrite
from tests.firmware.core.bare_car import ACTIVE, FAULT, HOLD, STANDBY, STARTING, STOPPED, STOPPING
from tests.firmware.core.bare_car import US as HOST
from tests.firmware.core.desk import parameters_of
from tests.firmware.core.link.test_dispatcher_replies import NAME, Line, hash_of, made

OK, NOT_NOW, NOT_STORED, MOVING, NOT_LOADED, NOT_TAKEN = 0, 3, 5, 7, 9, 10
LITTLEFS_FILE = 1148  # bytes of an open file on an RP2040, its buffer within


@pytest.fixture
def line():
    return Line(start_ms=0)


def in_standby(line) -> Line:
    line.say(steps=20)
    assert line.car.state == STANDBY
    return line


def written(line, value=None):
    """What the car answers to a write of ``stand_ms``, and the value."""
    at = parameters_of(line.car.app).index("stand_ms")
    value = line.car.app.configuration.values[at] - 1 if value is None else value
    request = made(ParameterWrite, epoch=HOST, index=at, value=value)
    return line.answer(Parameter, request).result, at, value


def committed(line, at, value):
    wanted = hash_of(line.car.app, at, value)
    request = made(ConfigCommit, epoch=HOST, config_hash=wanted, car_name=NAME)
    return line.answer(Committed, request).result


def is_loaded(line) -> bool:
    return line.car.app.overlay.writing is not None


def refuses(line, state: int, why: int) -> None:
    """A write and a commit in this state are refused, and neither brings it in."""
    line.car.app.supervisor.state = state
    result, at, value = written(line)
    assert (result, is_loaded(line)) == (why, False)
    line.car.app.supervisor.state = state
    assert committed(line, at, value) == why
    assert not is_loaded(line)


def kept(line) -> tuple:
    """All that a failure may not change."""
    held, board = line.car.app.configuration, line.car.board
    return (
        list(held.values), bytes(held.car_name), bytes(held.config_hash), held.is_valid,
        held.is_ours, bytes(board.image), line.car.app.drive._brake_max,
    )  # fmt: skip


def test_it_is_in_memory_from_a_write_to_a_commit(line):
    in_standby(line)
    assert not is_loaded(line)
    result, at, value = written(line)
    assert (result, is_loaded(line)) == (OK, True)
    line.say(steps=50)
    assert is_loaded(line)
    assert committed(line, at, value) == OK
    assert (is_loaded(line), line.car.app.configuration.draft) == (False, None)
    assert line.car.app.configuration.values[at] == value


def test_a_commit_alone_brings_it_in_too(line):
    in_standby(line)
    values = line.car.app.configuration.values
    assert committed(line, 1, values[1]) == OK
    assert (is_loaded(line), line.car.app.configuration.draft) == (False, None)


def test_as_the_car_is_armed_it_is_let_go_of_and_the_draft_waits(line):
    in_standby(line)
    _, at, value = written(line)
    app = line.car.app
    app.actions.granted = ARMED
    app.dispatcher._follow_up(1, 0, 0, line.car.now_us)
    assert not is_loaded(line)
    assert line.car.app.configuration.draft is not None
    app.actions.granted = 0
    assert committed(line, at, value) == OK
    assert app.configuration.values[at] == value


def test_on_the_step_on_which_it_is_armed_nothing_is_brought_in(line):
    """The state is STANDBY still: it would be in memory for the whole drive."""
    in_standby(line)
    app = line.car.app
    app.actions.granted = ARMED
    at = parameters_of(app).index("stand_ms")
    app.overlay._write(made(ParameterWrite, epoch=HOST, index=at, value=5_000), line.car.now_us)
    assert (app.overlay._parameter.result, is_loaded(line)) == (NOT_NOW, False)


@pytest.mark.parametrize("state", [STARTING, HOLD, ACTIVE, STOPPING, STOPPED])
def test_in_another_state_nothing_is_brought_in(line, state):
    in_standby(line)
    refuses(line, state, NOT_NOW)


@pytest.mark.parametrize("state", [STANDBY, FAULT])
def test_while_the_wheels_turn_nothing_is_brought_in(line, state):
    in_standby(line)
    line.car.app.supervisor.state = state
    line.car.app.odometry.step = lambda *_: setattr(line.car.app.odometry, "speed_mm_s", 500)
    line.say(steps=2)
    refuses(line, state, MOVING)


def no_memory(*_):
    raise MemoryError("planted")


def no_flash(*_):
    raise OSError("planted")


def plant(monkeypatch, what) -> None:
    if what == "import":
        monkeypatch.setitem(sys.modules, "firmware.core.settings.writing", None)
    else:
        monkeypatch.setattr(writing, "Writing", no_memory if what == "memory" else no_flash)


@pytest.mark.parametrize("what", ["memory", "import", "flash"])
def test_a_load_that_fails_is_an_answer_and_changes_nothing(line, monkeypatch, what):
    in_standby(line)
    heap, before = [], kept(line)
    line.car.board.open_heap = lambda: heap.append("open")
    line.car.board.close_heap = lambda: heap.append("closed")
    with monkeypatch.context() as planted:
        plant(planted, what)
        result, at, value = written(line)
        assert (result, is_loaded(line)) == (NOT_LOADED, False)
        assert committed(line, at, value) == NOT_LOADED
    assert heap == ["open", "closed"] * 2
    assert kept(line) == before
    assert line.car.state == STANDBY
    assert written(line, value)[0] == OK, "there is room again"
    assert committed(line, at, value) == OK


def test_a_load_that_fails_leaves_a_draft_that_waits(line, monkeypatch):
    in_standby(line)
    _, at, value = written(line)
    line.car.app.overlay.let_go()
    with monkeypatch.context() as planted:
        plant(planted, "memory")
        assert committed(line, at, value) == NOT_LOADED
    assert committed(line, at, value) == OK
    assert line.car.app.configuration.values[at] == value


@pytest.mark.parametrize("where", ["save", "begin"])
def test_memory_that_does_not_do_in_a_commit_leaves_all_as_it_was(line, where):
    """While it is stored; before that there is nothing to be undone."""
    in_standby(line)
    _, at, value = written(line)
    before = kept(line)
    board = line.car.board
    taken = line.car.app.overlay.writing
    if where == "save":
        board.save = no_memory
    else:
        taken.params.swap_draft = no_memory
    assert committed(line, at, value) == NOT_LOADED
    assert kept(line) == before
    assert line.car.state == STANDBY
    if where == "save":
        del board.save
    assert committed(line, at, value) == OK


def test_a_refusal_does_not_write_where_it_is_in_memory(line):
    in_standby(line)
    _, at, value = written(line)
    app = line.car.app
    app.actions.granted = ARMED
    request = made(ParameterWrite, epoch=HOST, index=at, value=value - 1)
    app.overlay._write(request, line.car.now_us)
    assert app.overlay._parameter.result == NOT_NOW
    assert drafted(app.configuration.draft, at) == value
    app.actions.granted = 0
    app.supervisor.state = HOLD
    assert committed(line, at, value) == NOT_NOW
    assert app.configuration.values[at] == value + 1


@pytest.mark.parametrize("error", [MemoryError, ImportError, OSError])
def test_a_car_that_cannot_go_by_what_it_stored_says_so_and_is_in_fault(line, error):
    in_standby(line)
    _, at, value = written(line)
    app = line.car.app
    own, app.overlay._configure = app.overlay._configure, raises(error)
    assert committed(line, at, value) == NOT_TAKEN
    assert not app.configuration.is_valid
    assert not is_loaded(line)
    assert times_configured(line) == 0
    line.say(steps=2)
    assert line.car.state == FAULT
    app.overlay._configure = own
    assert written(line, value)[0] == OK
    assert committed(line, at, value) == OK
    assert app.configuration.is_valid
    assert times_configured(line) == 1


def raises(error):
    def planted(_params):
        raise error("planted")

    return planted


def times_configured(line) -> int:
    return line.car.app.events._codes.count(EVENT_CONFIGURED)


@pytest.fixture
def loads(monkeypatch):
    """What is imported, dropped and collected, in order."""
    done = []
    own = __import__
    monkeypatch.setattr(overlay, "collect", lambda: done.append("collect"))
    monkeypatch.setattr(overlay, "forget", lambda *names: done.append(names))
    monkeypatch.setattr(
        overlay, "__import__", lambda name: (done.append(name), own(name)), raising=False
    )
    return done


NAMES = tuple(f"firmware.core.settings.{own}" for own in ("params", "checked_params", "writing"))
NAMING, *JUDGING = ((name, "firmware.core.settings", name.rpartition(".")[2]) for name in NAMES)


def test_its_modules_come_one_by_one_behind_the_draft_and_go_in_turn(line, loads):
    in_standby(line)
    loads.clear()
    held = line.car.app.configuration
    own_draft = held.open_draft
    held.open_draft = lambda: (loads.append("draft"), own_draft())[1]
    _, at, value = written(line)
    assert loads == ["collect", "draft", *NAMES, "collect"]
    loads.clear()
    assert committed(line, at, value) == OK
    assert loads == [*JUDGING, NAMING]


def test_at_the_start_the_names_stay_until_all_is_configured(loads):
    Line(start_ms=0)
    assert loads == [*NAMES, *JUDGING, *JUDGING, NAMING]


def test_whoever_is_configured_finds_its_room(line):
    in_standby(line)
    _, at, value = written(line)
    app, seen = line.car.app, []
    own = app.overlay._configure
    app.overlay._configure = lambda params: (
        seen.append((app.overlay.writing, app.configuration.draft)),
        own(params),
    )
    assert committed(line, at, value) == OK
    assert seen == [(None, None)]


def test_the_room_of_a_file_is_free_where_it_is_stored(line):
    """And in one piece: it was taken before anything else could lie in it."""
    in_standby(line)
    _, at, value = written(line)
    held, board = line.car.app.overlay.writing, line.car.board
    assert len(held._room) >= LITTLEFS_FILE
    seen = []
    board.save = lambda pieces: bool(seen.append(held._room) or True)
    assert committed(line, at, value) == OK
    assert seen == [None]


@pytest.mark.parametrize("what", ["memory", "import", "flash"])
@pytest.mark.parametrize("has_draft", [False, True])
def test_a_load_that_fails_leaves_a_draft_only_where_one_was(line, monkeypatch, what, has_draft):
    in_standby(line)
    if has_draft:
        written(line)
        line.car.app.overlay.let_go()
    dropped = []
    monkeypatch.setattr(overlay, "forget", lambda name, *_: dropped.append(name))
    with monkeypatch.context() as planted:
        plant(planted, what)
        assert written(line)[0] == NOT_LOADED
    assert (line.car.app.configuration.draft is not None) == has_draft
    assert sorted(dropped) == sorted(NAMES)


class NoRoom:
    """Bytes of which there is no memory for a copy."""

    def __bytes__(self):
        raise MemoryError("planted")


@pytest.mark.parametrize("what", ["config_hash", "car_name"])
def test_memory_that_does_not_do_for_a_copy_of_what_was_leaves_all_as_it_was(line, what):
    in_standby(line)
    _, at, value = written(line)
    before = kept(line)
    params = line.car.app.overlay.writing.params
    held = getattr(params, what)
    setattr(params, what, NoRoom())
    result = committed(line, at, value)
    setattr(params, what, held)
    assert result == NOT_LOADED
    assert kept(line) == before
    assert committed(line, at, value) == OK
