"""The runstop's rows, where a car that stands has stopped before its slower reports say why."""

import asyncio
from types import SimpleNamespace

from host_bridge.core import Cause, State
from host_bridge.deploy.selftest.checks import runstop

OPEN = (Cause.RUNSTOP_LOOP,)
# state, causes, is the loop closed by the newest slow report
COURSE = (
    (State.HOLD, (), True),
    (State.STOPPING, OPEN, True),
    (State.STOPPED, OPEN, True),  # of before it was opened
    (State.STOPPED, OPEN, False),
    (State.STOPPED, OPEN, True),  # the person has closed it
    (State.STANDBY, (), True),
)
CLOSED_AGAIN = 4


class ScriptedBench:
    """Reports come one after the other, whenever somebody waits."""

    def __init__(self):
        self.at = 0
        self.hands = None
        self.vehicle = SimpleNamespace(stop_sources=[SimpleNamespace(name="runstop_loop")])
        self.cleared_at = None

    @property
    def state(self):
        return COURSE[self.at][0]

    @property
    def state_word(self):
        return self.state.word

    @property
    def car(self):
        _, causes, is_closed = COURSE[self.at]
        return SimpleNamespace(
            vesc=None,
            status=SimpleNamespace(causes=causes, first_cause=Cause.RUNSTOP_LOOP),
            inputs=SimpleNamespace(is_runstop_closed=is_closed),
        )

    async def until(self, is_so, within_s):
        while not is_so():
            if self.at == len(COURSE) - 1:
                return False
            self.at += 1
        return True

    async def ask(self, what, is_so, within_s):
        return await self.until(is_so, within_s)

    async def clear(self):
        self.cleared_at = self.at

    def let_go(self):
        pass


def test_a_report_of_before_the_loop_was_opened_does_not_close_it():
    async def rows():
        return [row async for row in runstop(bench)]

    bench = ScriptedBench()
    found = asyncio.run(rows())
    assert [row.is_good for row in found] == [True] * 5
    assert bench.cleared_at == CLOSED_AGAIN
