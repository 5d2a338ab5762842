"""The virtual car's plant around a real board file on the virtual ``machine``: what
``sim_mock.world.World`` is around the process car, as far as the small host needs it.
"""

import os
import select
import struct
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

from firmware.boards.store import Store
from host_bridge.config import load_vehicle
from sim_mock.board.stored_image import board_id_of, stored_image
from sim_mock.world import plant_of
from tests.firmware.drivers.peers import VescPeer, Wire, crsf_channels, crsf_link, sbus_frame
from tests.firmware.worlds import micropython_command
from tests.support import patience

HERE = Path(__file__).parent
ROOT = HERE.parents[2]
PROGRAM = HERE / "bench_car.py"
PATHS = (ROOT, HERE.parent / "drivers" / "virtual")
HEAD, EVENT, REPLY = "<BiiiiiiBHH", "<HBB", struct.Struct("<8iBBHH")
HANGS, IS_DEAF, IS_NUMB = 1, 2, 4
LOOP = 255  # in an event: whatever pin the runstop loop is on
MASK = (1 << 30) - 1
MS_US = 1000
FORESEEN_US = 500  # beyond it
MOST_BYTES = 120  # a millisecond: what 921600 baud bring, and more
RC_FRAME_US = {"pulses": 20_000, "sbus": 14_000, "crsf": 4_000}
RC_MIDDLE = 992  # of 11 bits: 1500 us
FAILSAFE = 0x08  # SBUS, in the byte of flags
NEUTRAL_NS, BRAKE_MAX_MA = 1_500_000, 40_000


class BoardProcess:
    """``bench_car.py`` under some Python; ``ms`` is one packet and its reply."""

    def __init__(self, command, program, folder, chip_id, held):
        paths = os.pathsep.join([str(path) for path in (folder, *PATHS)])
        environment = {**os.environ, "MICROPYPATH": paths + os.pathsep + ".frozen"}
        self._process = subprocess.Popen(
            [*command, str(program), "pins_car", str(folder), chip_id.hex(), *held],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**environment, "PYTHONPATH": paths},
            bufsize=0,
        )

    def ms(self, packet):
        self._process.stdin.write(struct.pack("<H", len(packet)) + packet)
        head = self._read(REPLY.size)
        return head + self._read(sum(REPLY.unpack(head)[-2:]))

    def _read(self, size):
        data = b""
        while len(data) < size:
            ready = select.select([self._process.stdout], [], [], 60)[0]
            more = os.read(self._process.stdout.fileno(), size - len(data)) if ready else b""
            if not more:
                self._process.kill()
                raise AssertionError(f"the board ended: {self._process.stderr.read().decode()}")
            data += more
        return data

    def close(self):
        self._process.stdin.close()
        patience.wait(self._process, 60)  # it ends with its input
        self._process.stdout.close()
        self._process.stderr.close()


class Magnets:
    """The wheels that the pins module has hall sensors for, each with its magnets elsewhere."""

    def __init__(self, pins):
        rows = [row for row in pins.ENCODERS if row[1] == "hall"]
        self._wheels = [[row[2], row[3], row[3] * (i + 1) // 5] for i, row in enumerate(rows)]

    def rolled(self, now_us, speed_mps):
        """What their pins do within this millisecond."""
        events, travel_um = [], abs(speed_mps) * 1000
        for wheel in self._wheels:
            gpio, gap_um, left_um = wheel
            if travel_um >= left_um:
                at_us = now_us + int(left_um / travel_um * 1000)
                events += [(at_us, gpio, 1), (at_us + 1, gpio, 0)]
                left_um += gap_um
            wheel[2] = left_um - travel_um
        return events


class VescAtTheFarEnd:
    """A VESC that speaks the real bytes: the plant's own, told by them and by no pulse. When it
    times out or is killed is this one's business, as it was set up."""

    ERPM_PER_MPS = 4614  # the vehicle file's source
    TIMED_OUT, KILLED = 1, 2  # bits of its status

    def __init__(self, plant):
        self._plant = plant
        self._peer = VescPeer()
        self._wire = Wire()
        self._motor = plant.speed_controller
        self._servo_ns = NEUTRAL_NS
        self._told = 0.0, 0.0  # a duty, a braking current
        self._told_us = 0
        self.commands = []
        self.is_deaf = False
        self.timeout_us, self.brake_a = 100_000, 20.0  # as it was configured
        self.is_wired = True  # its kill switch, to the drive enable

    def hears(self, data, now_us, enable):
        """The pulses of its servo, and of an ESC, which it is not."""
        self._wire.outgoing += b"" if self.is_deaf else data
        self._peer.exchange(self._wire)
        for name, value in self._peer.commands:
            self._obey(name, value, now_us)
        self._peer.commands.clear()
        is_late = now_us - self._told_us > self.timeout_us
        is_killed = self.is_wired and not enable
        self._peer.status = is_late * self.TIMED_OUT | is_killed * self.KILLED
        if is_late or is_killed:
            self._brakes(self.brake_a)
        self._motor.tell(*self._told)
        return self._servo_ns, 0

    def _brakes(self, brake_a):
        """A current that never turns the wheel backward."""
        brake_a = brake_a if self._plant.wheel_speed_mps > 0.05 else 0
        self._told = 0.0, brake_a
        self._peer.values["duty"] = 0
        self._peer.values["motor_a"] = -brake_a

    def _obey(self, name, value, now_us):
        if name == "servo":
            self._servo_ns = 1_000_000 + value * 1000
        if name in ("duty", "current", "brake"):
            self.commands.append((name, value))
            self._told_us = now_us
            duty = value / 100_000 if name == "duty" else 0.0
            self._told = duty, value / 1000 if name == "brake" else 0.0
            self._peer.values["motor_a"] = 0
            self._peer.values["duty"] = duty

    def says(self, now_us):
        plant, values = self._plant, self._peer.values
        values["erpm"] = plant.wheel_speed_mps * self.ERPM_PER_MPS
        values["tachometer"] = (plant.counts()[0] + (1 << 29) & MASK) - (1 << 29)
        values["input_v"] = plant.battery_mv / 1000
        said = bytes(self._wire.incoming)
        self._wire.incoming.clear()
        return said


def numbered(gpio):
    """A pin as a byte: STM32's are called PA0 to PK15."""
    return gpio if isinstance(gpio, int) else (ord(gpio[1]) - ord("A")) * 16 + int(gpio[2:])


class BenchWorld:
    """``pins`` is the text of a pins module; ``folder`` an empty one; ``held`` as ``"7=1"``;
    ``board`` is what runs the board's program."""

    def __init__(
        self, vehicle, runtime, folder, pins, program=PROGRAM, held=(), board=BoardProcess
    ):
        facts = load_vehicle(vehicle)
        (folder / "pins_car.py").write_text(pins)
        self.pins = SimpleNamespace()
        exec(pins, vars(self.pins))
        self.plant = plant_of(facts, 1)
        self.vesc = VescAtTheFarEnd(self.plant) if self.pins.VESC else None
        self.magnets = Magnets(self.pins)
        self.now_us = 0
        self.values, self.enable, self.resets = [0] * 8, False, 0
        self.flags = 0
        self.edges = []  # (time, enable, values) at each change
        self.hand = None  # the four pulses of a transmitter, in us
        self.broken_wire = None  # a channel of it
        self.is_out_of_range = False  # its receiver says so, and goes on with what it heard last
        chip_id = board_id_of(vehicle)
        store = Store((f"{folder}/config_a.bin", f"{folder}/config_b.bin"))
        image = stored_image(facts, chip_id, vehicle)
        assert store.save([bytearray(image)])
        command = [sys.executable] if runtime == "cpython" else micropython_command(runtime)
        self.board = board(command, program, folder, chip_id, held)
        self._incoming = bytearray()
        self._events = []  # (time in us, gpio, level)
        self._rc_us = 0

    def feed(self, data):
        self._incoming += data

    def turn_loop(self, is_closed, after_us=0):
        """The runstop loop opens or closes, to the microsecond."""
        self._events.append((self.now_us + after_us, LOOP, int(is_closed)))

    def pulse(self, gpio, at_us):
        """A pin goes high for a millisecond."""
        self._events += [(at_us, gpio, 1), (at_us + MS_US, gpio, 0)]

    def advance(self, until_us):
        sent = b""
        while self.now_us < until_us:
            sent += self._ms()
        return sent

    def _ms(self):
        plant = self.plant
        self._events += self.magnets.rolled(self.now_us, plant.truth.vx_mps)
        from_peer = self.vesc.says(self.now_us) if self.vesc else self._heard_of_rc()
        due = sorted(e for e in self._events if e[0] < self.now_us + MS_US + FORESEEN_US)
        self._events = [e for e in self._events if e[0] >= self.now_us + MS_US]
        size = min(len(self._incoming), MOST_BYTES)
        counts = [(count + (1 << 29) & MASK) - (1 << 29) for count in plant.counts()]
        felt = (*counts, plant.yaw_rate_mrad_s, plant.accel_x_mm_s2, plant.accel_y_mm_s2)
        felt += (plant.battery_mv,)
        packet = struct.pack(HEAD, self.flags, *felt, len(due), size, len(from_peer))
        for at_us, gpio, level in due:
            packet += struct.pack(EVENT, max(at_us - self.now_us, 0), numbered(gpio), level)
        reply = self.board.ms(packet + self._incoming[:size] + from_peer)
        del self._incoming[:size]
        *values, enable, self.resets, sent, _ = REPLY.unpack_from(reply)
        if self.vesc:
            values[:2] = self.vesc.hears(reply[REPLY.size + sent :], self.now_us, enable)
        self.now_us += MS_US
        if values != self.values or bool(enable) != self.enable:
            self.edges.append((self.now_us, bool(enable), values))
        self.values, self.enable = values, bool(enable)
        plant.step(MS_US * 1e-6, self.values, self.enable or self.vesc is not None)
        return reply[REPLY.size : REPLY.size + sent]

    def _heard_of_rc(self):
        """What the receiver says now: a frame, by its wires or as the bytes of its line."""
        if self.hand is None or self.now_us < self._rc_us:
            return b""
        kind, places = self.pins.RC
        self._rc_us = self.now_us + RC_FRAME_US[kind]
        if kind == "pulses":
            self._wave(places)
            return b""
        channels = [RC_MIDDLE] * 16
        for place, pulse_us in zip(places, self.hand, strict=True):
            channels[place] = RC_MIDDLE + (pulse_us - 1500) * 8 // 5
        if kind == "sbus":
            return sbus_frame(channels, FAILSAFE if self.is_out_of_range else 0)
        return crsf_link(0 if self.is_out_of_range else 99) + crsf_channels(channels)

    def _wave(self, places):
        """The receiver's four wires, one frame after the other."""
        for channel, (gpio, pulse_us) in enumerate(zip(places, self.hand, strict=True)):
            if channel == self.broken_wire:
                continue
            self._events += [(self.now_us, gpio, 1), (self.now_us + pulse_us, gpio, 0)]

    def close(self):
        self.board.close()
