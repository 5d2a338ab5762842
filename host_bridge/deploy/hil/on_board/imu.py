"""An IMU at rest on GP0 (SDA), GP1 (SCL): time of a reading, offset and noise."""

import time

import machine

from firmware.drivers.parts import bno055, mpu
from firmware.drivers.parts.mounting import Mounting

SDA, SCL = 0, 1
READINGS = 500  # five seconds of readings
PERIOD_US = 10_000  # the usual control period


def found(i2c):
    """Return the sensor that answers at its usual address."""
    for address, kind in (
        (mpu.ADDRESS, mpu.Mpu),
        (mpu.ADDRESS + 1, mpu.Mpu),
        (bno055.ADDRESS, bno055.Bno055),
        (bno055.ADDRESS + 1, bno055.Bno055),
    ):
        if address in i2c.scan():
            print("at", hex(address), kind.__name__)
            # mounted flat, x forward; silent after 0.1 s, as on a car
            return kind(i2c, address, Mounting(1, 2, 3), 100_000, time.sleep_ms)
    raise OSError("nobody answers at 0x28, 0x29, 0x68, 0x69: check wiring and power")


def collected(imu):
    rows, longest_us = [], 0
    for _ in range(READINGS):
        started_us = time.ticks_us()
        imu.step(started_us)
        longest_us = max(longest_us, time.ticks_diff(time.ticks_us(), started_us))
        rows.append((imu.yaw_rate_mrad_s, imu.accel_x_mm_s2, imu.accel_y_mm_s2))
        time.sleep_us(PERIOD_US - time.ticks_diff(time.ticks_us(), started_us))
    print("longest reading", longest_us, "us; errors", imu.errors, "frozen", imu.is_frozen)
    return rows


def report(name, values):
    mean = sum(values) / len(values)
    spread = (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5
    print(name, "mean", mean, "standard deviation", spread)


bus = machine.I2C(0, sda=machine.Pin(SDA), scl=machine.Pin(SCL), freq=400_000)
readings = collected(found(bus))
for n, axis in enumerate(("yaw rate, mrad/s", "forward, mm/s2", "left, mm/s2")):
    report(axis, [row[n] for row in readings])
