"""Counts at rising rates: GP6, GP7 (a simulated encoder) to GP8, GP9 (A, B)."""
# ruff: noqa: F821 - the PIO assembler defines its instructions as names

import time

import machine
import rp2

from firmware.drivers.wheels.rp2_quadrature import QuadratureCounter, quadrature

MADE, COUNTED = 6, 8  # the first of two pins each
CYCLES = 50_000  # four steps each, forward and then back
STEP_CYCLES = 16  # state machine cycles per step


@rp2.asm_pio(set_init=(rp2.PIO.OUT_LOW,) * 2, out_shiftdir=rp2.PIO.SHIFT_RIGHT)
def made_encoder():
    """Take two words: cycles forward, cycles back."""
    pull()
    mov(x, osr)
    label("forward")
    set(pins, 1)[15]
    set(pins, 3)[15]
    set(pins, 2)[15]
    set(pins, 0)[14]
    jmp(x_dec, "forward")
    pull()
    mov(x, osr)
    label("back")
    set(pins, 2)[15]
    set(pins, 3)[15]
    set(pins, 1)[15]
    set(pins, 0)[14]
    jmp(x_dec, "back")


def run(counter, rate):
    """Return how many steps of a simulated encoder, forward and back, the counter lost.

    ``rate`` is in steps a second.
    """
    maker = rp2.StateMachine(
        0, made_encoder, freq=rate * STEP_CYCLES, set_base=machine.Pin(MADE, machine.Pin.OUT)
    )
    maker.active(1)
    counter.read()
    lost = 0
    for steps in (4 * CYCLES, -4 * CYCLES):
        first = counter.count
        maker.put(CYCLES - 1)
        # ms: four steps a cycle, at this rate, and a margin
        ends = time.ticks_add(time.ticks_ms(), CYCLES * 4000 // rate + 20)
        while time.ticks_diff(ends, time.ticks_ms()) > 0:
            counter.read()
        lost += abs(counter.count - first - steps)
    maker.active(0)
    print("rate", rate, "steps/s, 2 x", 4 * CYCLES, "steps: lost", lost)
    return lost


def time_of_a_reading(counter):
    started_us = time.ticks_us()
    for _ in range(1000):
        counter.read()
    print("a reading takes", time.ticks_diff(time.ticks_us(), started_us) // 1000, "us")


for pin in (COUNTED, COUNTED + 1):
    machine.Pin(pin, machine.Pin.IN, machine.Pin.PULL_DOWN)
counting = QuadratureCounter(rp2.StateMachine(4, quadrature, in_base=machine.Pin(COUNTED)))
time_of_a_reading(counting)
# up to beyond what the state machine can count
for steps_per_s in (10_000, 100_000, 1_000_000, 2_000_000, 4_000_000, 6_000_000, 7_500_000):
    if run(counting, steps_per_s):
        break
