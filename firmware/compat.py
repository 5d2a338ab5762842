"""Stand-ins for what CPython lacks of MicroPython, so that the very same files run under both.

Shared files write ``from firmware.compat import micropython, ptr8`` and decorate with
``@micropython.viper`` or ``native``: MicroPython's compiler knows these decorators by their
spelling. Under CPython they return the counterpart in c_library.py, if there is one, and otherwise
the function itself. ``native`` is for what a step does again and again: half of bytecode's time,
five times its room.
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
        """Run the garbage collector now."""

    def collect_every(size: int) -> None:
        """Collect garbage after each ``size`` bytes allocated; -1: only when the heap is full."""

    class micropython:  # noqa: N801 - takes the place of the module of that name
        """The part of MicroPython's module ``micropython`` that shared files use."""

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
    from firmware.c_library import c_counterpart

    class micropython:  # noqa: N801
        """CPython's stand-in for the part of module ``micropython`` that shared files use."""

        viper = staticmethod(c_counterpart)
        native = staticmethod(c_counterpart)

        @staticmethod
        def const(value: object) -> object:
            return value

        @staticmethod
        def heap_lock() -> None:
            """Do nothing: CPython has no heap to lock."""

        @staticmethod
        def heap_unlock() -> None:
            """Do nothing: CPython has no heap to lock."""

    def collect() -> None:
        """Do nothing: CPython collects garbage by itself."""

    def collect_every(size: int) -> None:
        """Do nothing: CPython collects garbage by itself."""

    ptr8 = bytearray
    ptr16 = array

    def ptr32(words: object) -> object:
        """Return ``words`` unchanged; in viper code ``ptr32`` is an annotation or a cast."""
        return words


def forget(name: str, package: str, own: str) -> None:
    """Drop the module ``name``, ``own`` in its package, so that its room can be collected.

    What others hold of it stays with them. Takes nothing from the heap. A dict keeps the value of a
    deleted entry in its place, so the value is replaced first. Does nothing under CPython, which
    has room enough, and whose other programs use the same modules.
    """
    modules = sys.modules
    if sys.implementation.name != "micropython" or name not in modules:
        return
    home = modules.get(package)  # None where the package itself was dropped before
    if home is not None and hasattr(home, own):
        setattr(home, own, None)
        delattr(home, own)
    modules[name] = None  # type: ignore[assignment]
    del modules[name]
