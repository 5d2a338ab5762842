"""Servo and ESC pulses by an RP2 state machine: unless renewed they end in neutral, unaided.

The program keeps a lease: each word that is put holds a pulse and for how many frames it counts.
When they are used up, or when the runstop loop is open at the start of a frame, the pulse is the
neutral one that was put first, for as long as no new word comes. No CPU is needed for that.

A word, from its low end: 4 bits frames, 14 bits pulse, 12 bits gap. It stays below 2**30, so that
putting it allocates nothing on a 32-bit port.
"""
# ruff: noqa: A004 - the assembler brings its own words, one of them is `set`

import rp2

from firmware.compat import TYPE_CHECKING, micropython

if TYPE_CHECKING:
    from rp2.asm_pio import (
        isr,
        jmp,
        label,
        mov,
        noblock,
        not_y,
        osr,
        out,
        pin,
        pins,
        pull,
        set,
        wrap,
        wrap_target,
        x,
        x_dec,
        y,
        y_dec,
    )

const = micropython.const

FREQ_HZ = 4_000_000  # of the state machine: a pulse in steps of 250 ns
TICK_NS = const(250)  # one cycle at FREQ_HZ
GAP_TICKS = const(32)  # per count of the gap
PULSE_OVERHEAD_TICKS = const(21)  # from the rising edge to the falling one, besides what is counted
GAP_OVERHEAD_TICKS = const(34)  # from the falling edge to the rising one, besides what is counted
MAX_FRAMES = 15  # what the word's four bits count
SHORTEST_NS = const(500_000)  # what servos and ESCs take; calibrated limits are above this driver
LONGEST_NS = 2_500_000  # a 14-bit count of 250 ns would reach 4.1 ms
_LEAST_GAP_US = 60  # the low time that the state machine's loop needs between two pulses


@micropython.viper
def ticks_of(pulse_ns: int, longest_ns: int) -> int:
    """Return the pulse in ticks, rounded, or the nearest in range."""
    if pulse_ns < SHORTEST_NS:
        pulse_ns = SHORTEST_NS
    if pulse_ns > longest_ns:
        pulse_ns = longest_ns
    return (pulse_ns + TICK_NS // 2) // TICK_NS


@micropython.viper
def word_of(ticks: int, period_ticks: int) -> int:
    gap = (period_ticks - ticks - GAP_OVERHEAD_TICKS) // GAP_TICKS
    return gap << 18 | (ticks - PULSE_OVERHEAD_TICKS) << 4


@rp2.asm_pio(
    set_init=rp2.PIO.OUT_LOW, in_shiftdir=rp2.PIO.SHIFT_RIGHT, out_shiftdir=rp2.PIO.SHIFT_RIGHT
)
def pulses() -> None:
    """Put out a pulse in each frame: the last word's while its lease lasts, else neutral.

    ``set_base``: the output. ``jmp_pin``: the runstop, high while closed; or the output itself,
    which is always high when it is asked, for a channel that the runstop is not to touch.
    """
    pull()  # the neutral word; the output is low until it has come
    mov(isr, osr)
    out(x, 4)  # no frames
    wrap_target()
    set(pins, 1)
    set(y, 3)
    label("newer")  # all that was put since the last frame, the FIFO holds four: the last counts
    pull(noblock)  # nothing put: x again
    mov(x, osr)
    jmp(y_dec, "newer")
    out(y, 4)
    jmp(not_y, "neutral")
    jmp(pin, "leased")  # when it is open, the pulse is one tick longer: one more instruction
    label("neutral")
    mov(osr, isr)
    out(x, 4)  # no frames: also when the runstop closes again only a new word counts
    jmp("pulse")
    label("leased")
    jmp(x_dec, "pulse")[1]  # one frame fewer, in the low bits; as long as the other way
    label("pulse")
    out(y, 14)  # bits of the pulse's count, of the word
    label("high")
    jmp(y_dec, "high")
    set(pins, 0)
    out(y, 12)  # bits of the gap's count
    label("low")
    jmp(y_dec, "low")[31]
    wrap()


class Pulses:
    """The pulses of one channel.

    ``machine`` is a StateMachine with ``pulses`` at ``FREQ_HZ``, not yet active. ``period_us`` is
    that of the frames (2500 to 20000), ``neutral_ns`` the pulse to end in, ``frames`` (1 to 15) for
    how many a renewal counts. Raises ValueError out of these ranges.
    """

    def __init__(
        self, machine: "rp2.StateMachine", period_us: int, neutral_ns: int, frames: int
    ) -> None:
        # 400 to 50 Hz, as servos and ESCs take; the gap's 12 bits would reach 33 ms
        if not 2500 <= period_us <= 20_000:
            raise ValueError("pulse period is 2500 to 20000 us; correct the channel's rate")
        if not 1 <= frames <= MAX_FRAMES:
            raise ValueError("a renewal counts for 1 to 15 frames; correct the channel's lease")
        if not SHORTEST_NS <= neutral_ns <= LONGEST_NS:
            raise ValueError("neutral is 500000 to 2500000 ns; correct the channel's calibration")
        self._machine = machine
        self._period_ticks = period_us * (1000 // TICK_NS)
        self._longest_ns = min(LONGEST_NS, (period_us - _LEAST_GAP_US) * 1000)
        self._frames = frames
        self.missed = 0  # renewals that found the FIFO full: more than four in one frame
        ticks = ticks_of(neutral_ns, LONGEST_NS)
        self.neutral_ns = self.pulse_ns = ticks * TICK_NS  # as it was put, to the tick
        self.asked_ns = -1  # what a renewal was asked last, and what that came to
        self._renewed_ns = 0
        self._renewed_word = 0
        machine.put(word_of(ticks, self._period_ticks))
        machine.active(1)

    def renew(self, pulse_ns: int) -> None:
        """Put out this pulse for the next frames; out of range it is the nearest in range."""
        machine = self._machine
        if machine.tx_fifo() == 4:  # put() would wait
            self.missed += 1
            return
        if pulse_ns != self.asked_ns:
            self.asked_ns = pulse_ns
            ticks = ticks_of(pulse_ns, self._longest_ns)
            self._renewed_word = word_of(ticks, self._period_ticks) | self._frames
            self._renewed_ns = ticks * TICK_NS
        machine.put(self._renewed_word)
        self.pulse_ns = self._renewed_ns  # last: an interrupt finds it at its next tick

    def end(self) -> None:
        """Put out neutral from the next frame on, by a word that counts for no frames."""
        if self.pulse_ns != self.neutral_ns and self._machine.tx_fifo() < 4:
            self._machine.put(0)
            self.pulse_ns = self.neutral_ns
