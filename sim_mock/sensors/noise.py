"""Normally distributed random numbers from a seed."""

from math import cos, log, pi, sin, sqrt
from random import Random


class Noise:
    """A generator of the numbers of ``random.Random(seed).gauss``, stable under every later Python.

    Python guarantees that for ``random`` only; besides, this class can be compiled. Two draws give
    two numbers. Source: Box and Muller, Ann. Math. Statist. 29 (1958), equation 1.
    """

    __slots__ = ("_has_second", "_random", "_second")

    def __init__(self, seed: int | str) -> None:
        self._random = Random(seed)
        self._has_second = False
        self._second = 0.0

    def gauss(self, mean: float, deviation: float) -> float:
        if self._has_second:
            self._has_second = False
            return mean + self._second * deviation
        turn_rad: float = self._random.random() * (2.0 * pi)
        radius = sqrt(-2.0 * log(1.0 - self._random.random()))
        self._has_second, self._second = True, sin(turn_rad) * radius
        return mean + cos(turn_rad) * radius * deviation
