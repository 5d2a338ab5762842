"""Starts a board after the launcher: makes the port's board and the car, and keeps its beat.

The launcher has put the outputs to their safe levels already; see firmware/launcher.py. What makes
the program returns before the program runs, and few calls lie around a step: each takes 250 bytes
of the C stack, of which an RP2040 has 8 kB, and the guard's interrupt comes on top of whatever
runs.
"""

import gc
import sys
import time

import machine

from firmware.compat import TYPE_CHECKING, collect_every, forget, micropython
from firmware.core.deadlines import elapsed_us, shifted_us

if TYPE_CHECKING:
    from typing import Any, Protocol

    from firmware.app import App
    from firmware.boards.link import Link
    from firmware.boards.physical.board import PhysicalBoard
    from firmware.boards.simulated.hitl import HitlBoard
    from firmware.boards.store import Store
    from firmware.core.contract import Pins, Starts
    from firmware.drivers.ticks import TicksUs

    class Watchdog(Protocol):
        def feed(self) -> None: ...


_CONFIGURATION = ("/config_a.bin", "/config_b.bin")  # below the slot's folder
_CTRL_C = 3  # its byte, which interrupts a program
_BOX_STEP_US = 10_000  # four steps for each challenge, of which a car says 25 a second
# Bytes that imports may take before garbage is collected: that takes an RP2040 10 ms each time, and
# garbage that stays leaves holes between the program's parts. The board is made before, without
# collections, so that its pulses come 30 ms earlier.
_CRUMBS_SIZE = 32_000
_LOOP_CRUMBS_SIZE = 8_000  # in the loop with a plant nothing waits for a start, and room is short
_PIN_BOARD_PACKAGES = ("firmware.drivers", "firmware.boards")
_STAYS = ("start", "link", "between_steps")
# Modules of messages: their classes are with their handlers, the modules are read at the start only
_TABLES = ("messages", "to_board", "to_host", "boxes")
_OF_A_BOX = (
    "firmware.core.stops.pairing",
    "firmware.core.stops.boxes",
    "firmware.core.stops.tag",
    "firmware.cipher",
)
_MADE_UP_US = 25_000  # with a step below the limit of an overrun (core/stops/fault_monitor.py)
_REHEARSAL_MS = 5_000  # a chip takes more than half a second to make a car, and nothing moves
_MASK = (1 << 30) - 1


def made_up_us(beat_us: int) -> int:
    """Return by how many us a step may be late and still be caught up by quicker ones.

    That is one beat, but less for a long beat: otherwise steps that take a tenth too long would add
    up to a delay that counts as an overrun.
    """
    return min(beat_us, _MADE_UP_US - beat_us)


class Beat:
    """The car's step at its time, however late, and the board's own work before it.

    ``turn`` is one round of the endless loop, False once somebody asked for the REPL of a car that
    is not armed.

    Nothing is taken from the heap while the car may move, because a garbage collection, which takes
    an RP2040 8 ms, could then come at any time. So the heap is locked while the step runs:
    MicroPython keeps the state of a call with many variables on the heap, but on the C stack while
    the heap is locked. Outside of the step the calls are small enough to need no heap.

    A Stop does not wait for the next control period. It gets a step of its own, half a period after
    the one before at the earliest.
    """

    def __init__(
        self,
        board: "PhysicalBoard | HitlBoard",
        app: "App",
        ticks_us: "TicksUs",
        watchdog: "Watchdog",
    ) -> None:
        self._board = board
        self._app = app
        self._ticks_us = ticks_us
        self._watchdog = watchdog
        self._due_us = self._begun_us = ticks_us() & _MASK

    def turn(self) -> bool:
        if self._board.between_steps.run(
            self._may_move()
        ):  # the board's delay, and none of the program's
            self._due_us = self._ticks_us() & _MASK
        now_us = self._ticks_us() & _MASK
        if elapsed_us(now_us, self._due_us) >= 0:
            self._step(now_us)
        elif self._board.link.hears_stop and self._is_half_over(now_us):
            self._due_us = now_us
            self._step(now_us)
        return not self._may_leave()

    def _is_half_over(self, now_us: int) -> bool:
        return elapsed_us(now_us, self._begun_us) * 2 >= self._every_us()

    def _step(self, now_us: int) -> None:
        self._begun_us = now_us
        self._board.link.hears_stop = False
        micropython.heap_lock()
        try:
            self._app.step(now_us)
        finally:  # the clean-up after a step that failed needs the heap
            micropython.heap_unlock()
        self._watchdog.feed()
        self._reckon(now_us)

    def _reckon(self, now_us: int) -> None:
        end_us = self._ticks_us() & _MASK
        self._board.ran_us = elapsed_us(end_us, now_us)
        self._board.step_us = elapsed_us(end_us, self._due_us)  # what it came late counts too
        self._set_due(end_us)

    def _set_due(self, end_us: int) -> None:
        step_us = self._every_us()
        self._due_us = shifted_us(self._due_us, step_us)
        if elapsed_us(end_us, self._due_us) > made_up_us(step_us):  # too late: not made up
            self._due_us = end_us

    def _every_us(self) -> int:
        return self._app.overruns.beat_us

    def _may_move(self) -> bool:
        return self._app.output_stage.is_enabled

    def _may_leave(self) -> bool:
        link = self._board.link
        if link.asks_for_repl and not self._may_be_left():
            link.forget()
        return link.asks_for_repl

    def _may_be_left(self) -> bool:
        return not self._app.output_stage.is_enabled and self._app.actions.take()


class BoxBeat(Beat):
    """The beat of a runstop box, which has no parameters and of which nothing moves."""

    def run(self) -> None:
        """Keep the beat until the REPL is asked for."""
        while self.turn():
            pass

    def _every_us(self) -> int:
        return _BOX_STEP_US

    def _may_move(self) -> bool:
        return False

    def _may_be_left(self) -> bool:
        return True


class CarProgram:
    """A car on its board, ready to run; making it starts the watchdog."""

    def __init__(
        self, board: "PhysicalBoard", starts: "Starts", ticks_us: "TicksUs", is_repl_free: bool
    ) -> None:
        from firmware.boards.simulated.hitl_entry import HitlEntry

        self._board = board
        self._starts = starts
        self._ticks_us = ticks_us
        app = make_app(board)
        for table in _TABLES:
            forget("firmware.protocol." + table, "firmware.protocol", table)
        collect_every(-1)  # from here on no step allocates
        if is_repl_free:
            _let_interrupt()
        board.watchdog = watchdog = machine.WDT(timeout=board.watchdog_ms)
        self._beat = Beat(board, app, ticks_us, watchdog)
        self.hitl_entry = HitlEntry(
            app.receiver, app.supervisor, app.actions, app.output_stage, board.board_id
        )

    def run(self) -> None:
        """Keep the beat until the REPL is asked for, or hardware in the loop, which is run then.

        In the loop the board is not touched any more: its guard has cut everything until a reset.
        """
        beat, entry, link = self._beat, self.hitl_entry, self._board.link
        while not entry.is_asked and beat.turn():
            pass
        if entry.is_asked:
            del beat, entry  # their room is needed; ``del`` of an attribute would not free it
            self._beat = self.hitl_entry = None  # type: ignore[assignment]
            board = leave(self._board, self._starts)
            self._board = None  # type: ignore[assignment]
            rehearse(board, self._ticks_us, machine.WDT(timeout=_REHEARSAL_MS))
        link.close()


def start(pins: "Pins", starts: "Starts") -> "CarProgram | BoxBeat":
    """Make the car, or the runstop box; return what then has to be run.

    Its ``run`` returns only when the REPL was asked for; the watchdog runs on then, so that the
    caller has to reset the board into it.
    """
    if pins.CLOCK_HZ:
        from firmware.boards.ports.rp2040_clock import hasten

        hasten(pins.CLOCK_HZ)
    link = make_link(pins)
    is_repl_free = pins.LINK == "uart"  # its stream has no frames: Ctrl-C ends the program then
    if pins.PROGRAM == "box":
        beat = make_box_beat(pins, starts, link, time.ticks_us)
        collect_every(-1)
        if is_repl_free:
            _let_interrupt()
        return beat
    from firmware.boards.store import Store

    store = Store((starts.folder + _CONFIGURATION[0], starts.folder + _CONFIGURATION[1]))
    board = make_board(pins, starts, link, store, time.ticks_us)
    collect_every(_CRUMBS_SIZE)
    return CarProgram(board, starts, time.ticks_us, is_repl_free)


def _let_interrupt() -> None:
    """Let Ctrl-C end what runs, where the REPL's stream is not the link; it never ends a start."""
    import micropython as interpreter

    interpreter.kbd_intr(_CTRL_C)


def leave(physical: "PhysicalBoard", starts: "Starts") -> "HitlBoard":
    """Return the board in the loop that takes the place of ``physical``, which is stepped no more.

    Of ``physical`` the link stays, and what is done between steps.
    """
    physical.leave()
    _forget_pin_board()
    collect_every(_LOOP_CRUMBS_SIZE)
    from firmware.boards.simulated.hitl import HitlBoard

    board = HitlBoard(physical.board_id, physical.link, physical.between_steps, starts.failed)
    board.reset_cause = physical.reset_cause
    return board


def rehearse(board: "HitlBoard", ticks_us: "TicksUs", watchdog: "Watchdog") -> None:
    """Run the car on a plant's peripherals; make it anew with each configuration of the plant."""
    while _turn_until_loaded(board, ticks_us, watchdog):
        board.take_image()


def _forget_pin_board() -> None:
    """Drop the modules of the pins' board, its drivers and its box, because their room is needed.

    What the guard and its timer still use stays with them.
    """
    for name in tuple(sys.modules):
        package, _, own = name.rpartition(".")
        is_of_pins = package.startswith(_PIN_BOARD_PACKAGES[0]) or package.startswith(
            _PIN_BOARD_PACKAGES[1]
        )
        if (is_of_pins and own not in _STAYS) or name in _OF_A_BOX:
            forget(name, package, own)


def _turn_until_loaded(board: "HitlBoard", ticks_us: "TicksUs", watchdog: "Watchdog") -> bool:
    gc.collect()
    collect_every(_LOOP_CRUMBS_SIZE)
    watchdog.feed()
    app = make_app(board)
    board.be_heard_by(app.receiver)
    collect_every(-1)
    beat = Beat(board, app, ticks_us, watchdog)
    while not board.is_loaded:
        if not beat.turn():
            return False
    return True


def make_box_beat(pins: "Pins", starts: "Starts", link: "Link", ticks_us: "TicksUs") -> BoxBeat:
    from firmware.boards.box_board import BoxBoard
    from firmware.box import Box

    board: "Any" = BoxBoard(pins, starts, link)  # only what a box needs of a board
    box: "Any" = Box(board)
    return BoxBeat(board, box, ticks_us, machine.WDT(timeout=board.watchdog_ms))


def make_app(board: "PhysicalBoard | HitlBoard") -> "App":
    """Make the car; importing it takes an RP2040 a second, after outputs and guard are there."""
    from firmware.app import App

    return App(board)


def make_link(pins: "Pins") -> "Link":
    from firmware.boards import link

    if pins.LINK == "uart":
        from firmware.boards.physical.parts import make_uart

        return link.UartLink(make_uart(pins, "link"))
    return link.StdioLink()


def make_board(
    pins: "Pins", starts: "Starts", link: "Link", store: "Store", ticks_us: "TicksUs"
) -> "PhysicalBoard":
    """Make the board of the pins module's port.

    Raises ValueError for a port that there is no board for, or a row that it has not.
    """
    if pins.PORT == "rp2":
        from firmware.boards.ports.rp2 import Rp2Board

        return Rp2Board(pins, starts, link, store, ticks_us)
    if pins.PORT == "stm32":
        from firmware.boards.ports.stm32 import Stm32Board

        return Stm32Board(pins, starts, link, store, ticks_us)
    if pins.PORT == "esp32":
        from firmware.boards.ports.esp32 import Esp32Board

        return Esp32Board(pins, starts, link, store, ticks_us)
    raise ValueError("no board for the port %s; correct the board file" % pins.PORT)
