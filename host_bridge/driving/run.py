"""The drive at its rim: cars opened, the terminal taken, ticks kept, all of it given back."""

from __future__ import annotations

import asyncio
import logging
import platform
import signal
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager, suppress
from logging.handlers import MemoryHandler

from host_bridge.cars.car import Car
from host_bridge.cars.fleet import Fleet
from host_bridge.clock import Clock
from host_bridge.driving.controls import choose
from host_bridge.driving.drive import Drive, Phase
from host_bridge.driving.opening import Context, start_log
from host_bridge.driving.plan import Plan, View
from host_bridge.errors import (
    DeviceFault,
    NotHeldFault,
    OffBeatFault,
    RefusedFault,
    TandemError,
    UsageFault,
)
from host_bridge.interfaces.autodrive import Script, frame_of
from host_bridge.interfaces.keyboard import Keyboard, Order, Releases, Terminal
from host_bridge.logbook.recorder import Recorder
from host_bridge.open_car import OpenCar
from host_bridge.session import TICK_US, Session, next_tick_us

_KEPT_WARNINGS = 1000  # lines; more are painted over
_VIEW_EVERY = 10  # ticks: ten times a second
_HOME, _TO_EOL, _BELOW = "\x1b[H", "\x1b[K", "\x1b[J"
# A terminal that knows them shows nothing of a screen that is only half there; others skip them
_BEGIN_SCREEN, _END_SCREEN = "\x1b[?2026h", "\x1b[?2026l"


async def drive(plan: Plan, view: View, context: Context) -> int:
    """Drive until the person, the file or the time ends it.

    Raises errors.TandemError. When cancelled it comes to rest first; when cancelled again, not.
    """
    async with AsyncExitStack() as logs, AsyncExitStack() as stack:  # logs end last
        terminal = Terminal(sys.stdin.fileno()) if sys.stdin.isatty() else None
        if terminal is None and plan.input_kind == "keyboard":
            Terminal(sys.stdin.fileno())  # says why not
        epoch = context.new_epoch()
        cars = await _open_cars(plan, context, epoch, stack)
        log = await start_log(plan.record, context, cars, logs)
        seat = Cockpit(plan, view, context.clock, terminal)
        async with seat.taken():
            ended, fault = await seat.drive(cars, epoch, log)
        for line in view.summary(ended, context.clock.now_us()):
            print(line)
    lost = log.fault if log else None  # asked when it is closed: its end may have found no room
    if lost and (fault or seat.was_cancelled):
        print(f"tandem: {lost}", file=sys.stderr)
    if seat.was_cancelled:
        raise asyncio.CancelledError
    if fault:
        raise fault
    if lost:
        raise lost
    return 0


async def _open_cars(
    plan: Plan, context: Context, epoch: int, stack: AsyncExitStack
) -> list[OpenCar]:
    cars: list[OpenCar] = []
    for text in plan.cars:
        opened = await context.open_car(text, epoch=epoch, vehicle=plan.vehicle)
        stack.push_async_callback(opened.close)
        if opened.name in [car.name for car in cars]:
            raise UsageFault(
                f"{text} is the car {opened.name}, which is driven already",
                expected="another car as the twin",
                remedy="virtual cars of one vehicle are told apart by their name: "
                "--car sim://nigel --twin 'sim://nigel?name=twin'",
            )
        cars.append(opened)
    return cars


class Cockpit:
    """The terminal, the keyboard in it, and the loop that keeps the ticks."""

    def __init__(self, plan: Plan, view: View, clock: Clock, terminal: Terminal | None) -> None:
        self._plan = plan
        self._view = view
        self._clock = clock
        self._terminal = terminal
        self._keyboard = Keyboard(clock.now_us()) if terminal else None
        self._has_screen = terminal is not None and not plan.is_json
        self._has_log = not self._has_screen or not sys.stdout.isatty()
        self._orders: list[Order] = []
        self.was_cancelled = False

    @asynccontextmanager
    async def taken(self) -> AsyncIterator[None]:
        """The terminal is ours inside, and as it was outside."""
        if self._terminal is None or self._keyboard is None:
            yield
            return
        keyboard, terminal = self._keyboard, self._terminal

        def receive(data: bytes) -> None:
            self._orders += keyboard.receive_data(data, self._clock.now_us())

        def lose() -> None:
            self._orders += keyboard.closed()

        with _warnings_kept(), terminal:
            terminal.listen(receive, lose)
            loop = asyncio.get_running_loop()
            # whoever drives is not suspended with the deadman in hand; Ctrl-Z comes as a key
            loop.add_signal_handler(signal.SIGTSTP, keyboard.let_go)
            try:
                yield
            finally:
                loop.remove_signal_handler(signal.SIGTSTP)
                terminal.deafen()

    async def drive(
        self, cars: list[OpenCar], epoch: int, log: Recorder | None
    ) -> tuple[Drive, TandemError | None]:
        """Returns the drive and what, if anything, was wrong with it."""
        await self._find_out()
        vehicles = [opened.vehicle for opened in cars]
        is_virtual = all(opened.is_virtual for opened in cars)
        controls = choose(self._plan, vehicles, is_virtual, self._keyboard)
        fleet = Fleet([opened.car for opened in cars], epoch)
        driven = Drive(
            fleet,
            controls,
            self._clock.now_us(),
            sender_name=f"drive@{platform.node()}",
            seconds=self._plan.seconds,
            profile=self._plan.profile,
            cap_mps=self._plan.cap_mps,
        )
        session = Session(fleet, controls.source, driven, controls.guardian)
        async with _beside(controls.script, fleet.cars[0], self._clock):
            await self._loop(driven, session, log)
        return driven, _fault(driven, has_hand=self._keyboard is not None)

    async def _find_out(self) -> None:
        """What the terminal can do; a second at most."""
        while self._keyboard and self._keyboard.releases is Releases.UNKNOWN:
            self._step_keyboard()
            if Order.QUIT in self._orders:
                raise asyncio.CancelledError
            await asyncio.sleep(TICK_US * 1e-6)

    async def _loop(self, driven: Drive, session: Session, log: Recorder | None) -> None:
        tick_us = self._clock.now_us()
        while not driven.is_over():
            self._tick(driven, session)
            if log:
                log.step()
                driven.log_fault = log.fault
            tick_us, late = next_tick_us(tick_us, self._clock.now_us())
            session.late += late
            try:
                await asyncio.sleep((tick_us - self._clock.now_us()) * 1e-6)
            except asyncio.CancelledError:
                if self.was_cancelled:
                    raise
                self.was_cancelled = True
                self._orders.append(Order.QUIT)

    def _tick(self, driven: Drive, session: Session) -> None:
        self._step_keyboard()
        now_us = self._clock.now_us()
        orders, self._orders = self._orders, []
        for order in orders:
            driven.obey(order, now_us)
        session.tick(now_us)
        driven.step(now_us)
        if driven.phase is Phase.STOPPED and self._keyboard is None:
            driven.quit(now_us)  # nobody is there to go on
        if session.ticks % _VIEW_EVERY == 0:
            self._show(driven, now_us)

    def _step_keyboard(self) -> None:
        if self._keyboard and self._terminal:
            self._orders += self._keyboard.step(self._clock.now_us())
            self._terminal.write(self._keyboard.data_to_send())

    def _show(self, driven: Drive, now_us: int) -> None:
        if self._has_screen and self._terminal:
            columns, rows = self._terminal.size()
            lines = self._view.screen(driven, now_us, columns)[:rows]
            body = f"{_TO_EOL}\r\n".join(lines)
            drawn = f"{_BEGIN_SCREEN}{_HOME}{body}{_TO_EOL}{_BELOW}{_END_SCREEN}"
            self._terminal.write(drawn.encode())
        if self._has_log:
            for line in self._view.news(driven, now_us):
                print(line, flush=True)


@contextmanager
def _warnings_kept() -> Iterator[None]:
    """What would be painted over is said when the terminal is as it was."""
    kept = MemoryHandler(_KEPT_WARNINGS, flushLevel=sys.maxsize, target=logging.lastResort)
    root = logging.getLogger()
    root.addHandler(kept)
    try:
        yield
    finally:
        root.removeHandler(kept)
        kept.close()


@asynccontextmanager
async def _beside(script: Script | None, car: Car, clock: Clock) -> AsyncIterator[None]:
    """The exchange with a Devkit script, if there is one, for as long as the drive lasts."""
    if script is None:
        yield
        return
    from host_bridge.interfaces.autodrive.line import exchange_with  # its socket's library

    work = exchange_with(script, lambda: frame_of(car, script.like), clock.now_us)
    task = asyncio.ensure_future(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


def _fault(driven: Drive, *, has_hand: bool) -> TandemError | None:
    """What makes the exit code: refused, lost, different bytes, or not to the end."""
    if driven.begun_us is None and driven.refusal:
        remedy = "put that right; a stop whose cause is gone: tandem clear; then try again"
        fault = OffBeatFault if driven.off_beat else RefusedFault
        refused = fault(driven.refusal, remedy=remedy)
        if isinstance(refused, OffBeatFault):
            refused.cars = tuple(car.called for car in driven.off_beat)
        return refused
    if driven.lost():
        names = ", ".join(driven.lost())
        return DeviceFault(
            f"the link to {names} was lost, and did not come back before the end",
            remedy="see to its cable and power; a car that hears nothing has stopped by itself",
        )
    differs_at = driven.fleet.agreement().differs_at
    if differs_at is not None:
        return NotHeldFault(
            "the cars did not accept the same bytes",
            expected="the same running CRC over the claims on all cars",
            got=f"a difference at or before claim {differs_at}",
        )
    is_shown = len(driven.fleet.cars) == 1 or driven.fleet.agreement().agreed > 0
    if not has_hand and driven.is_completed and not is_shown:
        return NotHeldFault(
            "nothing shows that the cars accepted the same bytes",
            expected="both cars' reports of the same claim",
            got="none",
            remedy="is the drive long enough, and the line to each car good?",
        )
    if not has_hand and not driven.is_completed:
        return NotHeldFault("the cars stopped before the end", got=driven.notice)
    return None
