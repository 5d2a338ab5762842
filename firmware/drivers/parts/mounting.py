"""The mounting in the car of a sensor with three axes."""

from firmware.compat import array

# Which of forward, left, up are right-handed: the axes (1 is x) in the order of an even permutation
_EVEN = ((1, 2, 3), (2, 3, 1), (3, 1, 2))


class Mounting:
    """The sensor's axes that point forward, left and up in the car.

    Each is 1, 2 or 3 for x, y, z, negative if it points the other way. Raises ValueError for what
    no sensor can be. ``raw`` takes the three readings; ``along`` then gives the one along the car's
    axis.
    """

    def __init__(self, forward: int, left: int, up: int) -> None:
        axes = (abs(forward), abs(left), abs(up))
        signs = (forward > 0) + (left > 0) + (up > 0)
        if sorted(axes) != [1, 2, 3] or (axes in _EVEN) != (signs % 2 == 1):
            raise ValueError("forward, left, up are three axes, right-handed; correct the mounting")
        self.forward = forward
        self.left = left
        self.up = up
        self.raw = array("h", [0] * 3)

    def along(self, axis: int) -> int:
        value = self.raw[abs(axis) - 1]
        return value if axis > 0 else -value
