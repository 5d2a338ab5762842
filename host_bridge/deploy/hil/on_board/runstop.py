"""Runstop open to the life signal's end: GP5 (loop) to GP4, GP10 (life) to GP11."""

import time

import machine
import rp2

from firmware.boards.physical.guard_timer import TICK_HZ, GuardTimer
from firmware.drivers.outputs import rp2_life_signal
from firmware.drivers.outputs.rp2_life_signal import LifeSignal
from firmware.drivers.outputs.toggled_life import ToggledLife

RUNSTOP, LOOP, LIFE, SEEN = 4, 5, 10, 11  # pins
WATCHED_US = 150_000  # half again as long as S5 allows


def last_edge_us(seen, loop):
    """Open the loop; return the us from then to the life signal's last change, 0 if it had none."""
    level = seen()
    loop.value(0)
    opened_us = time.ticks_us()
    last_us = 0
    while True:
        at_us = time.ticks_diff(time.ticks_us(), opened_us)
        if at_us > WATCHED_US:
            return last_us
        if seen() != level:
            level = 1 - level
            last_us = at_us


def by_pio(loop, runstop, seen):
    loop.value(1)
    state_machine = rp2.StateMachine(
        0,
        rp2_life_signal.life_signal,
        freq=rp2_life_signal.FREQ_HZ,
        set_base=machine.Pin(LIFE),
        jmp_pin=runstop,
    )
    LifeSignal(state_machine, 100_000).renew()  # us: the longest lease that the driver takes
    time.sleep_ms(10)
    print("PIO alone: last edge", last_edge_us(seen, loop), "us after opening, promised 1000")
    state_machine.active(0)


def by_guard(loop, runstop, seen, opens):
    """The main loop only watches, so for the car it hangs."""
    loop.value(1)
    life = ToggledLife(machine.Pin(LIFE, machine.Pin.OUT))
    guard_timer = GuardTimer(runstop, life, time.ticks_us)
    guard_timer.guard.begin(50_000)  # us: the guard's limit for the loop
    runstop.irq(guard_timer.on_edge, machine.Pin.IRQ_RISING | machine.Pin.IRQ_FALLING, hard=True)
    timer = machine.Timer(-1, freq=TICK_HZ, callback=guard_timer.on_timer, hard=True)
    guard_timer.guard.read()
    guard_timer.write(False)
    for _ in range(10):
        guard_timer.write(True)
        time.sleep_ms(5)  # ms: half a step
    watched = loop if opens else machine.Pin(25, machine.Pin.OUT)  # GP25 opens nothing
    ended_us = last_edge_us(seen, watched)
    timer.deinit()
    runstop.irq(None)
    if opens:
        print("guard, loop opened: last edge", ended_us, "us after opening, promised 1000")
    else:
        print("guard, step hung: last edge", ended_us, "us after, promised 100000")


loop_pin = machine.Pin(LOOP, machine.Pin.OUT, value=1)
runstop_pin = machine.Pin(RUNSTOP, machine.Pin.IN, machine.Pin.PULL_DOWN)
seen_pin = machine.Pin(SEEN, machine.Pin.IN)
for _ in range(5):  # times: the phase of the opening is another each time
    by_pio(loop_pin, runstop_pin, seen_pin)
for is_opened in (True, True, True, False):
    by_guard(loop_pin, runstop_pin, seen_pin, is_opened)
