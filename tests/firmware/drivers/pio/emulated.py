"""A state machine whose program really runs: the virtual ``rp2`` with an emulator under it."""

from collections import deque

import pytest
import rp2

# Older ones have no pin bases, and their counters do not wrap; this one needs Python 3.11
pioemu = pytest.importorskip("pioemu", "0.88", reason="rp2040-pio-emulator 0.88 is not installed")
emulation = pytest.importorskip("pioemu.emulation")
primitive_operations = pytest.importorskip("pioemu.primitive_operations")

GPIOS = (1 << 32) - 1


def _replaced(state, **changes):
    """Return ``dataclasses.replace(state, **changes)``, in a fifth of its time.

    The emulator makes two new states a cycle, and that took three quarters of these tests' time.
    """
    made = object.__new__(type(state))
    made.__dict__.update(state.__dict__)
    made.__dict__.update(changes)
    return made


for _module in (emulation, primitive_operations):
    _module.replace = _replaced


class EmulatedMachine(rp2.StateMachine):
    """Pins are numbers. ``inputs``: the levels of the pins; ``edges``: what the output did."""

    def __init__(self, program, *, set_base=None, in_base=None, jmp_pin=0, cycle_ns=1):
        super().__init__(0, program, set_base=set_base, in_base=in_base, jmp_pin=jmp_pin)
        assert in_base in (None, 0), "the emulator reads from pin 0 on"
        self.cycle_ns = cycle_ns
        self.inputs = 0
        self.edges = []  # (time in ns, level)
        outputs = 0 if set_base is None else 1 << set_base
        self.state = pioemu.State(pin_directions=outputs)
        self._outputs = outputs
        self._machine = {
            "input_source": self._levels,
            "shift_isr_right": program.settings["in_shiftdir"] == rp2.PIO.SHIFT_RIGHT,
            "shift_osr_right": program.settings["out_shiftdir"] == rp2.PIO.SHIFT_RIGHT,
            "set_base": set_base or 0,
            "set_count": 1,
            "jmp_pin": jmp_pin,
            "wrap_target": program.wrap_target,
            "wrap_top": program.wrap,
        }

    @property
    def now_ns(self):
        return self.state.clock * self.cycle_ns

    def _levels(self, clock: int) -> int:
        return self.inputs

    def run_until(self, time_ns):
        """Run the program; words that are put meanwhile come with the next call."""
        if not self.is_active:
            self.state = _replaced(self.state, clock=time_ns // self.cycle_ns)
            return
        self.state = _replaced(self.state, transmit_fifo=deque(self.sent))
        for before, after in self._steps(time_ns // self.cycle_ns):
            if (before.pin_values ^ after.pin_values) & self._outputs:
                level = int(bool(after.pin_values & self._outputs))
                self.edges.append((before.clock * self.cycle_ns, level))
        self.sent[:] = self.state.transmit_fifo
        self.received[:] = self.state.receive_fifo

    def _steps(self, end):
        machine = pioemu.emulate(
            self.program.opcodes,
            initial_state=self.state,
            stop_when=lambda _, state: state.clock >= end,
            **self._machine,
        )
        for before, self.state in machine:
            yield before, self.state

    def get(self, buf=None, shift=0):
        """As on the chip the program runs on while the processor waits for its words."""
        taken = []
        for _ in range(len(buf)):
            while not self.state.receive_fifo:
                self.run_until(self.now_ns + self.cycle_ns)
            fifo = self.state.receive_fifo
            taken.append(fifo[0])
            self.state = _replaced(self.state, receive_fifo=deque(list(fifo)[1:]))
            self.run_until(self.now_ns + 10 * self.cycle_ns)
        self.received[:] = taken
        return super().get(buf, shift)


def pulses_of(edges):
    """(when it rose in ns, how long it was high in ns) of every whole pulse."""
    starts = [at for at, level in edges if level]
    ends = [at for at, level in edges if not level]
    return [(start, end - start) for start, end in zip(starts, ends, strict=False)]
