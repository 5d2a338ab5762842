"""How long a car takes to answer over a serial line: ``python tests/bench/bench_round_trip.py``.

The far end is the car's process: the real firmware under MicroPython behind a pseudo-terminal,
opened by the bridge's own serial port. At random phases of the car's beat, an Identify (frozen, so
that it is the same measurement for ever) and a claim are sent. Beside them and opened likewise, a
bare echo, and one that answers on beats of its own like a car that has nothing to work out, show
what this machine adds by itself.
"""

from __future__ import annotations

import asyncio
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path

from firmware.protocol.codec import Message
from firmware.protocol.codes import DRIVE_BIT, STEERING_BIT
from firmware.protocol.messages import Bind, Claim, Identify, Identity, Status, Sync
from host_bridge.link.protocol import wire
from host_bridge.link.transports.base import Transport
from host_bridge.sharing.services import make_host
from sim_mock.programs.process import start
from sim_mock.virtual_car.config import virtual_car_config
from sim_mock.world import TIME_MASK
from tests.bench.support.sheet import Cell, Sheet, publish, verdict

VEHICLE = "f1tenth"
SAMPLES = 2000
STEP_MS = 10.0
ALLOWANCE_MS = 2.0
LIMIT_MS = STEP_MS + ALLOWANCE_MS
ANSWER_WITHIN_S = 1.0
SYNC_EVERY_S = 0.05
BINDS_WITHIN_S = 10.0
EPOCH, SCRIPT = 4711, 3
QUANTILES = (0.5, 0.99, 0.999)
ECHO = Path(__file__).parent / "support" / "echo.py"


class Waiting:
    """One answer that is waited for, and how long it took."""

    def __init__(self) -> None:
        self.ms: list[float] = []
        self.lost = 0
        self._began_s = 0.0
        self._answered: asyncio.Future[None] | None = None

    def begin(self) -> None:
        self._answered = asyncio.get_running_loop().create_future()
        self._began_s = time.perf_counter()

    def answered(self) -> None:
        """Called from within the transport's callback: nothing of the event loop is counted."""
        if self._answered and not self._answered.done():
            self.ms.append(1e3 * (time.perf_counter() - self._began_s))
            self._answered.set_result(None)

    async def finished(self) -> None:
        assert self._answered is not None
        done, _ = await asyncio.wait([self._answered], timeout=ANSWER_WITHIN_S)
        self.lost += not done


class Caller:
    """A host with nothing but a port: asks who the car is, and claims at rest."""

    def __init__(self, port: Transport) -> None:
        self.identify = Waiting()
        self.claim = Waiting()
        self.beats_ms: list[float] = []
        self._port = port
        self._decoder = wire.MessageDecoder()
        self._token = 0
        self._sequence = 0
        self._heard_s = 0.0
        self._synced_s = 0.0
        self._accepted = asyncio.Event()
        self._takes: dict[type[Message], Callable[[Message], None]] = {
            Identity: self._identity,
            Status: self._status,
        }

    def hear(self, data: bytes) -> None:
        for message in self._decoder.feed(data):
            take = self._takes.get(type(message))  # type: ignore[arg-type]
            if take:
                take(message)  # type: ignore[arg-type]

    def ask(self) -> None:
        self._token = self._token + 1 & 0xFFFF
        frame = wire.encode(wire.new(Identify, token=self._token, challenge=bytes(8)))
        self.identify.begin()
        self._port.send(frame)

    def offer(self) -> None:
        frame = wire.encode(self._next_claim())
        self.claim.begin()
        self._port.send(frame)

    async def bind(self) -> None:
        """Until claims are accepted. Raises TimeoutError."""
        bind = wire.new(Bind, epoch=EPOCH, protocol_hash=wire.own_protocol_hash())
        self._port.send(wire.encode(bind))
        ends_s = time.monotonic() + BINDS_WITHIN_S
        while not self._accepted.is_set():
            if time.monotonic() > ends_s:
                raise TimeoutError(f"no claim was accepted within {BINDS_WITHIN_S} s")
            self._port.send(wire.encode(self._next_claim()))
            await asyncio.sleep(STEP_MS * 2e-3)

    def _next_claim(self) -> Claim:
        self._sequence = self._sequence + 1 & 0xFFFF
        return wire.new(
            Claim,
            epoch=EPOCH,
            source=SCRIPT,
            sequence=self._sequence,
            mask=STEERING_BIT | DRIVE_BIT,
            steer_urad=0,
            speed_mm_s=0,
            brake=0,
            lights=0,
            aux_1=0,
            aux_2=0,
            aux_3=0,
            aux_4=0,
            deadman=0,
            input_count=self._sequence,
            lease_ms=120,
            stamp_us=now_us(),
        )

    def _identity(self, message: Identity) -> None:
        if message.token == self._token:
            self.identify.answered()

    def _status(self, message: Status) -> None:
        now_s = time.perf_counter()
        if self._heard_s:
            self.beats_ms.append(1e3 * (now_s - self._heard_s))
        self._heard_s = now_s
        if message.claim_count and message.claim_sequence == self._sequence:
            self._accepted.set()
            self.claim.answered()
        if now_s - self._synced_s > SYNC_EVERY_S:
            self._synced_s = now_s
            self._sync(message)

    def _sync(self, status: Status) -> None:
        us = now_us()
        sync = wire.new(Sync, epoch=EPOCH, board_us=status.time_us, received_us=us, sent_us=us)
        self._port.send(wire.encode(sync))


class Mirror:
    """A bare echo: a byte there and back."""

    def __init__(self, port: Transport) -> None:
        self.echo = Waiting()
        self._port = port

    def hear(self, data: bytes) -> None:
        self.echo.answered()

    def call(self) -> None:
        self.echo.begin()
        self._port.send(b"\1")


def now_us() -> int:
    return time.monotonic_ns() // 1000 & TIME_MASK


async def pause(ms: float) -> None:
    """Ends at any phase: the event loop's own sleeps do so in whole milliseconds only."""
    whole_ms, rest_ms = divmod(ms, 1)
    time.sleep(rest_ms * 1e-3)  # blocks, but a status has just come and the next is far off
    await asyncio.sleep(whole_ms * 1e-3)


async def call(caller: Caller, at_once: Mirror, on_beat: Mirror, rng: random.Random) -> None:
    """One sample of each; the car and the beat that is none are asked at the same moment."""
    await pause(rng.random() * STEP_MS)
    at_once.call()
    await at_once.echo.finished()
    await pause(rng.random() * STEP_MS)
    caller.ask()
    caller.offer()
    on_beat.call()
    for waiting in (caller.identify, caller.claim, on_beat.echo):
        await waiting.finished()


async def sampled(devices: list[str]) -> tuple[Caller, Mirror, Mirror]:
    """``devices`` lead to the car, to the echo, and to the echo on a beat."""
    cars = make_host().cars
    ports = [cars.transport(f"serial://{device}") for device in devices]
    caller, at_once, on_beat = Caller(ports[0]), Mirror(ports[1]), Mirror(ports[2])
    listeners: tuple[Caller | Mirror, ...] = caller, at_once, on_beat
    for port, listener in zip(ports, listeners, strict=True):
        await port.open(listener.hear, lambda _: None)
    rng = random.Random(1)
    await caller.bind()
    caller.beats_ms.clear()
    for _ in range(SAMPLES):
        await call(caller, at_once, on_beat, rng)
    for port in ports:
        port.close()
    return caller, at_once, on_beat


async def echo_process(*beat_ms: float) -> tuple[asyncio.subprocess.Process, str]:
    """An echo, and the device that leads to it."""
    words = [sys.executable, str(ECHO), *map(str, beat_ms)]
    process = await asyncio.create_subprocess_exec(*words, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    return process, (await process.stdout.readline()).decode().strip()


async def drive() -> Sheet:
    echoes = [await echo_process(), await echo_process(STEP_MS)]
    car = await start(virtual_car_config(make_host().vehicles.load(VEHICLE), {"seed": "1"}))
    try:
        listeners = await sampled([car.device, *(device for _, device in echoes)])
    finally:
        car.tell("quit")
        for echo, _ in echoes:
            echo.kill()
        await asyncio.gather(car.process.wait(), *(echo.wait() for echo, _ in echoes))
    return sheet(car.runtime, *listeners)


def quantiles(ms: list[float]) -> list[float]:
    ordered = sorted(ms)
    return [ordered[int(q * len(ordered))] for q in QUANTILES] + [ordered[-1]]


def row(name: str, waiting: Waiting) -> list[Cell]:
    return [name, len(waiting.ms), waiting.lost, *quantiles(waiting.ms)]


def judged(name: str, waiting: Waiting, bare: Waiting) -> list[Cell]:
    """With two verdicts: on this machine as it is, and beside a bare beat on it."""
    longest_ms, bare_ms = quantiles(waiting.ms)[2], quantiles(bare.ms)[2]
    limits_ms = (LIMIT_MS, max(bare_ms, STEP_MS) + ALLOWANCE_MS)
    verdicts = [verdict(not waiting.lost and longest_ms <= limit_ms) for limit_ms in limits_ms]
    return [*row(name, waiting), *verdicts]


def sheet(runtime: str, caller: Caller, at_once: Mirror, on_beat: Mirror) -> Sheet:
    beats = quantiles(caller.beats_ms)
    verdicts = (f"<= {LIMIT_MS:.0f}", f"<= beat + {ALLOWANCE_MS:.0f}")
    return Sheet(
        f"There and back over a serial line to {VEHICLE} under {runtime}: ms",
        ("what", "samples", "lost", "p50", "p99", "p99.9", "max", *verdicts),
        [
            judged("Identify, Identity", caller.identify, on_beat.echo),
            judged("claim, Status naming it", caller.claim, on_beat.echo),
            [*row("bare beat, no car", on_beat.echo), None, None],
            [*row("bare echo, no car", at_once.echo), None, None],
            ["status to status", len(caller.beats_ms), None, *beats, None, None],
        ],
        (
            f"p99.9 may be a step of {STEP_MS:.0f} ms and {ALLOWANCE_MS:.0f} ms. At random phases,",
            "half a step has to be waited. What a bare beat takes beyond a step, and a bare echo",
            "beyond nothing, is what this machine does to any program.",
        ),
    )


if __name__ == "__main__":
    publish("round trip", lambda: [asyncio.run(drive())])
