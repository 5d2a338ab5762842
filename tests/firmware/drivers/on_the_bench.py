"""Drivers on the virtual machine, and what came out: the same lines on every Python.

Run by ``test_bench.py`` under CPython, whose output is the oracle, and under MicroPython.
"""

import machine
import rp2
from bench import WatchdogReset, bench

from firmware.boards.physical.guard_timer import TICK_HZ, GuardTimer
from firmware.drivers.outputs import rp2_pulses
from firmware.drivers.outputs.h_bridge import HBridge
from firmware.drivers.outputs.lights import BOTH, HEAD_HIGH, Lights
from firmware.drivers.outputs.pwm_pulses import PwmPulses
from firmware.drivers.outputs.rp2_pulses import Pulses
from firmware.drivers.outputs.toggled_life import ToggledLife
from firmware.drivers.outputs.vesc import Vesc
from firmware.drivers.parts.battery_adc import BatteryAdc
from firmware.drivers.parts.rc_pulse import RcPulse
from firmware.drivers.parts.sbus import Sbus
from firmware.drivers.wheels.wheel_sensor import WheelSensor


def ticks_us():
    bench.now_us += 1  # the runstop's filter waits for time to pass
    return bench.now_us


def output(gpio):
    return machine.Pin(gpio, machine.Pin.OUT, value=0)


def motor_and_lights():
    motor = HBridge(machine.PWM(machine.Pin(0), freq=20_000), output(2), output(3))
    car = Lights(machine.PWM(machine.Pin(6), freq=1000), *map(output, (8, 9, 10, 11, 12)))
    for n in range(-4, 5):
        motor.drive(n * 2500)
        car.step(n * 400_000 & 0x3FFFFFFF, n < 0, n > 2, HEAD_HIGH, BOTH)
        print("motor", motor.measured_duty(), sorted(bench.levels.items()))


def pulses():
    state_machine = rp2.StateMachine(0, rp2_pulses.pulses, freq=4_000_000, set_base=machine.Pin(0))
    channel = Pulses(state_machine, 20_000, 1_500_000, 5)
    channel.renew(1_750_000)
    print("words", state_machine.sent, state_machine.active())
    by_pwm = PwmPulses(machine.PWM(machine.Pin(1), freq=50), 1_500_000)
    by_pwm.put(1_800_000)
    print("pwm", by_pwm.measured_ns())
    by_pwm.end()
    print("pwm", by_pwm.measured_ns())


def guarded():
    bench.level(14, 1)
    loop = machine.Pin(14, machine.Pin.IN, machine.Pin.PULL_DOWN)
    ring = GuardTimer(loop, ToggledLife(output(15)), ticks_us)
    loop.irq(ring.on_edge, machine.Pin.IRQ_FALLING | machine.Pin.IRQ_RISING, hard=True)
    ring.guard.begin(20_000)
    ring.guard.read()
    ring.write(False)
    machine.Timer(-1, freq=TICK_HZ, callback=ring.on_timer, hard=True)
    for n in range(8):
        if n < 4:
            ring.write(True)
        bench.advance(10_000)
        print("guard", n, ring.guard.is_late, bench.levels[15])
    bench.level(14, 0)
    bench.advance(1000)
    print("runstop", ring.guard.has_seen_loop_open)


def wires():
    rc = RcPulse(lambda: bench.now_us)
    wheel = WheelSensor(lambda: bench.now_us, 100_000, 20_000, 15_000, 1_000_000)
    machine.Pin(20, machine.Pin.IN).irq(rc.on_edge, hard=True)
    machine.Pin(21, machine.Pin.IN).irq(wheel.on_edge, machine.Pin.IRQ_RISING, hard=True)
    for level in (1, 0, 1, 0):
        bench.level(20, level)
        bench.level(21, level)
        bench.advance(1600)
    bench.advance(20_000)
    wheel.step(bench.now_us)
    print("rc", rc.pulse_us, rc.count, "wheel", wheel.count, wheel.refused)


def lines():
    vesc = Vesc(machine.UART(0, 115_200, tx=machine.Pin(12), rx=machine.Pin(13)), 100_000)
    vesc.set_current(-4614)
    vesc.step(0)
    print("vesc", bytes(bench.uarts[0].outgoing))
    receiver = machine.UART(1, 100_000, 8, 0, 2, rx=machine.Pin(5), invert=machine.UART.INV_RX)
    receiver.incoming.extend((b"\x0f" + bytes(24)) * 3)
    sbus = Sbus()
    sbus.read(receiver)
    print("sbus", list(sbus.channels.pulses_us)[:2], sbus.count, bench.waited_us)


def battery_and_watchdog():
    bench.voltages[26] = 30_000
    battery = BatteryAdc(machine.ADC(machine.Pin(26)), 9900, 3000, None)
    battery.step(0)
    print("battery", battery.mv)
    machine.WDT(timeout=100)
    try:
        bench.advance(100_001)
    except WatchdogReset as bite:
        print("watchdog", bite)
    for refused in (lambda: machine.Pin(99), lambda: machine.ADC(25), lambda: machine.Timer(3)):
        try:
            refused()
        except ValueError as error:
            print("refused", error)


for part in (motor_and_lights, pulses, guarded, wires, lines, battery_and_watchdog):
    bench.reset()
    part()
