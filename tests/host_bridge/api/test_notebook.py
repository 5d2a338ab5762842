"""A notebook: its event loop runs already, and Ctrl-C ends a cell, not the car's program."""

from __future__ import annotations

import asyncio
import signal
import threading

import pytest
import tandem

from host_bridge.core.errors import INTERRUPTED
from host_bridge.core.system.running import HeldInterrupts, run_in_thread
from tests.host_bridge.sharing.desk import runtime_folder


@pytest.fixture(autouse=True)
def folder(monkeypatch):
    with runtime_folder(monkeypatch) as path:
        yield path


def cell(work):
    """Run it as a notebook does: called by a coroutine of a loop that runs."""

    async def called():
        return work()

    return asyncio.run(called())


def drive_eight() -> tuple[float, float, float]:
    with tandem.open("sim://nigel", lockstep=True) as car:
        car.arm()
        for _ in car.ticks(2.0):
            car.drive(0.4, 0.1)
        return car.pose


def test_a_car_in_lockstep_is_driven_in_a_cell():
    assert cell(drive_eight) == drive_eight()


def ctrl_c() -> None:
    signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)


def test_ctrl_c_cuts_no_step_of_the_car_in_two():
    """A step that was cut in two would lose what the car was sent, or its clock's time."""

    def interrupted_every(count: int) -> tuple[float, float, float]:
        car = tandem.open("sim://nigel", lockstep=True)
        car.arm()
        world = car._driver.line.world
        steps = []

        def observe(_: object) -> None:
            steps.append(1)
            if len(steps) % count == 0:
                ctrl_c()

        world.observers.append(observe)
        begun_s, ticks = car.now_s, 0
        while car.now_s - begun_s < 1.0 - 1e-9:
            ticks += 1
            car.drive(0.4, 0.1)
            try:
                car.wait(0.01)
            except KeyboardInterrupt:
                continue
        assert ticks == 100
        pose = car.pose
        world.observers.remove(observe)
        car.close()
        return pose

    assert interrupted_every(37) == interrupted_every(1_000_000)


def test_an_interrupt_is_held_until_the_block_is_done():
    done = []

    def work() -> None:
        with HeldInterrupts():
            ctrl_c()
            done.append("the block")
        done.append("and after it")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["the block"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_in_another_thread_an_interrupt_is_nobodys():
    before = signal.getsignal(signal.SIGINT)
    seen = []

    def work() -> None:
        with HeldInterrupts():
            seen.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_ctrl_c_ends_what_runs_in_a_thread_in_order():
    ended = []

    async def main() -> int:
        ctrl_c()
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("in order")
        return 0

    assert cell(lambda: run_in_thread(main())) == INTERRUPTED
    assert ended == ["in order"]


def test_what_fails_in_a_thread_fails_in_the_cell():
    async def main() -> int:
        raise tandem.DeviceFault("no car")

    with pytest.raises(tandem.DeviceFault, match="no car"):
        cell(lambda: run_in_thread(main()))


@pytest.mark.process(drives=True)
@pytest.mark.xdist_group("wall clock")
def test_a_function_drives_in_a_cell():
    seen = []

    def decide(t_s, observed):
        seen.append(observed.cars[0].name)
        return 0.3, 0.0

    assert cell(lambda: tandem.drive(decide, "sim://nigel", seconds=0.5)) == 0
    assert set(seen) == {"nigel"}


@pytest.mark.process(drives=True)
@pytest.mark.xdist_group("wall clock")
def test_a_car_in_real_time_is_driven_in_a_cell():
    def work() -> float:
        with tandem.open("sim://nigel") as car:
            car.arm()
            for _ in car.ticks(1.0):
                car.drive(0.3)
            return car.pose[0]

    assert cell(work) > 0.1
