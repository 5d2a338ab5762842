"""MicroPython's ``rp2`` where there is none: assembles ``@asm_pio`` functions, and their machines.

``test_rp2.py`` holds the assembler against encodings that the datasheet prints. Runs under CPython
and MicroPython. A ``StateMachine`` here has FIFOs and no metal; tests let an emulator run its
program (``emulated.py``).
"""
# ruff: noqa: A002 - the signatures are those of the documentation

from bench import bench, outside
from pio_assembler import PIOASMError as PIOASMError
from pio_assembler import assembled

_FIFO_DEPTH = 4


class PIO:
    IN_LOW, IN_HIGH, OUT_LOW, OUT_HIGH = range(4)
    SHIFT_LEFT, SHIFT_RIGHT = range(2)
    JOIN_NONE, JOIN_TX, JOIN_RX = 0, 1, 2

    def __init__(self, id):
        if not 0 <= id < 3:
            raise ValueError("invalid PIO")
        self._id = id

    def gpio_base(self, base=None):
        """RP2350B: the first of the 32 GPIOs that this PIO reaches."""
        if base is not None:
            if base.gpio not in (0, 16):
                raise ValueError("invalid GPIO base")
            bench.pio_bases[self._id] = base.gpio


def asm_pio(
    *,
    out_init=None,
    set_init=None,
    sideset_init=None,
    side_pindir=False,
    in_shiftdir=PIO.SHIFT_LEFT,
    out_shiftdir=PIO.SHIFT_LEFT,
    autopush=False,
    autopull=False,
    push_thresh=32,
    pull_thresh=32,
    fifo_join=PIO.JOIN_NONE,
):
    """Assemble the decorated function."""
    settings = {
        "out_init": out_init,
        "set_init": set_init,
        "sideset_init": sideset_init,
        "side_pindir": side_pindir,
        "in_shiftdir": in_shiftdir,
        "out_shiftdir": out_shiftdir,
        "autopush": autopush,
        "autopull": autopull,
        "push_thresh": push_thresh,
        "pull_thresh": pull_thresh,
        "fifo_join": fifo_join,
    }
    return lambda function: assembled(function, settings)


class StateMachine:
    """The documented methods and FIFOs. What would block for ever raises instead."""

    COUNT = 12  # RP2350; RP2040 has eight

    def __init__(self, id, program=None, **options):
        if not 0 <= id < self.COUNT:
            raise ValueError("invalid StateMachine")
        self.id = id
        self.sent = []
        self.received = []
        self.is_active = False
        self.pins = {}
        if program is not None:
            self.init(program, **options)

    def init(
        self,
        program,
        *,
        freq=-1,
        in_base=None,
        out_base=None,
        set_base=None,
        jmp_pin=None,
        sideset_base=None,
        in_shiftdir=None,
        out_shiftdir=None,
        push_thresh=None,
        pull_thresh=None,
    ):
        if freq != -1 and not 1908 <= freq <= 150_000_000:
            raise ValueError("freq out of range")
        settings = program.settings
        for name, pin in (("out", out_base), ("set", set_base), ("sideset", sideset_base)):
            if settings[name + "_init"] is not None and pin is None:
                raise ValueError("missing " + name + "_base")
        first = bench.pio_bases.get(self.id // 4, 0)
        for pin in (in_base, out_base, set_base, sideset_base, jmp_pin):
            if hasattr(pin, "gpio") and not first <= pin.gpio < first + 32:
                raise ValueError("this PIO does not reach that pin")
        self.program = program
        self.freq = freq
        self.pins = {"in": in_base, "out": out_base, "set": set_base, "jmp": jmp_pin}
        self.is_active = False
        self.sent.clear()  # both FIFOs
        self.received.clear()
        bench.machines[self.id] = self

    def active(self, value=None):
        if value is not None:
            self.is_active = bool(value)
        return self.is_active

    def put(self, value, shift=0):
        with outside:
            words = (value,) if isinstance(value, int) else value
            for word in words:
                if len(self.sent) == _FIFO_DEPTH:
                    raise RuntimeError("put() would block: the FIFO is full")
                self.sent.append((word << shift) & 0xFFFFFFFF)

    def get(self, buf=None, shift=0):
        if buf is None:
            return self._taken() >> shift
        with outside:
            for i in range(len(buf)):
                _store(buf, i, self._taken() >> shift)
        return buf

    def _taken(self):
        if not self.received:
            raise RuntimeError("get() would block: the FIFO is empty")
        return self.received.pop(0)

    def rx_fifo(self):
        return len(self.received)

    def tx_fifo(self):
        return len(self.sent)

    def restart(self):
        self.sent.clear()


def _store(buf, i, word):
    """A typed array takes as many bits of each word as its items have; CPython wants them cut."""
    for bits in (32, 16, 8):
        try:
            buf[i] = word & ((1 << bits) - 1)
            return
        except (OverflowError, ValueError):
            pass
