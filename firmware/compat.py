"""What CPython lacks of MicroPython, so that the very same files run under both.

Shared files write ``from firmware.compat import micropython, ptr8`` and decorate with
``@micropython.viper``: MicroPython's compiler knows the decorator by its spelling and CPython
finds a stand-in that changes nothing.
"""

import sys
from array import array as array  # noqa: PLC0414 - handed on: the shared files import from here only

TYPE_CHECKING = False
if sys.implementation.name == "micropython":
    import micropython as micropython  # noqa: PLC0414

    ptr8 = ptr16 = None  # names for annotations; viper knows the real ones itself
else:

    class micropython:  # noqa: N801 - takes the place of the module of that name
        """The two decorators that shared files use, as identities."""

        @staticmethod
        def viper(function):
            return function

        @staticmethod
        def const(value):
            return value

    ptr8 = bytearray
    ptr16 = array
