"""The runstop box's real board, of the generated pins: button, radio, lamps."""

from types import SimpleNamespace

import bench as bench_module
import pytest

from firmware.boards.start import make_box_beat, make_link
from firmware.protocol import codes, messages
from firmware.protocol.boxes import BoxWord
from host_bridge.config.boards import pin_module
from host_bridge.deploy.hil.host.small_host import SmallHost

bench = bench_module.bench


class Starts:
    failed, folder = 0, ""

    def __init__(self):
        self.marked = 0

    def mark_healthy(self):
        self.marked += 1


class Ears(SmallHost):
    """Reads what a box says; the messages are those to a board."""

    def __init__(self):
        super().__init__(None)
        self._types = {message.ID: message for message in (*messages.TO_BOARD, BoxWord)}


@pytest.fixture
def box():
    bench.reset()
    pins = SimpleNamespace()
    exec(pin_module("pico", "runstop_box"), vars(pins))
    bench.levels[pins.RUNSTOP] = 1
    starts = Starts()
    beat = make_box_beat(pins, starts, make_link(pins), lambda: bench.now_us)
    return SimpleNamespace(pins=pins, beat=beat, starts=starts, ears=Ears(), uart=bench.uarts)


def run(box, ms):
    for _ in range(ms):
        bench.advance(1000)
        for _ in range(4):
            box.beat.turn()
        uart = next(iter(box.uart.values()))
        box.ears.hear(bytes(uart.outgoing))
        uart.outgoing.clear()


def lamps(box):
    return [bench.levels[gpio] for gpio in box.pins.LIGHTS]


def test_it_says_run_fifty_times_a_second_with_no_tag_while_it_has_no_key(box):
    run(box, 1000)
    word = box.ears.latest["BoxWord"]
    assert word.says == codes.BOX_RUNS | codes.BOX_HAS_NO_KEY
    assert 48 <= word.sequence <= 51
    assert bytes(word.tag) == bytes(8)
    assert "Stop" not in box.ears.latest
    assert lamps(box)[:2] == [0, 0]  # no car hears it: yellow, which blinks without a key


def test_the_button_is_a_stop_within_a_step(box):
    run(box, 100)
    bench.level(box.pins.RUNSTOP, 0)
    run(box, 12)
    assert "Stop" in box.ears.latest
    assert box.ears.latest["BoxWord"].says == codes.BOX_HAS_NO_KEY
    assert lamps(box)[1] == 1


def test_it_is_marked_healthy_once(box):
    run(box, 12_000)
    assert box.starts.marked == 1
