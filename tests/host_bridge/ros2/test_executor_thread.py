"""Whoever waits and whoever takes are never at it at once."""

from __future__ import annotations

import queue
import threading

import pytest

from host_bridge.ros2.bus.executor_thread import ExecutorThread

WITHIN_S = 20.0


class Door:
    """What is waited on: things come through it, and ``told`` counts how often that was said."""

    def __init__(self) -> None:
        self.things: queue.SimpleQueue[object] = queue.SimpleQueue()
        self.is_waited_on = threading.Event()
        self.told: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.waiter = ExecutorThread(self._wait, lambda: self.told.put(None))

    def _wait(self) -> object:
        self.is_waited_on.set()
        thing = self.things.get(timeout=WITHIN_S)
        self.is_waited_on.clear()
        if isinstance(thing, Exception):
            raise thing
        return thing

    def come(self, thing: object) -> None:
        """It comes, and that is said."""
        self.things.put(thing)
        self.told.get(timeout=WITHIN_S)

    def close(self) -> None:
        self.waiter.close(lambda: self.things.put("the end"))


@pytest.fixture
def door():
    made = Door()
    yield made
    made.close()


def test_what_has_come_is_said_and_taken_once(door):
    assert not door.waiter.has_found
    assert door.waiter.take() is None
    door.come("a")
    assert door.waiter.has_found
    assert door.waiter.take() == "a"
    assert not door.waiter.has_found
    assert door.waiter.take() is None


def test_nothing_is_waited_for_until_it_is_told_to_go_on(door):
    door.come("a")
    assert not door.is_waited_on.is_set()
    door.waiter.take()
    assert not door.is_waited_on.wait(0.05)
    door.waiter.resume()
    assert door.is_waited_on.wait(WITHIN_S)
    door.come("b")
    assert door.waiter.take() == "b"


def test_what_waiting_raises_is_raised_to_whoever_takes(door):
    door.come(OSError("gone"))
    assert door.waiter.has_found
    for _ in range(2):
        with pytest.raises(OSError, match="gone"):
            door.waiter.take()


@pytest.mark.parametrize("has_come", [True, False])
def test_its_end_is_not_said_and_what_had_come_is_left(has_come):
    door = Door()
    if has_come:
        door.come("a")
    left = door.waiter.close(lambda: door.things.put("the end"))
    assert left == ("a" if has_come else "the end")
    assert door.told.empty()


def test_whoever_would_be_told_may_have_ended():
    def tell() -> None:
        raise RuntimeError("the loop is closed")

    things: queue.SimpleQueue[object] = queue.SimpleQueue()
    waiter = ExecutorThread(lambda: things.get(timeout=WITHIN_S), tell)
    things.put("a")
    waiter.close(lambda: None)
    assert waiter.take() == "a"
