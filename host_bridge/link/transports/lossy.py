"""``lossy+SCHEME://...?loss=0.05&seed=3``: a simulated bad line around any other transport.

``up`` is from the host to the car, ``down`` from the car to the host. A parameter that is not one
of the line's goes to the inner URI; ``inner.seed=1`` goes there as ``seed=1``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

from host_bridge.core.errors import UsageFault
from host_bridge.core.files.link_traces import Probe, read_trace
from host_bridge.link.transports.base import OnBytes, OnClosed, Transport, TransportContext
from host_bridge.link.transports.descriptor import already_open
from host_bridge.link.transports.lossy_line import (
    LineCounts,
    LineParameters,
    LineTrace,
    LossyLine,
)
from host_bridge.link.transports.uri import Uri

__all__ = ["LineCounts", "LineParameters", "LossyLine", "LossyTransport", "make"]

PREFIX = "lossy+"
INNER = "inner."
WAYS = ("up", "down")
DIRECTIONS = ("both", *WAYS)
HIGHEST = {"loss": 1.0, "corrupt": 1.0, "duplicate": 1.0, "delay_ms": 1e4, "jitter_ms": 1e4}
OWN = (*HIGHEST, "burst", "gap", "direction", "seed", "trace", "offset_s")
_GAP_SHAPES = (0.1, 100.0)  # below, gaps last for days; above, all last as long as the least
_LONGEST_S = 86_400.0  # of a trace: a day
SEED_HIGH = 2**63 - 1


class _Delivery:
    """A line, and the timer by which its frames reach ``sink`` when they are due."""

    def __init__(
        self, line: LossyLine, sink: Callable[[bytes], object], now_us: Callable[[], int]
    ) -> None:
        self._line = line
        self._sink = sink
        self._now_us = now_us
        self._is_over = False
        self._timer: asyncio.TimerHandle | None = None

    def pass_(self, data: bytes) -> None:
        self._line.pass_(data, self._now_us())
        self._deliver()

    def end(self) -> None:
        self._is_over = True
        self._line.clear()
        self._cancel()

    def _deliver(self) -> None:
        for frame in self._line.due(self._now_us()):
            if not self._is_over:  # the sink may close us
                self._sink(frame)
        self._cancel()
        due_us = self._line.next_due_us()
        if due_us is not None:
            wait_s = max(0, due_us - self._now_us()) / 1e6
            self._timer = asyncio.get_running_loop().call_later(wait_s, self._deliver)

    def _cancel(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None


class LossyTransport:
    """A ``base.Transport`` around another one; each line's ``counts`` say what it did."""

    def __init__(
        self, inner: Transport, up: LossyLine, down: LossyLine, now_us: Callable[[], int]
    ) -> None:
        self.up = up
        self.down = down
        self.label = f"{PREFIX}{inner.label}"
        self.inner = inner
        self._now_us = now_us
        self._deliveries: tuple[_Delivery, _Delivery] | None = None
        self._on_closed: OnClosed | None = None

    @property
    def is_virtual(self) -> bool:
        return self.inner.is_virtual

    @property
    def vehicle(self) -> str | None:
        return self.inner.vehicle

    async def open(self, on_bytes: OnBytes, on_closed: OnClosed) -> None:
        """Open the inner transport.

        Raises errors.TandemError if that fails or if it is open already.
        """
        if self._deliveries:
            raise already_open(self.label)
        up = _Delivery(self.up, self.inner.send, self._now_us)
        down = _Delivery(self.down, on_bytes, self._now_us)
        self._deliveries, self._on_closed = (up, down), on_closed
        try:
            await self.inner.open(down.pass_, self._ended)
        except BaseException:
            self._deliveries = None
            raise

    def send(self, data: bytes) -> int:
        """Give all of ``data`` to the line; the inner transport counts what it drops later."""
        if not self._deliveries:
            return 0
        self._deliveries[0].pass_(data)
        return len(data)

    def close(self) -> None:
        self.inner.close()

    def _ended(self, why: Exception | None) -> None:
        for delivery in self._deliveries or ():
            delivery.end()
        self._deliveries = None
        if self._on_closed:
            self._on_closed(why)


def make(uri: Uri, context: TransportContext) -> LossyTransport:
    """Return the transport of a ``lossy+`` URI.

    Raises errors.TandemError for a parameter out of range, or for the inner URI.
    """
    if not uri.scheme.startswith(PREFIX):
        raise UsageFault(
            "a bad line needs another transport behind it",
            where=uri.text,
            remedy=f"such as {PREFIX}serial:///dev/ttyACM0?loss=0.05",
        )
    up, down, inner = lines_of(uri)
    return LossyTransport(context.transport(inner), up, down, context.now_us)


def lines_of(uri: Uri) -> tuple[LossyLine, LossyLine, str]:
    """Return the lines to the car and from it, and the inner URI.

    Raises errors.UsageFault for a parameter out of range.
    """
    parameters = _parameters(uri)
    seed = uri.integer("seed", 0, 0, SEED_HIGH)
    direction = uri.choice("direction", DIRECTIONS)
    traces = _traces(uri)
    up, down = (
        LossyLine(parameters, seed_of_line(seed, way), traces.get(way))
        if direction in ("both", way)
        else LossyLine(LineParameters(), seed_of_line(seed, way))
        for way in WAYS
    )
    return up, down, _inner_text(uri)


def seed_of_line(seed: int, way: str) -> str:
    """Return the seed of the line one way, ``up`` or ``down``."""
    return f"{seed}/{way}"


def _traces(uri: Uri) -> dict[str, LineTrace]:
    """Return both ways of the trace that ``tandem linktest --out`` wrote, if one is named."""
    offset_us = round(uri.number("offset_s", 0.0, 0.0, _LONGEST_S) * 1e6)
    if "trace" not in uri.query:
        return {}
    probes = read_trace(Path(uri.query["trace"]))
    if len(probes) < 2:
        raise uri.fault("this trace is too short", "two probes at least", f"{len(probes)}")
    return traces_of(probes, offset_us)


def traces_of(probes: Sequence[Probe], offset_us: int = 0) -> dict[str, LineTrace]:
    """Return both ways of a trace, ``up`` first.

    A probe that was lost on its way there says nothing of the way back, which fares as the one
    before did. Where hardly any arrived, nothing came back.
    """
    came = [it for it in probes if it.up_s is not None]
    back = came if len(came) > 1 else probes
    rows = {
        "up": [(it.sent_s, it.up_s) for it in probes],
        "down": [(it.sent_s, it.down_s) for it in back],
    }
    return {
        way: LineTrace(
            [(round(sent_s * 1e6), None if took_s is None else round(took_s * 1e6))
             for sent_s, took_s in took],
            offset_us,
        )
        for way, took in rows.items()
    }  # fmt: skip


def _parameters(uri: Uri) -> LineParameters:
    value = {name: uri.number(name, 0.0, 0.0, high) for name, high in HIGHEST.items()}
    begin, end = _burst(uri)
    gap_begin, gap_least_ms, gap_shape = _gap(uri)
    return LineParameters(
        loss=value["loss"],
        corrupt=value["corrupt"],
        duplicate=value["duplicate"],
        delay_us=round(value["delay_ms"] * 1000),
        jitter_us=round(value["jitter_ms"] * 1000),
        burst_begin=begin,
        burst_end=end,
        gap_begin=gap_begin,
        gap_least_us=round(gap_least_ms * 1000),
        gap_shape=gap_shape,
    )


def _burst(uri: Uri) -> tuple[float, float]:
    text = uri.query.get("burst", "0,1")
    try:
        begin, end = map(float, text.split(","))
    except ValueError:
        begin = end = -1.0
    if not (0 <= begin <= 1 and 0 < end <= 1):
        expected = "BEGIN,END: chances per frame, 0 to 1, END not 0; such as 0.01,0.25"
        raise uri.fault("burst does not fit", expected, text)
    return begin, end


def _gap(uri: Uri) -> tuple[float, float, float]:
    """Return the chance of a gap per frame, its least length in ms, and its tail's shape."""
    text = uri.query.get("gap", "0,1,1")
    try:
        begin, least_ms, shape = map(float, text.split(","))
    except ValueError:
        begin = least_ms = shape = -1.0
    least, most = _GAP_SHAPES
    if not (0 <= begin <= 1 and 0 < least_ms <= HIGHEST["delay_ms"] and least <= shape <= most):
        expected = (
            "BEGIN,LEAST,SHAPE: a chance per frame, 0 to 1; ms, up to 10000; and "
            f"{least:g} to {most:g}, such as 0.001,20,1.5"
        )
        raise uri.fault("gap does not fit", expected, text)
    return begin, least_ms, shape


def _inner_text(uri: Uri) -> str:
    """Return the inner URI as it was written, percent signs and all, without the line's part."""
    head, _, query = uri.text.removeprefix(PREFIX).partition("?")
    items = (item for item in query.split("&") if item.partition("=")[0] not in OWN)
    rest = "&".join(item.removeprefix(INNER) for item in items if item)
    return f"{head}?{rest}" if rest else head
