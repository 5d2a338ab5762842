"""Measures the safety case: ``python -m tests.safety.case.measure`` prints the worst of each.

On the complete program in the virtual car, every vehicle and every way of moving the wheels, each
fault at every millisecond of a step; the runstop loop also at every microsecond of a guard's tick.
"""

from typing import NamedTuple

from firmware.core.stops.guard import RATE_LIMITED_HZ, Guard
from tests.firmware.copies import copied
from tests.safety.support.facts import NAMES, drive_is_neutral
from tests.safety.support.hosts import host_of
from tests.safety.ways.ways import WAYS, Race

ACTIVE = 2
STEP_US = 10_000
TICK_US = 1_000_000 // RATE_LIMITED_HZ
_LOOK_US = 15  # seen of an RP2040
PHASES_US = range(0, STEP_US, 1_000)


class Worst(NamedTuple):
    """The latest of all runs, in microseconds, and where that was."""

    what: str
    limit_us: int
    took_us: int
    where: str

    @property
    def holds(self) -> bool:
        return self.took_us <= self.limit_us


def until(car, is_over, most_us=3_000_000) -> int:
    """How long it takes, by the millisecond, while everybody who is there goes on."""
    world, begun_us = car.world, car.world.now_us
    while not is_over():
        car.host.hear(world.advance(world.now_us + 1_000))
        if world.now_us % STEP_US == 0:
            car.say()
            car.let_others_say()
            car.keep_clock(car.host)
        assert world.now_us - begun_us < most_us
    return world.now_us - begun_us


def left_active(car):
    """By the program's own state, at the step that takes it."""
    supervisor = car.world.runner.app.supervisor
    return lambda: supervisor.state != ACTIVE


def is_dead(car):
    return lambda: not car.world.enable and drive_is_neutral(car.vehicle, car.world.values)


def at_phase(car, phase_us: int):
    """A copy, so far into a step; it claims on as it did."""
    other = copied(car)
    other.say()
    other.world.advance(other.world.now_us + phase_us)
    return other


def a_stop(car) -> int:
    host_of(car.world, epoch=31_337).stop()
    return until(car, left_active(car))


def a_silence(car) -> int:
    """Beyond the lease, from the last word on, which came at any time between two steps."""
    car.say()
    car.vanish()
    return until(car, left_active(car)) - round(car.lease_s * 1e6)


def a_frozen_input(car) -> int:
    car.is_frozen = True
    return until(car, left_active(car))


def an_open_loop(car) -> int:
    car.world.runstop_closed = False
    return until(car, is_dead(car))


def a_hang(car, interrupts_too=False) -> int:
    car.world.hang(3_000_000, interrupts_too)
    return until(car, is_dead(car))


def dead_interrupts(car) -> int:
    return a_hang(car, True)


def a_restart(car) -> int:
    car.world.hang(3_000_000)
    return until(car, lambda: car.world.reset_cause == 1)


def an_open_loop_in_a_hang(car) -> int:
    car.world.hang(3_000_000)
    car.world.advance(car.world.now_us + 15_000)
    return an_open_loop(car)


def a_silent_box(car) -> int:
    car.press_box(1)
    car.press_box = lambda runs: b""
    return until(car, left_active(car))


def counts(way) -> bool:
    return way.has_counter


def is_race(way) -> bool:
    return way is Race


def anyone(way) -> bool:
    return True


# what, limit in us, whom it concerns, how it is measured
ROWS = (
    ("Stop frame to STOPPING", STEP_US, anyone, a_stop),
    ("silence beyond the lease to STOPPING", STEP_US, anyone, a_silence),
    ("frozen input to STOPPING", 200_000 + STEP_US, counts, a_frozen_input),
    ("required runstop box silent to STOPPING", 250_000 + STEP_US, is_race, a_silent_box),
    ("runstop loop to drive off and neutral", 1_000, anyone, an_open_loop),
    ("the same, main loop hung", 1_000, anyone, an_open_loop_in_a_hang),
    ("main loop hung to drive off and neutral", 100_000, anyone, a_hang),
    ("interrupts off to drive off and neutral", 100_000, anyone, dead_interrupts),
    ("main loop hung to watchdog reset", 500_000, anyone, a_restart),
)


def cruising(ways=WAYS, vehicles=NAMES):
    """Each way of each vehicle, at speed."""
    for way in ways:
        for vehicle in (name for name in vehicles if way.fits(name)):
            car = way(vehicle)
            car.begin()
            car.come_to_speed()
            yield car


def measured(cars) -> list[Worst]:
    found = [Worst(what, limit_us, -(1 << 30), "") for what, limit_us, _, _ in ROWS]
    for car in cars:
        for at, (what, limit_us, concerns, measure) in enumerate(ROWS):
            if concerns(type(car)):
                took_us = max(measure(at_phase(car, phase_us)) for phase_us in PHASES_US)
                where = f"{car.vehicle}, {type(car).__name__}"
                found[at] = max(found[at], Worst(what, limit_us, took_us, where), key=_took)
    return [*found, guard_alone()]


def _took(row: Worst) -> int:
    return row.took_us


def guard_alone() -> Worst:
    """The loop opens at any microsecond between two ticks and its interrupt is lost: how long until
    the gate falls."""
    worst_us = 0
    for opened_us in range(1, TICK_US + 1):
        guard = Guard()
        guard.begin(40_000)
        guard.read()
        guard.beat(False, 0)
        guard.look(1, 0)
        looks = iter(range(TICK_US, 2 * TICK_US, _LOOK_US))
        if not guard.watch(lambda: 0, looks.__next__):
            raise AssertionError("the loop is open, and the guard does not gate")
        worst_us = max(worst_us, next(looks) - opened_us)
    what = "runstop loop to the gate, its interrupt lost"
    return Worst(what, 1_000, worst_us, "guard, any microsecond of a tick of 800")


def main() -> None:
    for row in measured(cruising()):
        verdict = "holds" if row.holds else "TOO LATE"
        print(f"{row.what:44} {row.took_us / 1000:8.1f} ms of {row.limit_us / 1000:6.1f}  "
              f"{verdict:8}  {row.where}")  # fmt: skip


if __name__ == "__main__":
    main()
