"""A real board file on the virtual ``machine`` and ``rp2``: what its pins see comes in packets of a
millisecond, what its wires carry goes out. The same file under CPython and MicroPython.

As a program: ``bench_car.py PINS_MODULE FOLDER CHIP_ID_HEX [PIN=LEVEL ...]``, packets on standard
input; these pins are held at these levels from before the start, but the loop's can be turned.
The heap is locked in every step and in every interrupt.
"""

import struct
import sys
import time

import machine
from attached import Attached
from bench import WatchdogReset, bench, outside

from firmware.app import App
from firmware.boards.physical import parts
from firmware.boards.start import Beat, make_board, make_link
from firmware.boards.store import Store

LOOP = 255  # in an event: whatever pin the runstop loop is on
# The main loop stands still; interrupts do not come; the IMU answers nothing
HANGS, IS_DEAF, IS_NUMB = 1, 2, 4
# flags, counts left and right, yaw rate, accelerations, battery, how many events, bytes of the
# link and of the other line, which is a VESC's or a receiver's
HEAD = "<BiiiiiiBHH"
EVENT_SIZE = 4
EVENT = "<HBB"  # microseconds from the millisecond's start, gpio, level
REPLY = "<8iBBHH"
MS_US = 1000
TURNS = 6  # of the endless loop in a millisecond
PUMP_US = 30_000  # what a charge pump holds without being fed
MASK = (1 << 30) - 1

if not hasattr(time, "sleep_ms"):  # CPython
    time.sleep_ms = lambda ms: None


class Esp32:
    """``sys``, as far as the board's parts ask it; MicroPython's own cannot be renamed."""

    platform = "esp32"


class Mpu:
    """An MPU-9250 by its registers, flat on the car, x forward."""

    def __init__(self):
        self.registers = bytearray(128)
        self.registers[0x75] = 0x71
        self.is_numb = False
        self.noise = 0

    def feel(self, yaw_rate_mrad_s, accel_x_mm_s2, accel_y_mm_s2):
        self.noise = self.noise + 1 & 7  # a living sensor is never quite still
        raw = (
            accel_x_mm_s2 * 10_000 // 23_942,
            accel_y_mm_s2 * 10_000 // 23_942,
            4096 + self.noise,
            0,
            0,
            0,
            yaw_rate_mrad_s * 10_000 // 5321,
        )
        struct.pack_into(">7h", self.registers, 0x3B, *[max(-32768, min(32767, r)) for r in raw])

    def read(self, address, size):
        if self.is_numb:
            raise OSError(5)
        return self.registers[address : address + size]

    def write(self, address, data):
        for i in range(len(data)):
            self.registers[address + i] = data[i]


class Ina226:
    """By its registers of two bytes, high byte first; no current flows."""

    def __init__(self):
        self.config = bytes(2)
        self.battery_mv = 30_000

    def read(self, address, size):
        return self.config if address == 0 else struct.pack(">H", self.bus() if address == 2 else 0)

    def bus(self):
        return self.battery_mv * 100 // 125

    def write(self, address, data):
        self.config = bytes(data)


class Starts:
    """The launcher's record, across resets."""

    def __init__(self):
        self.failed = 0
        self.folder = ""

    def mark_healthy(self):
        self.failed = 0


class LockedApp(App):
    """The beat has locked the heap; what stands for metal has to know."""

    def step(self, now_us):
        outside.is_locked = True
        App.step(self, now_us)
        outside.is_locked = False


def ticks_us():
    return bench.ticks_us() & MASK


def named(number):
    """The pin of an event: bench_world.numbered backwards."""
    return f"P{chr(65 + number // 16)}{number % 16}" if bench.port == "stm32" else number


class BenchCar:
    def __init__(self, pins, folder, chip_id, held=()):
        self.pins = pins
        self.store = Store((folder + "/config_a.bin", folder + "/config_b.bin"))
        self.starts = Starts()
        self.chip_id = chip_id
        self.resets = 0
        is_small = pins.PORT == "rp2" and max([pin for pin, _ in pins.SAFE_LEVELS]) < 30
        bench.reset(30 if is_small else 48, pins.PORT)
        parts.sys = Esp32 if pins.PORT == "esp32" else sys
        bench.held = {gpio: level for gpio, level in held if gpio != pins.RUNSTOP}
        bench.levels[pins.RUNSTOP] = dict(held).get(pins.RUNSTOP, 1)
        self.boot()

    def boot(self):
        """What the launcher and ``start`` do, with a beat that is turned from here."""
        pins = self.pins
        bench.chip_id = self.chip_id
        self.imu, self.ina = Mpu(), Ina226()
        bench.voltages[26 + machine.ADC.CORE_TEMP] = 706 * 65_535 // 3300  # 27 degrees
        if pins.BATTERY[0] == "battery_adc":
            bench.voltages[pins.BATTERY[1]] = 50_000
        if pins.I2C:
            bench.buses[pins.I2C[0]] = {pins.IMU[1]: self.imu}
        if pins.BATTERY[0] == "battery_ina":
            bench.buses[pins.I2C[0]][pins.BATTERY[1]] = self.ina
        self.imu.feel(0, 0, 0)
        self.link = make_link(pins)
        self.board = make_board(pins, self.starts, self.link, self.store, ticks_us)
        self.app = LockedApp(self.board)
        self.board.watchdog = self.watchdog = machine.WDT(timeout=self.board.watchdog_ms)
        self.beat = Beat(self.board, self.app, ticks_us, self.watchdog)
        self.attach()

    def attach(self):
        pins = self.pins
        self.wires = []
        for role in ("link", "vesc", "rc"):
            self.wires += [bench.uarts[row[1]] for row in pins.UARTS if row[0] == role]
        self.metal = Attached(pins)

    def ms(self, packet):
        """One millisecond of the car's life."""
        head = struct.unpack_from(HEAD, packet, 0)
        flags, sizes = head[0], head[-3:]
        self.feel(head[1:-3])
        at = struct.calcsize(HEAD)
        begun_us = bench.now_us
        self.imu.is_numb = bool(flags & IS_NUMB)
        try:
            bench.coming = [self.event(packet, at + n * EVENT_SIZE) for n in range(sizes[0])]
            at += sizes[0] * EVENT_SIZE
            for at_us, gpio, level in bench.coming:
                if at_us < begun_us + MS_US:
                    self.advance(at_us, flags)
                    self.level(gpio, level, flags)
            self.advance(begun_us + MS_US * 6 // 10, flags)  # uneven: a toggled signal shows
            self.advance(begun_us + MS_US, flags)
            bench.coming = []
        except WatchdogReset:
            self.reset()
        for i in range(len(self.wires)):
            self.wires[i].incoming.extend(packet[at : at + sizes[1 + i]])
            at += sizes[1 + i]
        if not flags & HANGS:
            for _ in range(TURNS):
                self.beat.turn()
        return self.reply()

    def event(self, packet, at):
        """The next millisecond's first are said too: an interrupt that stays sees them."""
        after_us, gpio, level = struct.unpack_from(EVENT, packet, at)
        return bench.now_us + after_us, self.pins.RUNSTOP if gpio == LOOP else named(gpio), level

    def feel(self, readings):
        counts, (yaw_rate, accel_x, accel_y, battery_mv) = readings[:2], readings[2:]
        for is_right, counter in self.metal.counters:
            counter.count = counts[is_right]
        self.imu.feel(yaw_rate, accel_x, accel_y)
        self.ina.battery_mv = battery_mv
        if self.pins.BATTERY[0] == "battery_adc":
            bench.voltages[self.pins.BATTERY[1]] = battery_mv * 65_535 // self.pins.BATTERY[2]

    def advance(self, until_us, flags):
        bench.are_interrupts_on = not flags & IS_DEAF
        bench.advance(max(until_us - bench.now_us, 0))
        bench.are_interrupts_on = True
        self.metal.advance(until_us)

    def level(self, gpio, level, flags):
        bench.are_interrupts_on = not flags & IS_DEAF
        bench.level(gpio, level)
        bench.are_interrupts_on = True

    def is_relay_closed(self):
        return bench.now_us - self.metal.life.fed_us <= PUMP_US

    def reset(self):
        """By the watchdog: all outputs are inputs again, what is stored stays."""
        inputs = {gpio: bench.levels.get(gpio, 0) for gpio in (self.pins.RUNSTOP,)}
        now_us, held = bench.now_us, bench.held
        bench.reset(bench.gpios, self.pins.PORT)
        bench.now_us, bench.held = now_us, held
        bench.levels.update(inputs)
        bench.reset_cause = machine.WDT_RESET
        self.starts.failed += 1
        self.resets += 1
        self.boot()

    def reply(self):
        is_on = self.is_relay_closed()
        if self.pins.CONTACT is not None:
            bench.level(self.pins.CONTACT, int(is_on))
        is_on = is_on and not any(not bench.levels[gpio] for gpio in self.pins.STANDBY)
        values = [self.value(row) for row in self.pins.CHANNELS]
        values += [0] * (8 - len(values))
        sent = [bytes(wire.outgoing) for wire in self.wires] + [b""]
        for wire in self.wires:
            wire.outgoing[:] = b""
        sizes = [len(data) for data in sent[:2]]
        return struct.pack(REPLY, *values, is_on, self.resets & 0xFF, *sizes) + b"".join(sent)

    def value(self, row):
        if row[0] in ("pio_pulse", "pwm_pulse") and row[1] in bench.held:
            return 0  # no edges, no pulse
        if row[0] == "pio_pulse":
            return self.metal.pulses[row[1]].pulse_ns
        if row[0] in ("vesc", "vesc_servo"):  # what it does is known at the far end of its line
            return 0
        pwm = bench.pwms[row[1]]
        if row[0] == "pwm_pulse":
            return pwm.duty_ns()
        direction = bench.levels[row[2]] - bench.levels[row[3]]
        return direction * (pwm.duty_u16() * 10_000 // 65_535)


def main():
    pins_name, folder, chip_id = sys.argv[1:4]
    held = [tuple([int(part) for part in word.split("=")]) for word in sys.argv[4:]]
    car = BenchCar(__import__(pins_name), folder, bytes.fromhex(chip_id), held)
    reader, writer = sys.stdin.buffer, sys.stdout.buffer
    while True:
        size = reader.read(2)
        if len(size) < 2:
            return
        writer.write(car.ms(reader.read(size[0] | size[1] << 8)))
        writer.flush()


if __name__ == "__main__":
    main()
