"""A real board, in contrast to a virtual one: the contract fulfilled by drivers, on every port.

A port's class makes what only it has (``rp2.py`` and its like): its kinds of channels and counters,
the life signal, the guard's timer. The wiring comes with the pins module.
"""

import os

import machine
from machine import Pin

from firmware.boards.between_steps import BetweenSteps
from firmware.boards.physical.channels import KEPT, Bridge, PulseByPwm, Standby, UnusedChannel
from firmware.boards.physical.guard_timer import GuardTimer
from firmware.boards.physical.parts import (
    input_low,
    make_battery,
    make_i2c,
    make_imu,
    make_pps,
    make_receiver,
    make_signals,
    make_timed_wheel,
    make_vesc,
    make_vesc_channel,
    output,
)
from firmware.boards.physical.wheels import side_of
from firmware.boards.store import Store
from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.stops.guard import limit_us
from firmware.protocol.codes import PAIRING_NO_KEY, RESET_POWER_ON, RESET_WATCHDOG

if TYPE_CHECKING:
    from typing import Any

    from firmware.boards.link import Link
    from firmware.boards.physical.channels import Channel
    from firmware.boards.physical.guard_timer import EnableSignal
    from firmware.boards.physical.wheels import Counter
    from firmware.core.contract import Pins, Starts
    from firmware.drivers.pps import Pps
    from firmware.drivers.ticks import TicksUs

# Outputs and bytes of an id: as many as the table of parameters has of each (settings/params.py)
CHANNELS = 8
_ID_SIZE = 8
_MASK = (1 << 30) - 1
_HEAT_EVERY = 16  # steps: a chip warms slowly
# With a shorter beat the IMU, whose burst holds an RP2040 up for 0.7 ms, is read on each second
# step: the first, the third. Those steps do not report what moves (core/link/telemetry.py)
_FEELS_US = 15_000
_RC_STEERING, _RC_THROTTLE, _RC_LIVE_MAN, _RC_MODE = 0, 1, 2, 3


class PhysicalBoard:
    """A real board; once it is made all outputs are neutral and the guard watches.

    ``link`` is the link to the host (link.py), ``starts`` the record of starts, ``store`` where the
    configuration is kept.
    """

    watchdog_ms = 400  # a reset within half a second

    def __init__(  # noqa: PLR0915 - the list of its parts
        self, pins: "Pins", starts: "Starts", link: "Link", store: Store, ticks_us: "TicksUs"
    ) -> None:
        self.has_held_output = 0
        for number, level in pins.SAFE_LEVELS:
            if Pin(number, Pin.OUT, value=level).value() != level:
                self.has_held_output = 1
        self.board_id = _folded(machine.unique_id())
        self.key = b""
        self.pairing = PAIRING_NO_KEY
        self.needs_box = 0
        files = os.listdir("/")
        if "key_a.bin" in files or "key_b.bin" in files:  # else keys.py stays out of the heap
            from firmware.boards.keys import read_key

            read_key(self)
        self.link = link
        self.receive_into = link.receive_into  # the link's own: a call fewer for each message
        self.transmit = link.transmit
        self.is_virtual = 0
        self.own_beat_us = pins.BEAT_US
        self.step_us = self.ran_us = 0
        self.watchdog: "Any" = None  # ``start`` starts it
        self.read_back = [0] * CHANNELS
        self.reset_cause = RESET_POWER_ON
        if machine.reset_cause() == machine.WDT_RESET:
            self.reset_cause = RESET_WATCHDOG
        self.failed_starts = starts.failed
        self.between_steps = BetweenSteps(link, starts)
        self._store = store
        self._ticks_us = ticks_us
        self.loop_pin = Pin(pins.RUNSTOP, Pin.IN, Pin.PULL_DOWN)
        self._contact = input_low(pins.CONTACT)
        self._charger = input_low(pins.CHARGER)
        self.vesc = make_vesc(pins)
        self._channels = tuple([self._channel(row) for row in pins.CHANNELS])
        self._fitted = len(self._channels)
        standby = tuple([output(number) for number in pins.STANDBY])
        self._standby = Standby(standby) if standby else None
        self._fallbacks = [0] * CHANNELS
        self._imu_takes_turns = self._imu_waits = False
        self._drive_at = -1  # the channel whose effort the brake lights show
        self._guard_timer = GuardTimer(self.loop_pin, self._life(pins.ENABLE), ticks_us)
        self._begin_guard()
        self._left, self._right = self._make_sides(pins.ENCODERS)
        i2c = make_i2c(pins)
        self._imu = make_imu(pins, i2c)
        self._battery = make_battery(pins, i2c, self.vesc)
        self._receiver = make_receiver(pins, ticks_us)
        self._signals = make_signals(pins)
        self._pps = make_pps(pins, ticks_us)
        self._begin_readings()

    def _begin_readings(self) -> None:
        self.count_left = self.count_right = self.captured_us = 0
        self.runstop_closed = self.enable_contact = self.charger = 0
        self.battery_mv = self.temperature_c = self._own_c = self._steps_to_heat = 0
        self.yaw_rate_mrad_s = self.accel_x_mm_s2 = self.accel_y_mm_s2 = 0
        self.imu_answers = self.second_us = self.seconds = 0
        self.has_receiver = int(self._receiver is not None)
        self.rc_steering_us = self.rc_throttle_us = self.rc_live_man_us = self.rc_mode_us = 0
        self.rc_frames = self.rc_failsafe = self.guard_tripped = 0

    # --- what a port makes

    def _own_channel(self, row: "tuple[Any, ...]") -> "Channel":
        raise ValueError("this port has no channel of the kind %s; correct the board file" % row[0])

    def _own_counter(self, row: "tuple[Any, ...]") -> "Counter":
        raise ValueError("this port has no counter of the kind %s; correct the board file" % row[1])

    def _life(self, row: "tuple[Any, ...]") -> "EnableSignal":
        raise NotImplementedError

    def _begin_guard(self) -> None:
        """Let the hard timer and the loop's interrupt call the guard from here on."""
        raise NotImplementedError

    def _chip_c(self) -> int:
        """Return the chip's temperature, 0 where it has no sensor."""
        return 0

    # --- what every port has

    def _channel(self, row: "tuple[Any, ...]") -> "Channel":
        kind = row[0]
        if kind == "none":
            return UnusedChannel()
        if kind == "pwm_pulse":
            return PulseByPwm(*row[1:])
        if kind == "h_bridge":
            return Bridge(*row[1:])
        if kind in ("vesc", "vesc_servo") and self.vesc:
            return make_vesc_channel(self.vesc, row)
        return self._own_channel(row)

    def _make_sides(self, rows: "tuple[tuple[Any, ...], ...]") -> "tuple[Counter, Counter]":
        """Return the left and right counter: the same one, read once, if both sides share all."""
        counters = [(row[0], self._counter(row)) for row in rows]
        left = side_of(tuple([counter for side, counter in counters if side != "right"]))
        if all(side == "both" for side, _ in counters):
            return left, left
        return left, side_of(tuple([counter for side, counter in counters if side != "left"]))

    def _counter(self, row: "tuple[Any, ...]") -> "Counter":
        if row[1] == "vesc" and self.vesc:
            return self.vesc
        if row[1] == "hall":
            return make_timed_wheel(self._ticks_us, *row[2:])
        return self._own_counter(row)

    # --- the contract

    def begin(self, fallbacks: "list[int]", beat_us: int) -> None:
        ended: "list[Any]" = [self._standby] if self._standby else []
        for i in range(len(self._channels) - 1, -1, -1):
            self._fallbacks[i] = fallbacks[i]
            self._channels[i].begin(fallbacks[i])
            if fallbacks[i] != KEPT:
                self._drive_at = i  # in the end the first of them
                ended.append(self._channels[i])
        self._imu_takes_turns = beat_us < _FEELS_US
        self._guard_timer.ended = tuple(ended)
        self._guard_timer.begin(limit_us(beat_us))

    def leave(self) -> None:
        """Cut everything until a reset: the board is stepped no more."""
        self._guard_timer.leave()

    def open_heap(self) -> None:
        self._feed()
        micropython.heap_unlock()

    def close_heap(self) -> None:
        micropython.heap_lock()
        self._feed()

    def mark_healthy(self) -> None:
        """Have it recorded between steps, while nothing may move: flash stops the interrupts."""
        self.between_steps.is_healthy = True

    def hears_stop(self) -> bool:
        self.link.listen()
        return self.link.hears_stop

    @micropython.native
    def read(self, now_us: int) -> None:
        self.captured_us = now_us
        self._look()
        if self.vesc:
            self.vesc.step(now_us)
        left, right = self._left, self._right
        left.read(now_us)
        self.count_left = self.count_right = left.count
        if right is not left:
            right.read(now_us)
            self.count_right = right.count
        channels, read_back = self._channels, self.read_back
        for i in range(self._fitted):
            read_back[i] = channels[i].read_back()
        if self._charger:
            self.charger = self._charger.value()
        self._feel(now_us)
        if self._receiver:
            self._listen(self._receiver)

    def _look(self) -> None:
        """Read the loop and the guard at one moment; what opens later shows on the next step."""
        guard = self._guard_timer.guard
        shown = guard.read()
        self.runstop_closed = ~shown & 1  # by the guard's filter: the level alone may be a spike
        self.guard_tripped = shown >> 1
        contact = self._contact
        if contact:
            self.enable_contact = contact.value()
        else:
            self.enable_contact = int(self._guard_timer.is_wanted and not guard.is_gating)

    def _feel(self, now_us: int) -> None:
        battery, imu = self._battery, self._imu
        if battery:
            battery.step(now_us)
            self.battery_mv = battery.mv
        if imu:
            if not self._imu_waits:
                self._feel_imu(imu, now_us)
            self._imu_waits = self._imu_takes_turns and not self._imu_waits
        if self._pps:
            self._tell_second(self._pps, now_us)
        if self._steps_to_heat == 0:
            self._steps_to_heat = _HEAT_EVERY
            self._own_c = self.temperature_c = self._chip_c()
        self._steps_to_heat -= 1
        if self.vesc:
            self.temperature_c = max(self._own_c, self.vesc.fet_c)

    def _feel_imu(self, imu: "Any", now_us: int) -> None:
        imu.step(now_us)
        if imu.freshness.is_fresh:
            self.imu_answers = 1
            self.yaw_rate_mrad_s = imu.yaw_rate_mrad_s
            self.accel_x_mm_s2 = imu.accel_x_mm_s2
            self.accel_y_mm_s2 = imu.accel_y_mm_s2
        else:
            self.imu_answers = 0
            self.yaw_rate_mrad_s = self.accel_x_mm_s2 = self.accel_y_mm_s2 = 0

    def _tell_second(self, pps: "Pps", now_us: int) -> None:
        pps.step(now_us)
        self.seconds = pps.count if pps.freshness.is_fresh else 0
        self.second_us = pps.second_us & _MASK

    def _listen(self, receiver: "Any") -> None:
        receiver.step()
        self.rc_failsafe = receiver.failsafe
        frames = receiver.frames
        if frames == self.rc_frames:  # pulses come with a frame
            return
        self.rc_frames = frames
        self.rc_steering_us = receiver.pulse_us(_RC_STEERING)
        self.rc_throttle_us = receiver.pulse_us(_RC_THROTTLE)
        self.rc_live_man_us = receiver.pulse_us(_RC_LIVE_MAN)
        self.rc_mode_us = receiver.pulse_us(_RC_MODE)

    @micropython.native
    def write(self, values: "list[int]", enable: bool, lights: int) -> None:
        if enable:
            is_gated = self._guard_timer.write(enable)
        else:
            state = machine.disable_irq()
            is_gated = self._guard_timer.write(enable)
            machine.enable_irq(state)
        if self.vesc:
            self.vesc.enable(enable and not is_gated)
        channels, fallbacks, kept = self._channels, self._fallbacks, KEPT
        effort = 0
        for i in range(self._fitted):
            fallback = fallbacks[i]
            value = fallback if is_gated and fallback != kept else values[i]
            if i == self._drive_at:
                effort = value - fallback
            channels[i].write(value)
        if self._standby:
            self._standby.write(int(enable and not is_gated))
        if not is_gated:
            self._guard_timer.end_written()
        self._signals.step(self.captured_us, self.count_left, effort, enable, lights)

    def entropy(self) -> int:
        return self.between_steps.draw()

    def load_into(self, image: bytearray) -> int:
        return self._store.load_into(image)

    def save(self, pieces: "list[bytearray]") -> bool:
        self._feed()
        is_saved = self._store.save(pieces)
        self._feed()
        return is_saved

    def _feed(self) -> None:
        """Feed the watchdog: a write to flash takes longer than a step may, and nothing moves."""
        if self.watchdog:
            self.watchdog.feed()


def _folded(chip_id: bytes) -> bytes:
    """Return eight bytes made of a chip's number, whatever its length; each of its bytes counts."""
    folded = bytearray(_ID_SIZE)
    for i in range(len(chip_id)):
        folded[i % _ID_SIZE] ^= chip_id[i]
    return bytes(folded)
