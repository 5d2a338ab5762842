"""Pulses on the wire: GP2 (pulses) to GP3, GP5 (stands for the runstop loop) to GP4."""

import time

import machine
import rp2

from firmware.drivers.outputs import rp2_pulses
from firmware.drivers.outputs.rp2_pulses import Pulses

OUTPUT, MEASURED, RUNSTOP, LOOP = 2, 3, 4, 5  # pins
NEUTRAL_NS = 1_500_000  # of servos and ESCs
FRAMES = 5  # a renewal holds for so many
TIMEOUT_US = 50_000  # two and a half frames of 20 ms


def channel(loop, period_us):
    loop.value(1)
    state_machine = rp2.StateMachine(
        0,
        rp2_pulses.pulses,
        freq=rp2_pulses.FREQ_HZ,
        set_base=machine.Pin(OUTPUT),
        jmp_pin=machine.Pin(RUNSTOP, machine.Pin.IN, machine.Pin.PULL_DOWN),
    )
    return Pulses(state_machine, period_us, NEUTRAL_NS, FRAMES)


def width_us(measured):
    return machine.time_pulse_us(measured, 1, TIMEOUT_US)


def widths(pulses, measured, asked_ns):
    """Renew twenty pulses; print the shortest and the longest."""
    seen = []
    for _ in range(20):  # the first few may be from before
        pulses.renew(asked_ns)
        seen.append(width_us(measured))
    print("asked", asked_ns // 1000, "us: measured", min(seen[5:]), "to", max(seen[5:]), "us")


def frames_until_neutral(measured):
    """Count the pulses that are not neutral yet."""
    for frame in range(50):  # more than any lease has
        if abs(width_us(measured) - NEUTRAL_NS // 1000) < 5:  # us: how exactly it is measured
            return frame
    return None


def run(period_us):
    loop = machine.Pin(LOOP, machine.Pin.OUT, value=1)
    measured = machine.Pin(MEASURED, machine.Pin.IN)
    pulses = channel(loop, period_us)
    print("period", period_us, "us; at start", width_us(measured), "us, neutral is 1500")
    # ns: either end of what is usual, and a width between two ticks
    for asked_ns in (1_000_000, 1_250_250, 2_000_000):
        widths(pulses, measured, asked_ns)
    pulses.renew(1_800_000)  # ns: no width that was there before
    print("renewal stops: neutral after", frames_until_neutral(measured), "frames, leased", FRAMES)
    pulses.renew(1_800_000)
    time.sleep_us(period_us)
    loop.value(0)
    print("runstop opens: neutral after", frames_until_neutral(measured), "frames, promised 1")


for period in (20_000, 5000, 2500):  # us: 50 Hz, and the faster frames of digital servos
    run(period)
