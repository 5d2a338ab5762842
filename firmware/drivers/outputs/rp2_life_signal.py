"""The drive enable's life signal by an RP2 state machine: a square wave that ends unaided.

The relay hangs on a charge pump: only a toggling line holds it, neither level does. The line
toggles as many times as the last renewal gave it, and not at all while the runstop is open.
"""
# ruff: noqa: A004 - the assembler brings its own words, one of them is `set`

import rp2

from firmware.compat import TYPE_CHECKING, micropython

if TYPE_CHECKING:
    from rp2.asm_pio import (
        jmp,
        label,
        mov,
        noblock,
        osr,
        pin,
        pins,
        pull,
        set,
        wrap,
        wrap_target,
        x,
        x_dec,
    )

FREQ_HZ = 128_000  # of the state machine: with 64 cycles a wave, 2 kHz
WAVE_US = 500  # 64 cycles at FREQ_HZ


@rp2.asm_pio(set_init=rp2.PIO.OUT_LOW, out_shiftdir=rp2.PIO.SHIFT_RIGHT)
def life_signal() -> None:
    """Make as many waves as the last word says, while the runstop is closed.

    ``set_base``: the output. ``jmp_pin``: the runstop, high while closed.
    """
    wrap_target()
    label("rest")
    pull()  # low until renewed
    mov(x, osr)
    label("wave")
    jmp(pin, "closed")[3]  # two looks 31 us apart: no spike under 20 us is open at both
    jmp(pin, "closed")
    jmp("rest")
    label("closed")
    set(pins, 1)[31]
    set(pins, 0)[24]
    pull(noblock)  # nothing put: x again
    mov(x, osr)
    jmp(x_dec, "wave")
    wrap()


class LifeSignal:
    """The life signal by a state machine; each renewal lasts for ``lease_us``.

    ``machine`` is a StateMachine with ``life_signal`` at ``FREQ_HZ``, not yet active. ``lease_us``
    is 1000 to 100000. Raises ValueError out of that.
    """

    def __init__(self, machine: "rp2.StateMachine", lease_us: int) -> None:
        # Two waves at least; within a tenth of a second a hung program has let go of the drive (S5)
        if not 1000 <= lease_us <= 100_000:
            raise ValueError("the life signal's lease is 1000 to 100000 us; correct the board file")
        self._waiting = machine.tx_fifo
        self._put = machine.put
        self._waves = lease_us // WAVE_US - 1
        self._is_alive = False
        machine.active(1)

    @micropython.native
    def renew(self) -> None:
        self._is_alive = True
        if self._waiting() == 0:  # one that waits is enough
            self._put(self._waves)

    def cut(self) -> None:
        """End with the wave that is under way, or the next; an open runstop needs no such call.

        Only the first call puts a word: one that finds the program at rest makes a wave, and cut
        again and again it would hold the relay.
        """
        if self._is_alive and self._waiting() < 4:  # put() would wait
            self._is_alive = False
            self._put(0)
