"""A host by its own clock, beside a car that tells its time by its steps: in virtual time."""

import contextlib

import pytest

from host_bridge.deploy.hil.host.own_times import CarClockCalls
from host_bridge.deploy.hil.host.paced import CLAIM_EVERY_US

STEP_US = 10_000


class HilBench:
    """A car's port, and this machine's clock; the car is ``pace`` times as fast as time."""

    def __init__(self, pace=1.0):
        self.car_us, self.s, self.pace = 0, 0.0, pace
        self.said = []  # when, in the car's time

    def us_per_s(self):
        return self.pace * 1e6

    def now_s(self):
        return self.s

    def sleep(self, seconds):
        assert seconds >= 0
        self.s += seconds

    def say(self, name):
        return lambda: self.said.append((name, self.s * self.pace * 1e6))

    def drive(self, own, steps):
        for _ in range(steps):
            own.until_next_step(STEP_US)
            self.car_us += STEP_US
            self.s = max(self.s, self.car_us / self.pace / 1e6)


@contextlib.contextmanager
def own_of(bench, **rows):
    own = CarClockCalls(bench)
    with contextlib.ExitStack() as stack:
        for name, every_us in rows.items():
            stack.enter_context(own.every(every_us, bench.say(name)))
        yield own


@pytest.mark.parametrize("pace", [1.0, 0.1], ids=["metal", "a tenth of time"])
def test_each_call_comes_at_its_own_times_and_at_every_moment_of_a_beat(pace):
    bench = HilBench(pace)
    with own_of(bench, claim=CLAIM_EVERY_US, word=20_006) as own:
        bench.drive(own, 1000)
    claims = [us for name, us in bench.said if name == "claim"]
    words = [us for name, us in bench.said if name == "word"]
    assert claims == pytest.approx([CLAIM_EVERY_US * i for i in range(1004)], abs=0.5)
    assert words == pytest.approx([20_006 * i for i in range(500)], abs=0.5)
    assert {int(us % STEP_US // 1000) for us in claims} == set(range(10))
    assert bench.said == sorted(bench.said, key=lambda said: said[1])


def test_what_this_machine_was_too_late_for_is_not_said_in_a_burst():
    bench = HilBench()
    with own_of(bench, claim=CLAIM_EVERY_US) as own:
        bench.drive(own, 2)
        bench.car_us += 50 * STEP_US  # it hung for half a second
        bench.s += 0.5
        begun = len(bench.said)
        bench.drive(own, 1)
        assert 1 <= len(bench.said) - begun <= 2
        said = list(bench.said)
    bench.drive(own, 5)
    assert bench.said == said, "it ended"
