"""Any number of observers; none depends on another."""

import logging

from host_bridge.core.system.observers import Observers


def test_all_are_told_in_the_order_in_which_they_came():
    received, observers = [], Observers()
    for name in "abc":
        observers.subscribe(lambda news, name=name: received.append((name, news)))
    observers.publish(1)
    assert received == [("a", 1), ("b", 1), ("c", 1)]


def test_whoever_left_is_told_nothing_and_may_leave_twice():
    received, observers = [], Observers()
    leaving = [observers.subscribe(received.append) for _ in range(2)]
    assert len(observers) == 2
    leaving[0]()
    leaving[0]()
    observers.publish("news")
    assert received == ["news"]
    assert len(observers) == 1


def test_one_that_leaves_another_on_the_way_is_obeyed_at_once():
    received, observers = [], Observers()
    observers.subscribe(lambda news: leave())
    leave = observers.subscribe(received.append)
    observers.publish(1)
    assert received == []


def test_one_that_joins_on_the_way_hears_the_next():
    received, observers = [], Observers()
    observers.subscribe(lambda news: observers.subscribe(received.append))
    observers.publish(1)
    assert received == []
    observers.publish(2)
    assert received == [2]


def test_one_that_fails_is_logged_and_keeps_no_other_from_it(caplog):
    received, observers = [], Observers()
    observers.subscribe(lambda news: 1 / news)
    observers.subscribe(received.append)
    with caplog.at_level(logging.ERROR):
        observers.publish(0)
    assert received == [0]
    assert "an observer failed" in caplog.text
    assert "ZeroDivisionError" in caplog.text
