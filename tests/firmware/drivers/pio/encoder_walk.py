"""An encoder that walks: what its two lines do, and whether a counter kept up."""

import random

FORWARD = (0b00, 0b01, 0b11, 0b10)  # B A: A leads
WORST_TURN = 19  # cycles of the program, as the driver says
WORD = 1 << 32


class Walk:
    """Lines of an encoder over time: steps, turns, and glitches that go and come back.

    The line that steps may bounce at once. Otherwise levels last for 20 cycles (160 ns at 125 MHz)
    before a line changes: two lines within one turn look like both at once to anyone who samples.
    """

    def __init__(self, steps, seed):
        self._chance = random.Random(seed)
        self._left = steps
        self._changes = []  # (clock, levels), the next one last
        self._at = 60
        self.place = 0
        self.glitches = 0
        self.turns = 0
        self.end = None
        self._levels = 0
        self._direction = 1

    def levels(self, clock: int) -> int:
        while self.end is None or self._changes:
            if not self._changes:
                self._plan()
                continue
            if clock < self._changes[-1][0]:
                break
            self._levels = self._changes.pop()[1]
        return self._levels

    def _plan(self):
        if self._left == 0:
            self.end = self._at + 3 * WORST_TURN
            return
        self._left -= 1
        if self._chance.random() < 0.1:
            self._direction = -self._direction
            self.turns += 1
        self.place += self._direction
        levels = FORWARD[self.place % 4]
        changes = [(self._at, levels)]
        if self._chance.random() < 0.2:
            self._glitch(changes, levels, levels ^ self._levels)
        self._at += 20
        self._changes = changes[::-1]

    def _glitch(self, changes, levels, stepped):
        self.glitches += 1
        line = self._chance.choice((1, 2))
        starts = self._at + self._chance.randrange(1 if line == stepped else 20, 30)
        ends = starts + self._chance.randrange(1, 30)
        changes += [(starts, levels ^ line), (ends, levels)]
        self._at = ends


def check_a_walk(steps, seed, counted):
    walk = Walk(steps, seed)
    count = counted(walk)
    assert walk.glitches > steps // 10
    assert walk.turns > steps // 20
    assert count == walk.place % WORD
