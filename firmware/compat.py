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

    def collect() -> None:
        """Collect memory now."""

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
    from gc import collect as collect
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

    def collect() -> None:
        """CPython does as it thinks best."""

    def collect_every(size: int) -> None:
        """CPython does as it thinks best."""

    ptr8 = bytearray
    ptr16 = array

    def ptr32(words: object) -> object:
        """An annotation, or called within viper: the words themselves."""
        return words


def forget(name: str, package: str, own: str) -> None:
    """Drop the module ``name``, which is ``own`` in its package, so that its room can be collected;
    what others hold of it stays with them. Takes nothing from the heap.

    A place in a dict keeps what was in it when it is deleted, so that is replaced first. CPython
    has the room, and others that have the module.
    """
    modules = sys.modules
    if sys.implementation.name != "micropython" or name not in modules:
        return
    home = modules[package]
    if hasattr(home, own):
        setattr(home, own, None)
        delattr(home, own)
    modules[name] = None  # type: ignore[assignment]
    del modules[name]
