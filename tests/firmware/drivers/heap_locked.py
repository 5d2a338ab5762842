"""Every driver's per-step calls with the heap locked: an allocation ends the process.

Runs under MicroPython only. Argument: a folder with ``vesc``, ``sbus``, ``crsf`` and ``rvc``, each
a stream of bytes that its parser reads. The peripherals here are quiet: they allocate nothing
themselves. Prints each driver's name once its turns are done.
"""

import sys

import micropython

from firmware.boards.physical.guard_timer import GuardTimer
from firmware.drivers.outputs.h_bridge import HBridge
from firmware.drivers.outputs.lights import Lights
from firmware.drivers.outputs.pwm_pulses import PwmPulses
from firmware.drivers.outputs.rp2_life_signal import LifeSignal
from firmware.drivers.outputs.rp2_pulses import Pulses
from firmware.drivers.outputs.signs import Buzzer, StatusLed
from firmware.drivers.outputs.toggled_life import ToggledLife
from firmware.drivers.outputs.vesc import Vesc
from firmware.drivers.outputs.vesc_check import VescCheck
from firmware.drivers.parts import battery_ina
from firmware.drivers.parts.battery_adc import BatteryAdc
from firmware.drivers.parts.battery_ina import BatteryIna
from firmware.drivers.parts.bno055 import Bno055
from firmware.drivers.parts.bno08x_rvc import Bno08xRvc
from firmware.drivers.parts.crsf import Crsf
from firmware.drivers.parts.mounting import Mounting
from firmware.drivers.parts.mpu import Mpu
from firmware.drivers.parts.rc_pulse import RcPulse
from firmware.drivers.parts.sbus import Sbus
from firmware.drivers.pps import Pps
from firmware.drivers.wheels.polled_counter import PolledCounter
from firmware.drivers.wheels.rp2_quadrature import QuadratureCounter
from firmware.drivers.wheels.timed_wheel import TimedWheel
from firmware.drivers.wheels.wheel_sensor import WheelSensor

TURNS = 3000
TICKS = (1 << 30) - 1
SILENCE_US = 50_000


class QuietPin:
    def __init__(self):
        self.level = 1

    def value(self, level=None):
        if level is None:
            return self.level
        self.level = level
        return None

    def __call__(self):
        return self.level


class QuietPwm:
    def __init__(self):
        self.duty = 0

    def duty_u16(self, duty=None):
        if duty is None:
            return self.duty
        self.duty = duty
        return None

    duty_ns = duty_u16


class QuietTicks:
    def __init__(self):
        self.now_us = TICKS - 5_000_000  # it wraps on the way

    def __call__(self):
        return self.after(3)

    def after(self, by_us):
        """Wraps as the port does: no sum goes beyond a small int."""
        self.now_us = self.now_us - TICKS - 1 + by_us
        if self.now_us < 0:
            self.now_us = self.now_us + TICKS + 1
        return self.now_us


class QuietUart:
    def __init__(self, stream):
        self.stream = stream
        self.at = 0
        self.waiting = 0

    def any(self):
        return self.waiting

    def readinto(self, buf, nbytes):
        for i in range(nbytes):
            buf[i] = self.stream[self.at]
            self.at = (self.at + 1) % len(self.stream)
        self.waiting -= nbytes
        return nbytes

    def write(self, buf):
        return len(buf)


class QuietBus:
    """Keeps what is written; every reading is another, as loud as it gets."""

    def __init__(self, identity_at, identity):
        self.memory = bytearray(128)
        self.identity = (identity_at, identity)
        self.noise = 0

    def readfrom_mem(self, addr, memaddr, nbytes):
        at, identity = self.identity
        return bytes([identity if memaddr == at else self.memory[memaddr]])

    def readfrom_mem_into(self, addr, memaddr, buf):
        self.noise = self.noise + 37 & 0xFF
        for i in range(len(buf)):
            buf[i] = self.memory[i] if memaddr == 0 else self.noise * (i + 1) & 0xFF

    def writeto_mem(self, addr, memaddr, buf):
        for i in range(len(buf)):
            self.memory[memaddr + i] = buf[i]


class QuietMachine:
    def __init__(self):
        self.fill = 0

    def active(self, value):
        pass

    def tx_fifo(self):
        return self.fill

    def put(self, word):
        self.fill = (self.fill + 1) % 5

    def get(self, buf):
        for i in range(len(buf)):
            buf[i] = buf[i] + 60_000 & 0xFFFF


class QuietAdc:
    def __init__(self):
        self.value = 0

    def read_u16(self):
        self.value = self.value + 4099 & 0xFFFF
        return self.value


def no_sleep(ms):
    pass


# --- what one turn of each is: (name, make, turn); ``n`` counts the turns ---------------------

ticks = QuietTicks()
pin = QuietPin()
mounting = Mounting(2, -1, 3)


def stream(name):
    with open(sys.argv[1] + "/" + name, "rb") as file:
        return QuietUart(file.read())


def vesc_turn(vesc, n):
    vesc._uart.waiting = n % 97
    vesc.step(n * 10_000 & TICKS)
    vesc.ask()
    vesc.alive()
    vesc.set_current(n * 100 - 90_000)
    vesc.set_brake(n * 50)
    vesc.set_duty(n * 7 - 10_000)
    vesc.set_servo(n)


def receiver_turn(pair, n):
    receiver, uart = pair
    uart.waiting = n % 71
    receiver.read(uart)


def check_turn(check, n):
    now_us = n * 10_000 & TICKS
    check.ask(now_us, n % 4, n * 100)
    check.step(now_us, n * 90, -n, n)


def rvc_turn(imu, n):
    imu._uart.waiting = n % 71
    imu.step(n * 10_000 & TICKS)


def edge_turn(sensor, n):
    ticks.after(n * 17)
    pin.level = n & 1
    sensor.on_edge(pin)


def edges_turn(sensor, n):
    edge_turn(sensor, n)
    sensor.step(ticks.now_us)


def wheel_turn(pair, n):
    edge_turn(pair[0], n)
    pair[1].read(ticks.now_us)


def step_turn(sensor, n):
    sensor.step(n * 10_000 & TICKS)


def bridge_turn(bridge, n):
    bridge.drive(n * 7 - 10_000)
    bridge.measured_duty()
    if n % 10 == 0:
        bridge.coast()


def pwm_pulses_turn(pulses, n):
    pulses.put(900_000 + n * 500)
    pulses.end()
    pulses.measured_ns()


def pulses_turn(pulses, n):
    pulses.renew(n * 1000)
    pulses.end()


def guard_turn(rings, n):
    """What interrupts do must not allocate either."""
    ring, on_tick = rings
    pin.level = 1 if n % 50 else 0
    ring.on_edge(pin)
    ring.on_timer(None)
    on_tick(None)
    ring.guard.read()
    ring.write(n % 60 > 1)
    ring.end_written()


def lights_turn(car, n):
    car.step(n * 10_000 & TICKS, n % 3 == 0, n % 5 == 0, n % 3, n // 200 % 4)


def signs_turn(pair, n):
    pair[0].step(n * 10_000 & TICKS, 0b10101000)
    pair[1].step(n * 10_000 & TICKS, n // 100 % 256)


def make_guard_timer():
    ring = GuardTimer(pin, ToggledLife(QuietPin()), ticks)
    ring.ended = (PwmPulses(QuietPwm(), 1_500_000),)
    ring.begin(SILENCE_US)
    return ring, ring.rate_limited()


def make_wheel():
    sensor = WheelSensor(ticks, 100_000, 20_000, 15_000, 1_000_000)
    return sensor, TimedWheel(sensor, 100_000, 64)


def make_ina(kind):
    return BatteryIna(QuietBus(-1, 0), 0x40, kind, 5, SILENCE_US)


def life_turn(life, n):
    life.renew()
    life.cut()


DRIVERS = (
    ("vesc", lambda: Vesc(stream("vesc"), SILENCE_US), vesc_turn),
    ("vesc_check", lambda: VescCheck(200_000, 500, 2000, 50), check_turn),
    ("sbus", lambda: (Sbus(), stream("sbus")), receiver_turn),
    ("crsf", lambda: (Crsf(), stream("crsf")), receiver_turn),
    ("bno08x_rvc", lambda: Bno08xRvc(stream("rvc"), mounting, SILENCE_US), rvc_turn),
    ("rc_pulse", lambda: RcPulse(ticks), edge_turn),
    ("wheel_sensor", make_wheel, wheel_turn),
    ("pps", lambda: Pps(ticks), edges_turn),
    ("mpu", lambda: Mpu(QuietBus(0x75, 0x68), 1, mounting, SILENCE_US, no_sleep), step_turn),
    ("bno055", lambda: Bno055(QuietBus(0, 0xA0), 1, mounting, SILENCE_US, no_sleep), step_turn),
    ("h_bridge", lambda: HBridge(QuietPwm(), QuietPin(), QuietPin()), bridge_turn),
    ("pwm_pulses", lambda: PwmPulses(QuietPwm(), 1_500_000), pwm_pulses_turn),
    ("polled_counter", lambda: PolledCounter(ticks), lambda counter, n: counter.read()),
    ("battery_adc", lambda: BatteryAdc(QuietAdc(), 16_000, 3000, pin), step_turn),
    ("battery_ina219", lambda: make_ina(battery_ina.INA219), step_turn),
    ("battery_ina226", lambda: make_ina(battery_ina.INA226), step_turn),
    ("guard", make_guard_timer, guard_turn),
    ("lights", lambda: Lights(QuietPwm(), pin, pin, pin, pin, pin), lights_turn),
    ("signs", lambda: (StatusLed(QuietPin()), Buzzer(QuietPwm())), signs_turn),
    ("rp2_pulses", lambda: Pulses(QuietMachine(), 20_000, 1_500_000, 15), pulses_turn),
    ("rp2_quadrature", lambda: QuadratureCounter(QuietMachine()), lambda it, n: it.read()),
    ("rp2_life_signal", lambda: LifeSignal(QuietMachine(), 100_000), life_turn),
)


def run(name, make, turn):
    driver = make()
    micropython.heap_lock()
    for n in range(TURNS):
        turn(driver, n)
    micropython.heap_unlock()
    print(name)


for row in DRIVERS:
    run(*row)
