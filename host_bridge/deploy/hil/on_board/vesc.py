"""A VESC on GP12 (TX), GP13 (RX), motor unplugged: what it reports. No motion is asked for."""

import time

import machine

from firmware.drivers.outputs.vesc import STATUS_KILL_SWITCH, STATUS_TIMEOUT, Vesc

TX, RX = 12, 13  # pins
PERIOD_MS = 20  # as often as the car asks
ASKED_MS = 5000  # of answers


def talk(vesc, keep_alive):
    """Ask for values at 50 Hz, with or without the keep-alive that resets the VESC's timeout."""
    replies = vesc.reports.replies
    ends = time.ticks_add(time.ticks_ms(), ASKED_MS)
    while time.ticks_diff(ends, time.ticks_ms()) > 0:
        vesc.ask()
        if keep_alive:
            vesc.alive()
        time.sleep_ms(PERIOD_MS)
        vesc.step(time.ticks_us())
    print("replies", vesc.reports.replies - replies, "of", ASKED_MS // PERIOD_MS, "asked for")


def report(reports):
    print("input", reports.input_mv, "mV, fault", reports.fault, "erpm", reports.erpm)
    print("bytes dropped", reports.dropped, "other frames", reports.others)
    if not reports.has_status:
        print("no status byte: this firmware cannot tell its timeout and kill switch")
        return
    print("timed out", bool(reports.status & STATUS_TIMEOUT))
    print("kill switch", bool(reports.status & STATUS_KILL_SWITCH))


line = machine.UART(0, 115_200, tx=machine.Pin(TX), rx=machine.Pin(RX), rxbuf=512)
motor = Vesc(line, 100_000)
for is_alive in (True, False):
    print("with" if is_alive else "without", "a sign of life")
    talk(motor, is_alive)
    report(motor.reports)
