"""Sensors at the other end of the I2C bus, register by register, from their datasheets."""

import random
import struct

from bench import bench


class Registers:
    """A part with one-byte registers. ``fails`` makes that many transfers fail; until ``ready_us``
    it is busy with itself, and what is written is lost."""

    def __init__(self):
        self.registers = bytearray(128)
        self.fails = 0
        self.ready_us = 0

    def read(self, register, size):
        self._transfer()
        self.measure()
        return bytes(self.registers[register : register + size])

    def write(self, register, data):
        self._transfer()
        if bench.now_us < self.ready_us:
            return
        self.registers[register : register + len(data)] = data
        self.written(register, data[0])

    def _transfer(self):
        if self.fails:
            self.fails -= 1
            raise OSError(5)

    def measure(self):
        """Put the measured values into the registers."""

    def written(self, register, value):
        """React to a register's new value."""


class Moving(Registers):
    """An IMU that is moved: ``accel_m_s2`` and ``rate_rad_s``, x y z, with a little noise."""

    def __init__(self, seed=0):
        super().__init__()
        self.accel_m_s2 = [0.0, 0.0, 9.81]
        self.rate_rad_s = [0.0, 0.0, 0.0]
        self.is_dead = False
        self._chance = random.Random(seed)

    def noisy(self, value, scale):
        return max(-32_768, min(32_767, round(value * scale) + self._chance.choice((-1, 0, 1))))


class MpuPeer(Moving):
    """MPU-6050: asleep after power-up and reset; ranges from its registers; high byte first."""

    def __init__(self, identity=0x68, seed=0):
        super().__init__(seed)
        self.identity = identity
        self.has_been_reset = False
        self._reset()

    def _reset(self):
        self.registers[:] = bytes(128)
        self.registers[0x6B] = 0x40
        self.registers[0x75] = self.identity

    def written(self, register, value):
        if register == 0x6B and value & 0x80:
            self._reset()
            self.has_been_reset = True
            self.ready_us = bench.now_us + 100_000

    def measure(self):
        if self.registers[0x6B] & 0x40 or self.is_dead:
            return
        per_g = 16_384 >> (self.registers[0x1C] >> 3 & 3)
        per_degree = (131, 65.5, 32.8, 16.4)[self.registers[0x1B] >> 3 & 3]
        accel = [self.noisy(a / 9.80665, per_g) for a in self.accel_m_s2]
        rate = [self.noisy(r * 57.29578, per_degree) for r in self.rate_rad_s]
        struct.pack_into(">7h", self.registers, 0x3B, *accel, 100, *rate)


class BnoPeer(Moving):
    """BNO055: registers of page 0, units from 0x3B, data only in an operating mode."""

    def __init__(self, seed=0):
        super().__init__(seed)
        self.registers[0x00] = 0xA0
        self.registers[0x3B] = 0x80

    def written(self, register, value):
        if register == 0x3D:  # 19 ms into the configuration, 7 ms out of it
            self.ready_us = bench.now_us + (7000 if value else 19_000)

    def measure(self):
        if self.registers[0x3D] == 0 or self.is_dead:
            return
        units = self.registers[0x3B]
        per_m_s2 = 100 if not units & 1 else 1000 / 9.80665
        per_rad_s = 900 if units & 2 else 16 * 57.29578
        accel = [self.noisy(a, per_m_s2) for a in self.accel_m_s2]
        rate = [self.noisy(r, per_rad_s) for r in self.rate_rad_s]
        struct.pack_into("<9h", self.registers, 0x08, *accel, 5, 6, 7, *rate)


class InaPeer:
    """INA219 or INA226: registers of two bytes, high byte first."""

    def __init__(self, kind, shunt_mohm):
        self.kind = kind
        self.volts, self.amps = 0.0, 0.0
        self.fails = 0
        self._shunt_mohm = shunt_mohm
        self._config = 0x399F if kind == 219 else 0x4127
        # the bits that there are; INA226's upper ones cannot be written
        self._writable = 0xBFFF if kind == 219 else 0x0FFF
        self._fixed = 0 if kind == 219 else 0x4000

    def read(self, register, size):
        if self.fails:
            self.fails -= 1
            raise OSError(5)
        return (self._value(register) & 0xFFFF).to_bytes(2, "big")

    def write(self, register, data):
        assert register == 0
        self._config = int.from_bytes(data, "big") & self._writable | self._fixed

    def _value(self, register):
        shunt_uv = self.amps * self._shunt_mohm * 1000
        if register == 0:
            return self._config
        if self.kind == 219:
            return round(shunt_uv / 10) if register == 1 else round(self.volts / 0.004) << 3 | 2
        return round(shunt_uv / 2.5) if register == 1 else round(self.volts / 0.00125)


def rvc_frame(index, yaw_deg, accel_mg, pitch_deg=0.0, roll_deg=0.0):
    """BNO08x, RVC mode."""
    angles = [round(angle * 100) for angle in (yaw_deg, pitch_deg, roll_deg)]
    body = struct.pack("<B6h3B", index & 0xFF, *angles, *accel_mg, 7, 8, 9)
    return b"\xaa\xaa" + body + bytes([sum(body) & 0xFF])
