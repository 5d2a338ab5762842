"""A step longer than its beat costs no byte: the link is pumped before each step, also a late one.

The real board file, start-up loop and program on the virtual ``machine``; only the step's time is
made: after each one the bench's clock goes on by it, with all that its interrupts do meanwhile.
"""

from types import SimpleNamespace

import bench as bench_module
import pytest

from firmware.protocol.codec import decode_into
from firmware.protocol.frame import crc_table
from firmware.protocol.messages import Bind, Identify, Identity, Status, Stop, StopSeen, Sync
from firmware.protocol.version import protocol_hash
from host_bridge.link.protocol.clock_sync import ClockSync
from tests.firmware.boards.physical.test_physical_board import car_with
from tests.firmware.protocol.streams import framed, payload_of, read
from tests.support.evidence import every

bench, WatchdogReset = bench_module.bench, bench_module.WatchdogReset
TAKES_MS = (3, 9, 11, 25, 60)
ANSWERED_US = 50_000
IDLE_US = 200  # what a turn without a step takes


class SlowApp:
    """The car's own program, whose step takes ``ms``."""

    def __init__(self, car, ms):
        self._car = car
        self._app = car.app
        self._us = ms * 1000
        self.steps = 0

    def __getattr__(self, name):
        return getattr(self._app, name)

    def step(self, now_us):
        self._app.step(now_us)
        self.steps += 1
        self._car.advance(bench.now_us + self._us, 0)


class SlowCar:
    def __init__(self, tmp_path, ms):
        self.car = car_with(tmp_path)
        self.app = SlowApp(self.car, ms)
        self.car.beat._app = self.app
        self.wire = self.car.wires[0]
        self.said = b""
        self.said_us = 0  # when the last of it left
        self._pump = self.car.board.link.pump
        self.car.board.link.pump = self.pump

    def pump(self):
        self._pump()
        if self.wire.outgoing:
            self.said += bytes(self.wire.outgoing)
            self.said_us = bench.now_us
            self.wire.outgoing.clear()

    def turn(self):
        """One round of the endless loop; False once the REPL was asked for."""
        before_us = bench.now_us
        goes_on = self.car.beat.turn()
        if bench.now_us == before_us:
            self.car.advance(before_us + IDLE_US, 0)
        return goes_on

    def run(self, ms):
        until_us = bench.now_us + ms * 1000
        while bench.now_us < until_us:
            assert self.turn()

    def answered_us(self, message, answer):
        """How long after the message the answer came."""
        self.said = b""
        self.wire.incoming.extend(framed(payload_of(message)))
        begun_us = bench.now_us
        while answer.ID not in {payload[0] for payload in read([self.said]).payloads}:
            assert self.turn()
            assert bench.now_us - begun_us < 1_000_000, f"no {answer.__name__} in a second"
        return self.said_us - begun_us


@pytest.mark.parametrize("ms", TAKES_MS)
@pytest.mark.parametrize(("message", "answer"), [(Identify, Identity), (Stop, StopSeen)])
def test_whoever_asks_is_answered_however_long_a_step_takes(tmp_path, ms, message, answer):
    slow = SlowCar(tmp_path, ms)
    slow.run(100)
    for phase_ms in (0, 3, 7):
        slow.run(phase_ms)
        assert slow.answered_us(message(), answer) <= ANSWERED_US + ms * 1000


@pytest.mark.parametrize("ms", [3, 9, 13])
def test_a_host_s_clock_is_known_within_a_millisecond_however_long_a_step_takes(tmp_path, ms):
    """A Status is stamped as its step begins and leaves as it ends: that is no way to the host."""
    slow, clock, ahead_us = SlowCar(tmp_path, ms), ClockSync(), 123_456
    slow.car.app.overruns.beat_us = 20_000
    bind, status, sync = Bind(), Status(), Sync()
    bind.epoch = sync.epoch = 77
    bind.protocol_hash[:] = protocol_hash(crc_table())
    slow.wire.incoming.extend(framed(payload_of(bind)))
    slow.run(100)
    slow.said = b""
    until_us = bench.now_us + 1_500_000
    while bench.now_us < until_us:
        assert slow.turn()
        host_us = bench.now_us + ahead_us
        for payload in read([slow.said]).payloads:
            if payload[0] == Status.ID:
                decode_into(status, bytearray(payload), len(payload))
                clock.hear_status(status.time_us, host_us)
        slow.said = b""
        if echo := clock.echo(host_us):
            sync.board_us = echo.board_us
            sync.received_us, sync.sent_us = echo.received_us, echo.sent_us
            slow.wire.incoming.extend(framed(payload_of(sync)))
    session = slow.car.app.sessions.slots[0]
    assert session.bound_us <= 1000
    assert abs(session.offset_us - ahead_us) <= session.bound_us


@pytest.mark.parametrize("ms", TAKES_MS)
def test_sixteen_interrupts_lead_to_the_repl_however_long_a_step_takes(tmp_path, ms):
    slow = SlowCar(tmp_path, ms)
    slow.run(100)
    slow.wire.incoming.extend(b"\x03" * 16)
    begun_us = bench.now_us
    while slow.turn():
        assert bench.now_us - begun_us <= ANSWERED_US + ms * 1000


def test_the_repl_is_refused_while_somebody_s_request_is_open_and_ends_it(tmp_path):
    """Of an arm and a new program one takes effect; who wants the REPL says so again."""
    slow = SlowCar(tmp_path, 4)
    configuration = slow.car.app.configuration  # with a fault there is nothing to ask for
    configuration.is_valid = configuration.is_ours = True
    slow.run(100)
    actions = slow.car.app.actions
    for is_open in (True, False):
        actions.nonce = 77 if is_open else 0
        actions._open.set(bench.now_us, 1_000_000)
        slow.wire.incoming.extend(b"\x03" * 16)
        goes_on = True
        for _ in range(100):
            goes_on = goes_on and slow.turn()
        assert goes_on is is_open
        assert actions.nonce == 0


@pytest.mark.parametrize("ms", [11, 60])
def test_a_late_car_is_marked_healthy_all_the_same(tmp_path, ms):
    slow = SlowCar(tmp_path, ms)
    marked = []
    slow.car.starts.mark_healthy = lambda: marked.append(bench.now_us)
    slow.run(11_000)
    assert len(marked) == 1


@pytest.mark.parametrize("ms", TAKES_MS)
def test_only_a_step_that_ran_feeds_the_watchdog(tmp_path, ms):
    slow = SlowCar(tmp_path, ms)
    fed = []
    feed = slow.car.watchdog.feed
    slow.car.beat._watchdog = type("Fed", (), {"feed": lambda _: (fed.append(1), feed())})()
    slow.run(500)
    assert len(fed) == slow.app.steps > 5


def test_a_step_that_fails_leaves_the_heap_to_whoever_cleans_up(tmp_path, monkeypatch):
    slow = SlowCar(tmp_path, 3)
    from firmware.boards import start

    locks = []
    monkeypatch.setattr(start.micropython, "heap_lock", lambda: locks.append(1))
    monkeypatch.setattr(start.micropython, "heap_unlock", lambda: locks.append(-1))

    def fail(now_us):
        raise MemoryError

    slow.app.step = fail
    with pytest.raises(MemoryError):
        slow.run(100)
    assert locks[-2:] == [1, -1]
    assert sum(locks) == 0


def test_at_sixty_ms_the_guard_cuts_and_the_car_still_talks(tmp_path):
    slow = SlowCar(tmp_path, 60)
    slow.run(400)
    assert slow.car.board.guard_tripped
    assert slow.answered_us(Identify(), Identity) <= ANSWERED_US + 60_000


@pytest.mark.parametrize("phase_ms", range(20))
def test_with_a_beat_of_20_ms_a_stop_does_not_wait_for_it(tmp_path, phase_ms):
    slow = SlowCar(tmp_path, 7)
    slow.app.overruns.beat_us = 20_000
    slow.run(200 + phase_ms)
    assert slow.answered_us(Stop(), StopSeen) <= 10_000 + 7_000 + IDLE_US
    assert slow.app.overruns.missed == 0


def test_a_flood_of_stops_brings_two_steps_a_beat_at_most(tmp_path):
    slow = SlowCar(tmp_path, 3)
    slow.app.overruns.beat_us = 20_000
    slow.run(200)
    before, begun_us = slow.app.steps, bench.now_us
    for _ in range(400):
        slow.wire.incoming.extend(framed(payload_of(Stop())))
        slow.run(1)
    beats = (bench.now_us - begun_us) / 20_000
    assert 1.5 * beats < slow.app.steps - before <= 2 * beats + 1


def test_storing_a_configuration_may_take_longer_than_the_watchdog_waits_for_a_step(tmp_path):
    """An RP2040 takes 0.3 s for it, and a flash at its worst more: it is fed in between."""
    board = SlowCar(tmp_path, 3).car.board

    class SlowStore:
        def save(self, pieces):
            bench.advance(350_000)
            return True

    board._store = SlowStore()
    bench.advance(300_000)
    board.open_heap()
    bench.advance(300_000)
    assert board.save([bytearray(8)])
    bench.advance(300_000)
    board.close_heap()
    bench.advance(300_000)
    with pytest.raises(WatchdogReset):
        bench.advance(300_000)


@pytest.mark.parametrize("message", [Stop, Identify])
def test_a_board_hears_within_a_step_that_a_stop_has_come(tmp_path, message):
    """And sends nothing then: what was said in this step is not whole yet."""
    slow = SlowCar(tmp_path, 3)
    slow.run(100)
    board = slow.car.board
    board.link.hears_stop = False
    board.transmit(bytearray(5), 5)
    slow.wire.incoming.extend(framed(payload_of(message())))
    assert board.hears_stop() is (message is Stop)
    assert not slow.wire.outgoing
    taken = bytearray(256)
    assert bytes(taken[: board.receive_into(taken)]) == framed(payload_of(message()))


def test_the_repl_is_not_given_while_the_car_is_enabled(tmp_path):
    slow = SlowCar(tmp_path, 4)
    slow.run(100)
    slow.app.output_stage = SimpleNamespace(is_enabled=True)
    slow.wire.incoming.extend(b"\x03" * 16)
    assert every(slow.turn() for _ in range(100))
    assert not slow.car.board.link.asks_for_repl
    slow.app.output_stage.is_enabled = False  # and what it said then is not granted later
    assert every(slow.turn() for _ in range(100))
    slow.wire.incoming.extend(b"\x03" * 16)
    assert not every(slow.turn() for _ in range(100))


def test_what_a_step_comes_late_is_counted_and_what_it_takes_is_told_apart(tmp_path):
    slow = SlowCar(tmp_path, 3)
    slow.run(200)
    steps = slow.app.steps
    while slow.app.steps == steps:
        assert slow.turn()
    slow.car.advance(slow.car.beat._due_us + 5_000, 0)  # the loop was held up
    assert slow.turn()
    assert slow.car.board.ran_us == 3_000
    assert slow.car.board.step_us == 8_000
