"""The endless loop's beat to the microsecond: a step when it is due, one for a Stop sooner."""

import sys
from types import SimpleNamespace

import pytest

from firmware.boards import start
from firmware.boards.start import Beat, BoxBeat, CarProgram

PERIOD = 1 << 30
EVERY_US, TAKES_US = 10_000, 3_000


class World:
    """A board, a program whose step takes its time, a clock that goes on as the test says."""

    def __init__(self, start_us=0, kind=Beat):
        self.now_us = start_us
        self.takes_us = TAKES_US
        self.stepped = []
        self.fed = []
        self.chores_us = 0
        self.may_move = []
        self.is_free = True
        self.taken = 0
        link = SimpleNamespace(hears_stop=False, asks_for_repl=False, forget=self._forget)
        between = SimpleNamespace(run=self._between)
        self.board = SimpleNamespace(link=link, between_steps=between, ran_us=0, step_us=0)
        overruns = SimpleNamespace(beat_us=EVERY_US)
        actions = SimpleNamespace(take=self._take)
        self.app = SimpleNamespace(
            step=self._step,
            overruns=overruns,
            actions=actions,
            output_stage=SimpleNamespace(is_enabled=False),
        )
        watchdog = SimpleNamespace(feed=lambda: self.fed.append(len(self.stepped)))
        self.beat = kind(self.board, self.app, lambda: self.now_us, watchdog)

    def _between(self, may_move):
        self.may_move.append(may_move)
        did, self.chores_us = self.chores_us, 0
        self.now_us += did
        return did > 0

    def _step(self, now_us):
        self.stepped.append(now_us)
        self.heard = self.board.link.hears_stop
        self.now_us += self.takes_us

    def _take(self):
        self.taken += 1
        return self.is_free

    def _forget(self):
        self.board.link.asks_for_repl = False

    def turn(self, at_us=None):
        """Whether it stepped, in a turn at that time."""
        before = len(self.stepped)
        self.now_us = self.now_us if at_us is None else at_us
        assert self.beat.turn()
        return len(self.stepped) > before


@pytest.mark.parametrize("start_us", [0, PERIOD - 10_000, PERIOD - 1, 5])
def test_a_step_begins_when_it_is_due_across_every_wrap(start_us):
    world = World(start_us)
    for n in range(4):
        due_us = start_us + n * EVERY_US
        if n:
            assert not world.turn(due_us - 1)
        assert world.turn(due_us)
        assert world.stepped[-1] == due_us % PERIOD
        assert not world.turn()
    assert world.fed == [1, 2, 3, 4]  # each after its step


def test_one_that_comes_late_is_told_and_the_next_keeps_its_time():
    world = World()
    world.turn(0)
    assert (world.board.ran_us, world.board.step_us) == (3_000, 3_000)
    world.turn(EVERY_US + 2_000)
    assert (world.board.ran_us, world.board.step_us) == (3_000, 5_000)
    assert not world.turn(2 * EVERY_US - 1)
    assert world.turn(2 * EVERY_US)
    assert world.board.step_us == 3_000


@pytest.mark.parametrize(("takes_us", "next_us"), [(20_000, 20_000), (20_001, 20_001)])
def test_what_was_missed_by_more_than_a_beat_is_missed(takes_us, next_us):
    """Up to that it is made up for, at once."""
    world = World()
    world.takes_us = takes_us
    world.turn(0)
    world.takes_us = 100
    assert world.turn()
    assert world.stepped == [0, next_us]
    late_us = 10_000 if takes_us == 20_000 else 0
    assert world.board.step_us == 100 + late_us


def test_what_the_board_does_in_between_is_no_lateness_of_the_program():
    world = World()
    world.turn(0)
    world.chores_us = 300_001
    assert world.turn(EVERY_US)
    assert world.stepped[-1] == EVERY_US + 300_001
    assert world.board.step_us == TAKES_US


@pytest.mark.parametrize("is_enabled", [False, True])
def test_the_board_is_told_whether_the_car_may_move(is_enabled):
    world = World()
    world.app.output_stage.is_enabled = is_enabled
    world.turn()
    assert world.may_move == [is_enabled]


def test_a_stop_is_heard_half_a_beat_after_the_step_before_and_moves_the_beat():
    world = World()
    world.turn(0)
    world.turn(EVERY_US)
    world.board.link.hears_stop = True
    assert not world.turn(EVERY_US + EVERY_US // 2 - 1)
    assert world.turn(EVERY_US + EVERY_US // 2)
    assert world.heard is False  # the step that looks at it begins anew
    assert world.board.step_us == TAKES_US
    assert not world.turn(2 * EVERY_US + EVERY_US // 2 - 1)
    assert world.turn(2 * EVERY_US + EVERY_US // 2)


def test_without_a_stop_no_step_comes_sooner():
    world = World()
    world.turn(0)
    assert not world.turn(EVERY_US - 1)


def test_the_heap_is_locked_while_it_steps_and_for_nobody_after_it(monkeypatch):
    world, locks = World(), []
    monkeypatch.setattr(start.micropython, "heap_lock", lambda: locks.append(len(world.stepped)))
    monkeypatch.setattr(start.micropython, "heap_unlock", lambda: locks.append(-1))
    world.turn()
    assert locks == [0, -1]

    def fail(now_us):
        raise MemoryError

    world.app.step = fail
    with pytest.raises(MemoryError):
        world.turn(EVERY_US)
    assert locks == [0, -1, 1, -1]
    assert world.fed == [1]  # one that fails feeds nothing


@pytest.mark.parametrize(
    ("is_enabled", "is_free", "goes_on"),
    [(False, True, False), (False, False, True), (True, True, True), (True, False, True)],
)
def test_the_repl_is_given_while_nothing_moves_and_nothing_is_asked_for(
    is_enabled, is_free, goes_on
):
    world = World()
    world.app.output_stage.is_enabled, world.is_free = is_enabled, is_free
    world.board.link.asks_for_repl = True
    assert world.beat.turn() is goes_on
    assert world.board.link.asks_for_repl is not goes_on  # refused is forgotten
    assert world.taken == (0 if is_enabled else 1)


def test_without_being_asked_for_nothing_is_given_and_nothing_taken():
    world = World()
    assert world.beat.turn() is True
    assert world.taken == 0


def test_a_box_keeps_its_own_beat_moves_nothing_and_may_always_be_left():
    world = World(kind=BoxBeat)
    del world.app.overruns, world.app.output_stage, world.app.actions
    assert world.turn(0)
    assert not world.turn(9_999)
    assert world.turn(10_000)
    assert set(world.may_move) == {False}
    world.board.link.asks_for_repl = True
    assert world.beat.turn() is False
    assert world.board.link.asks_for_repl


def test_a_box_runs_until_its_repl_is_asked_for():
    world = World(kind=BoxBeat)

    def step(now_us):
        world.stepped.append(now_us)
        world.now_us += EVERY_US
        world.board.link.asks_for_repl = len(world.stepped) == 3

    world.app.step = step
    world.beat.run()
    assert len(world.stepped) == 3


def test_few_calls_lie_around_a_step():
    """Each takes 250 bytes of an RP2040's C stack; with four more a configuration's write, an
    interrupt of the guard's on top, had 324 of 8192 left."""
    names = []
    world = World()

    def step(now_us):
        frame = sys._getframe(1)
        while frame.f_code.co_filename.endswith("start.py"):
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        world.board.link.asks_for_repl = True

    world.app.step = step
    program = CarProgram.__new__(CarProgram)
    program._beat, program.hitl_entry = world.beat, SimpleNamespace(is_asked=False)
    program._board = SimpleNamespace(link=SimpleNamespace(close=lambda: None))
    program.run()
    assert names == ["_step", "turn", "run"]


@pytest.mark.parametrize(("is_asked", "ends"), [(True, 9), (False, 2)])
def test_the_loop_ends_with_the_repl_or_with_hardware_in_the_loop(is_asked, ends, monkeypatch):
    turns, did = [], []
    door = SimpleNamespace(is_asked=False)

    def turn():
        turns.append(1)
        door.is_asked = is_asked and len(turns) == 3
        return len(turns) < ends

    monkeypatch.setattr(start.machine, "WDT", lambda timeout: "watchdog", raising=False)
    monkeypatch.setattr(start, "leave", lambda board, starts: f"left {board.name}")
    monkeypatch.setattr(start, "rehearse", lambda *parts: did.append(parts[0]))
    program = CarProgram.__new__(CarProgram)  # what makes it is run by the benches of boards
    link = SimpleNamespace(close=lambda: did.append("closed"))
    program._board = SimpleNamespace(link=link, name="it")
    program._starts = program._ticks_us = None
    program._beat, program.hitl_entry = SimpleNamespace(turn=turn), door
    program.run()
    assert did == (["left it", "closed"] if is_asked else ["closed"])
    assert len(turns) == (3 if is_asked else 2)
    # hardware in the loop needs their room
    assert (program._beat is None, program._board is None) == (is_asked, is_asked)
