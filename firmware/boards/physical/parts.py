"""Makes the drivers that every port has, from rows of the pins module.

A sensor that does not answer at the start is taken for absent: the car comes up, reads zero there,
and says so (an event, and its self-test). Only a missing battery sensor keeps the car from moving,
because the battery reads as empty.
"""

import sys

from machine import ADC, I2C, PWM, UART, Pin

from firmware.boards.physical.signals import Signals
from firmware.compat import TYPE_CHECKING
from firmware.drivers.outputs.signs import Buzzer, StatusLed

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Protocol

    from firmware.boards.physical.channels import Channel
    from firmware.boards.physical.receiver import PulseReceiver
    from firmware.boards.physical.vesc_drive import VescDrive
    from firmware.boards.physical.wheels import Counter
    from firmware.core.contract import Pins
    from firmware.drivers.outputs.lights import Lights
    from firmware.drivers.parts.rc_pulse import RcPulse
    from firmware.drivers.pps import Pps
    from firmware.drivers.ticks import Freshness, TicksUs

    class Imu(Protocol):
        freshness: Freshness
        yaw_rate_mrad_s: int
        accel_x_mm_s2: int
        accel_y_mm_s2: int

        def step(self, now_us: int) -> None: ...

    class BatteryInput(Protocol):
        @property
        def mv(self) -> int: ...

        def step(self, now_us: int) -> None: ...


_BUS_WAITS_US = 2_000  # for a device that holds the clock; a step is ten times as long
# Bytes of the UART's own buffers: as many as the link holds each way (boards/link.py)
_RX_SIZE = 512
_TX_SIZE = 1024
_TAIL_LIGHT_HZ = 1_000


def output(pin: "int | str") -> Pin:
    return Pin(pin, Pin.OUT, value=0)


def input_low(pin: "int | str | None") -> "Pin | None":
    """Return an input that is low when nothing drives it, None for no pin.

    So a wire that came off reads as what stops the car.
    """
    return None if pin is None else Pin(pin, Pin.IN, Pin.PULL_DOWN)


def listen(pin: Pin, handler: "Callable[[Pin], None]", edges: int) -> None:
    """Attach an interrupt handler, a hard one but on ESP32, which has none of these."""
    if sys.platform == "esp32":
        pin.irq(handler, edges)
    else:
        pin.irq(handler, edges, hard=True)


def make_uart(pins: "Pins", role: str, **frame: int) -> UART:
    """Return the UART with this role; raise ValueError if the pins module has none.

    ``frame``: parity and the like, where it is not 8N1.
    """
    for name, number, tx, rx, baud in pins.UARTS:
        if name == role:
            ends: "dict[str, Any]" = {} if tx is None else {"tx": Pin(tx)}
            if rx is not None:
                ends["rx"] = Pin(rx)
            return UART(number, baud, rxbuf=_RX_SIZE, txbuf=_TX_SIZE, timeout=0, **ends, **frame)
    raise ValueError("UARTS has no %s; correct the board file" % role)


def make_i2c(pins: "Pins") -> "I2C | None":
    if pins.I2C is None:
        return None
    number, scl, sda, freq_hz = pins.I2C
    return I2C(number, scl=Pin(scl), sda=Pin(sda), freq=freq_hz, timeout=_BUS_WAITS_US)


def _driver(row: "tuple[Any, ...]") -> "Any":
    """Import the driver that a row of the pins module names; nothing here knows its name."""
    return __import__("firmware.drivers.parts." + row[0], None, None, ("make",))


def make_imu(pins: "Pins", i2c: "I2C | None") -> "Imu | None":
    if pins.IMU is None:
        return None
    try:
        return _driver(pins.IMU).make(pins.IMU, i2c, make_uart, pins)  # type: ignore[no-any-return]
    except (OSError, ValueError):
        return None


def make_vesc(pins: "Pins") -> "VescDrive | None":
    if pins.VESC is None:
        return None
    from firmware.boards.physical.vesc_drive import VescDrive

    return VescDrive(make_uart(pins, "vesc"), *pins.VESC)


def make_vesc_channel(vesc: "VescDrive", row: "tuple[Any, ...]") -> "Channel":
    from firmware.boards.physical.vesc_drive import VescChannel, VescServo

    return VescChannel(vesc, *row[1:]) if row[0] == "vesc" else VescServo(vesc.vesc)


def make_battery(pins: "Pins", i2c: "Any", vesc: "VescDrive | None") -> "BatteryInput | None":
    if pins.BATTERY is None:
        return None
    if pins.BATTERY[0] == "vesc":
        return vesc
    return _driver(pins.BATTERY).make(pins.BATTERY, i2c, _adc, input_low)  # type: ignore[no-any-return]


def _adc(number: "int | str") -> ADC:
    return ADC(Pin(number))


def make_receiver(pins: "Pins", ticks_us: "TicksUs") -> "PulseReceiver | None":
    if pins.RC is None:
        return None
    from firmware.boards.physical.receiver import SerialReceiver, WiredReceiver

    kind, places = pins.RC
    if kind == "pulses":
        return WiredReceiver(tuple([_rc_pulse(pin, ticks_us) for pin in places]))
    stream, uart = _driver(pins.RC).make(make_uart, pins)
    return SerialReceiver(stream, uart, places)


def _rc_pulse(number: "int | str | None", ticks_us: "TicksUs") -> "RcPulse | None":
    if number is None:
        return None
    from firmware.drivers.parts.rc_pulse import RcPulse

    pulse = RcPulse(ticks_us)
    pin = Pin(number, Pin.IN, Pin.PULL_DOWN)
    listen(pin, pulse.on_edge, Pin.IRQ_RISING | Pin.IRQ_FALLING)
    return pulse


def make_timed_wheel(
    ticks_us: "TicksUs",
    number: "int | str",
    gap_um: int,
    counts_per_gap: int,
    top_mm_s: int,
    most_mm_s2: int,
    floor_us: int,
) -> "Counter":
    """Return the counter of a wheel with a hall sensor, whose magnets are rising edges."""
    from firmware.drivers.wheels.timed_wheel import TimedWheel
    from firmware.drivers.wheels.wheel_sensor import WheelSensor

    sensor = WheelSensor(ticks_us, gap_um, top_mm_s, most_mm_s2, floor_us)
    pin = Pin(number, Pin.IN, Pin.PULL_UP)
    listen(pin, sensor.on_edge, Pin.IRQ_RISING)
    return TimedWheel(sensor, gap_um, counts_per_gap)


def make_pps(pins: "Pins", ticks_us: "TicksUs") -> "Pps | None":
    """Return the driver of a time receiver's pulse per second, a rising edge; None without one."""
    if pins.PPS is None:
        return None
    from firmware.drivers.pps import Pps

    pps = Pps(ticks_us)
    listen(Pin(pins.PPS, Pin.IN, Pin.PULL_DOWN), pps.on_edge, Pin.IRQ_RISING)
    return pps


def make_signals(pins: "Pins") -> Signals:
    led = StatusLed(output(pins.LED)) if pins.LED is not None else None
    buzzer = Buzzer(PWM(Pin(pins.BUZZER[0]), freq=pins.BUZZER[1])) if pins.BUZZER else None
    return Signals(_make_lights(pins.LIGHTS) if pins.LIGHTS else None, led, buzzer)


def _make_lights(numbers: "tuple[int | str, ...]") -> "Lights":
    from firmware.drivers.outputs.lights import Lights

    tail = PWM(Pin(numbers[0]), freq=_TAIL_LIGHT_HZ)
    return Lights(tail, *[output(number) for number in numbers[1:]])
