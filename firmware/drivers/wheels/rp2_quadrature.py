"""A quadrature decoder by an RP2 state machine: it counts every edge of both lines.

With the lines A and B, ``before`` and ``now``, a step forward is where exactly one holds of

    B before differs from A now        (then one up)
    A before differs from B now        (then one down)

and it is the first; backward, the second. With neither or both nothing has moved, or both lines at
once, which no encoder does. So the count is one up and one down by two comparisons: a glitch that
goes and comes back adds nothing, and there is no table that would need a place of its own.

One turn takes at most 19 cycles: at 125 MHz a step may come every 152 ns (6.5 Mcount/s).
"""

import rp2

from firmware.compat import TYPE_CHECKING, array, micropython
from firmware.drivers.wheels.wide_count import WideCount

if TYPE_CHECKING:
    from rp2.asm_pio import (
        in_,
        invert,
        isr,
        jmp,
        label,
        mov,
        noblock,
        not_y,
        osr,
        out,
        pins,
        push,
        wrap,
        wrap_target,
        x,
        x_dec,
        y,
    )


@rp2.asm_pio(in_shiftdir=rp2.PIO.SHIFT_RIGHT, out_shiftdir=rp2.PIO.SHIFT_LEFT)
def quadrature() -> None:  # noqa: PLR0915 - each word is an instruction
    """Count without end and push each count. ``in_base``: A, and B on the next pin."""
    in_(pins, 2)
    wrap_target()
    in_(pins, 2)  # the top of isr, from the highest bit: B and A now, B and A before
    mov(osr, isr)
    out(y, 1)  # B now
    jmp(not_y, "compare")
    mov(osr, invert(osr))
    label("compare")  # osr: what of A now, B before, A before differs from B now
    out(y, 1)
    jmp(not_y, "alike")
    out(y, 1)  # A and B now differ: B before differs from A now if it is B now
    jmp(not_y, "up")
    jmp("backward")
    label("alike")
    out(y, 1)
    jmp(not_y, "backward")
    label("up")
    mov(x, invert(x))
    jmp(x_dec, "upped")
    label("upped")
    mov(x, invert(x))
    label("backward")
    out(y, 1)  # A before differs from B now
    jmp(not_y, "done")
    jmp(x_dec, "done")
    label("done")
    mov(y, isr)  # isr is needed for the count; its history comes back afterwards
    mov(isr, x)
    push(noblock)
    mov(isr, y)
    wrap()


class QuadratureCounter:
    """An encoder's count by ``machine``, a StateMachine with ``quadrature`` that is not yet active.

    ``count`` is modulo 2**30; ``read`` at least every 32000 counts (5 ms at the fastest).
    """

    def __init__(self, machine: "rp2.StateMachine") -> None:
        self._machine = machine
        # The FIFO holds four old counts, the fifth was pushed during the call. 16 bits of each:
        # a whole negative count would be an object on the heap.
        self._counts = array("H", [0] * 5)
        self._wide = WideCount(16)  # bits
        self.count = 0
        machine.active(1)

    @micropython.native
    def read(self, now_us: int = 0) -> None:
        """Read the newest count. ``now_us`` is there because other counters of a board need it."""
        counts = self._counts
        self._machine.get(counts)
        self.count = self._wide.take(counts[4])
