"""What CPython lacks of MicroPython, so that the very same files run under both.

Shared files write ``from firmware.compat import micropython, ptr8`` and decorate with
``@micropython.viper`` or ``native``: MicroPython's compiler knows the decorators by their spelling
and CPython finds stand-ins: its C library's for some, else what changes nothing.
``native`` is for what a step does again and again: half of bytecode's time, five times its room.
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
    ptr32 = array[int]

    def collect_every(size: int) -> None:
        """Collect memory each time that so many bytes were allocated; -1: when there is none."""

    class micropython:  # noqa: N801 - takes the place of the module of that name
        """As far as shared files use it."""

        @staticmethod
        def viper(function: _F) -> _F: ...

        @staticmethod
        def native(function: _F) -> _F: ...

        @staticmethod
        def const(value: int) -> int: ...

        @staticmethod
        def heap_lock() -> None: ...

        @staticmethod
        def heap_unlock() -> None: ...

elif sys.implementation.name == "micropython":
    from gc import threshold as collect_every

    import micropython as micropython

    ptr8 = ptr16 = ptr32 = None  # names for annotations; viper knows the real ones itself
else:
    from firmware.c_library import sooner

    class micropython:  # noqa: N801
        """The names that shared files use."""

        viper = staticmethod(sooner)
        native = staticmethod(sooner)

        @staticmethod
        def const(value: object) -> object:
            return value

        @staticmethod
        def heap_lock() -> None:
            """CPython has no such thing."""

        @staticmethod
        def heap_unlock() -> None:
            """CPython has no such thing."""

    def collect_every(size: int) -> None:
        """CPython does as it thinks best."""

    ptr8 = bytearray
    ptr16 = array

    def ptr32(words: object) -> object:
        """An annotation, or called within viper: the words themselves."""
        return words
