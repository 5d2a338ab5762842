"""What CPython lacks of MicroPython, so that the very same files run under both.

Shared files write ``from firmware.compat import micropython, ptr8`` and decorate with
``@micropython.viper``: MicroPython's compiler knows the decorator by its spelling and CPython
finds a stand-in that changes nothing.
"""

import sys
from array import array as array

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    _F = TypeVar("_F", bound="Callable[..., object]")
    ptr8 = bytearray
    ptr16 = array[int]

    class micropython:  # noqa: N801 - takes the place of the module of that name
        """As far as shared files use it."""

        @staticmethod
        def viper(function: _F) -> _F: ...

        @staticmethod
        def const(value: int) -> int: ...

elif sys.implementation.name == "micropython":
    import micropython as micropython

    ptr8 = ptr16 = None  # names for annotations; viper knows the real ones itself
else:

    class micropython:  # noqa: N801
        """The two names that shared files use, as identities."""

        @staticmethod
        def viper(function: object) -> object:
            return function

        @staticmethod
        def const(value: object) -> object:
            return value

    ptr8 = bytearray
    ptr16 = array
