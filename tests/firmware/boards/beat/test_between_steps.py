"""What a board does between steps, and what of it waits until the car may not move."""

import pytest

from firmware.boards import between_steps
from firmware.boards.between_steps import BetweenSteps, Entropy


class Link:
    pumps = 0

    def pump(self):
        self.pumps += 1


class Starts:
    marked = 0

    def mark_healthy(self):
        self.marked += 1


@pytest.fixture
def words(monkeypatch):
    """What the port draws, made by hand: 0xFFFFFF01, 0xFFFFFF02 and so on."""
    drawn = []

    def urandom(size):
        drawn.append(size)
        return bytes([len(drawn), 0xFF, 0xFF, 0xFF])

    monkeypatch.setattr(between_steps.os, "urandom", urandom)
    return drawn


def word(number):
    return 0x3FFFFF00 + number


def test_sixteen_words_are_drawn_at_the_start_and_given_out_each_once(words):
    pool = Entropy()
    assert words == [4] * 16
    assert [pool.draw() for _ in range(16)] == [word(n) for n in range(16, 0, -1)]
    assert pool.draw() == pool.draw() == word(1)  # dry: the last one again
    assert pool.refill() is True
    assert len(words) == 32
    assert pool.draw() == word(32)


def test_only_what_was_drawn_is_drawn_anew(words):
    pool = Entropy()
    assert pool.refill() is False
    for _ in range(3):
        pool.draw()
    assert pool.refill() is True
    assert len(words) == 19
    assert [pool.draw() for _ in range(4)] == [word(19), word(18), word(17), word(13)]


def test_what_takes_longer_than_a_beat_waits_until_the_car_may_not_move(words):
    link, starts = Link(), Starts()
    between = BetweenSteps(link, starts)
    assert between.is_healthy is False
    assert between.run(False) is False  # nothing was drawn, nothing is to be kept
    between.draw()
    between.is_healthy = True
    for pumps in (2, 3):
        assert between.run(True) is False
        assert (link.pumps, starts.marked, len(words)) == (pumps, 0, 16)
    assert between.run(False) is True
    assert (link.pumps, starts.marked, len(words)) == (4, 1, 17)
    assert between.run(False) is False
    assert (starts.marked, between.is_healthy) == (1, False)


@pytest.mark.parametrize("what", ["draw", "healthy"])
def test_either_of_them_takes_its_time(words, what):
    between = BetweenSteps(Link(), Starts())
    if what == "draw":
        between.draw()
    else:
        between.is_healthy = True
    assert between.run(False) is True
