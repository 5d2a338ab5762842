"""The schema of board files: parts, their wires, and what each use of a pin requires."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from host_bridge.config.vehicle.schema import CHANNEL_KINDS
from sim_mock.files.keys import REQUIRED, Key, choice, flag, number

Row: TypeAlias = "int | str | tuple[Row, ...] | None"  # a value of the pin module

USUAL_VOLTS = 3.3  # the logic level of each of these boards
BRIDGE_HZ, DIM_HZ = 20_000, 1_000  # PWM of H-bridges and tail light, as in the car's program
FULL_OVER_LOW = 1.2  # LiPo cell: 4.2 V when full, 3.5 V where vehicle files say low


@dataclass(frozen=True)
class PinUse:
    """A wire's use of its pin.

    ``is_output``: the board drives it, and holds it low until told otherwise. ``acts``: it moves
    something or lets it move, so a resistor pulls it low. ``pwm_hz``: its PWM frequency, a number
    or the key of its part that holds it. ``program``: the PIO program that runs it on a chip with
    state machines. ``interrupts``: each edge triggers an interrupt.
    """

    is_output: bool = False
    acts: bool = False
    is_input: bool = False
    pwm_hz: int | str = 0
    program: str = ""
    interrupts: bool = False


USES = {
    "servo": PinUse(is_output=True, acts=True, pwm_hz="rate_hz"),  # a PWM holds its last pulse
    "esc": PinUse(is_output=True, acts=True, pwm_hz="rate_hz", program="pulses"),
    "duty": PinUse(is_output=True, acts=True, pwm_hz=BRIDGE_HZ),
    "gate": PinUse(is_output=True, acts=True),
    "life": PinUse(is_output=True, acts=True, program="life_signal"),
    "dim": PinUse(is_output=True, pwm_hz=DIM_HZ),
    "tone": PinUse(is_output=True, pwm_hz="tone_hz"),
    "lamp": PinUse(is_output=True),
    "loop": PinUse(is_input=True, acts=True, interrupts=True),  # high lets it move
    "contact": PinUse(is_input=True, acts=True),
    "edge": PinUse(is_input=True, interrupts=True),
    "level": PinUse(is_input=True),
    "a": PinUse(is_input=True, program="quadrature"),
    "b": PinUse(is_input=True),
    "adc": PinUse(),
    "sda": PinUse(),
    "scl": PinUse(),
    "tx": PinUse(),
    "rx": PinUse(is_input=True),
}

# Instructions of firmware/drivers/rp2_*.py; a test assembles them and compares.
PROGRAMS = {"pulses": 20, "life_signal": 10, "quadrature": 23}


@dataclass(frozen=True)
class PartKind:
    """A kind of part: its wires (name and use; ``optional`` ones may be left out) and other keys.

    ``channels``: the kinds of channel of a vehicle file that it can be. ``row``: the pin module's
    values of it, where they are the same on every port; ``driver`` precedes them, the file of
    firmware/drivers whose ``make`` takes the row (the kind's own name by default). ``baud``: its
    protocol's, where that is not a key. ``reach_v``: the highest voltage that it measures.
    """

    wires: tuple[tuple[str, str], ...] = ()
    optional: tuple[str, ...] = ()
    keys: tuple[Key, ...] = ()
    channels: tuple[str, ...] = ()
    row: Callable[[Mapping[str, Any]], tuple[Row, ...]] | None = None
    driver: str = ""
    baud: int = 0
    reach_v: float | None = None

    def all_keys(self) -> tuple[Key, ...]:
        """Return the keys of its wires and its own, and those that inputs and acting wires add."""
        pins = tuple(
            Key(name, "pin", default=None if name in self.optional else REQUIRED)
            for name, _ in self.wires
        )
        uses = [USES[use] for _, use in self.wires]
        # beyond any signal of a car; what the chip takes of it is a rule of its own
        volts = (number("volts", 1.0, 24.0, USUAL_VOLTS),) if any(u.is_input for u in uses) else ()
        pull = (number("pull_down_ohm", 0, 1e6, 0.0),) if any(use.acts for use in uses) else ()
        return (*pins, *self.keys, *volts, *pull)


_RATE = Key("rate_hz", "integer", 50, 400, default=50)
BUS_WIRES = ("sda", "scl")  # shared by all parts on a bus
_BUS = tuple((name, name) for name in BUS_WIRES)
LINE_WIRES = ("tx", "rx")
_LINE = tuple((name, name) for name in LINE_WIRES)
_STICKS = tuple((name, "edge") for name in ("steering", "throttle", "live_man", "mode"))
_FOUR = ("front", "rear", "left", "right")
_ADDRESS = Key("address", "integer", 0x08, 0x77)
_MOUNTING = Key("mounting", "integers")  # the sensor's axis that is forward, left, up
_ORDER = Key("order", "integers")  # channels of steering, throttle, live-man, mode
_BAUD = Key("baud", "integer", 9_600, 3_000_000, default=0)  # 0: as the vehicle file's timing
_SHUNT = Key("shunt_mohm", "integer", 1, 1000)


def _on_i2c(v: Mapping[str, Any]) -> tuple[Row, ...]:
    return (v["address"], tuple(v["mounting"]))


def _shunted(chip: int) -> Callable[[Mapping[str, Any]], tuple[Row, ...]]:
    return lambda v: (v["address"], v["shunt_mohm"], chip)


def _ordered(v: Mapping[str, Any]) -> tuple[Row, ...]:
    return (tuple(v["order"]),)


def _mv(volts: float) -> int:
    return round(volts * 1000)


# One row per part, named SLOT.KIND where a slot has several kinds. Of the parts that a
# channel may be, the first is the default; the key ``kind`` names another.
PARTS = {
    "channel.none": PartKind(channels=("none",)),
    "channel.servo": PartKind(
        (("pulse", "servo"),), keys=(_RATE,), channels=("servo_steering", "brake_servo", "level")
    ),
    "channel.vesc_servo": PartKind(channels=("servo_steering",)),
    "channel.esc": PartKind((("pulse", "esc"),), keys=(_RATE,), channels=("esc",)),
    "channel.vesc": PartKind(channels=("esc",)),  # asked by the UART of the part vesc
    "channel.h_bridge": PartKind(
        (("pwm", "duty"), ("in1", "gate"), ("in2", "gate")), channels=("h_bridge",)
    ),
    "encoder.quadrature": PartKind((("a", "a"), ("b", "b"))),
    "encoder.hall": PartKind((("hall", "edge"),), keys=(Key("magnets", "integer", 1, 100),)),
    "encoder.vesc": PartKind(),
    "enable": PartKind((("life", "life"), ("contact", "contact")), optional=("contact",)),
    "runstop": PartKind((("loop", "loop"),), keys=(flag("cuts_power", default=False),)),
    "standby": PartKind(tuple((name, "gate") for name in _FOUR), optional=_FOUR),
    "imu.mpu": PartKind(_BUS, keys=(_ADDRESS, _MOUNTING), row=_on_i2c),
    "imu.bno055": PartKind(_BUS, keys=(_ADDRESS, _MOUNTING), row=_on_i2c),
    "imu.rvc": PartKind(
        (("rx", "rx"),),
        keys=(_MOUNTING,),
        row=lambda v: (tuple(v["mounting"]),),
        driver="bno08x_rvc",
        baud=115_200,
    ),
    "battery.adc": PartKind(
        (("adc", "adc"), ("usb", "level")),
        optional=("usb",),
        keys=(number("full_v", 1.0, 16.0), number("least_v", 0.0, 16.0)),  # the driver's integers
        row=lambda v: (v["adc"], _mv(v["full_v"]), _mv(v["least_v"]), v["usb"]),
        driver="battery_adc",
    ),
    # reach_v of both: the bus voltage range of their data sheets
    "battery.ina219": PartKind(
        _BUS, keys=(_ADDRESS, _SHUNT), row=_shunted(219), driver="battery_ina", reach_v=26.0
    ),
    "battery.ina226": PartKind(
        _BUS, keys=(_ADDRESS, _SHUNT), row=_shunted(226), driver="battery_ina", reach_v=36.0
    ),
    "battery.vesc": PartKind(row=lambda _v: ()),
    "rc.pulses": PartKind(
        _STICKS,
        optional=("mode",),
        row=lambda v: (tuple(v[name] for name, _ in _STICKS),),
    ),
    "rc.sbus": PartKind((("rx", "rx"),), keys=(_ORDER,), row=_ordered, baud=100_000),
    "rc.crsf": PartKind(
        _LINE,
        optional=("tx",),
        keys=(_ORDER,),
        row=_ordered,
        baud=420_000,
    ),
    "pps": PartKind((("pulse", "edge"),)),
    "lights": PartKind(
        (
            ("tail", "dim"),
            *((name, "lamp") for name in ("head_low", "head_high", "reverse", "left", "right")),
        )
    ),
    "lamps": PartKind(tuple((name, "lamp") for name in ("green", "red", "yellow"))),
    "buzzer": PartKind((("tone", "tone"),), keys=(Key("tone_hz", "integer", 100, 20_000),)),
    "led": PartKind((("pin", "lamp"),)),
    "charger": PartKind((("plugged", "level"),)),
    "link": PartKind(_LINE, keys=(_BAUD,)),
    "vesc": PartKind(
        _LINE,
        keys=(
            number("duty_max", 0.01, 1.0),
            number("brake_max_a", 0.1, 200.0),
            Key("baud", "integer", 9_600, 1_000_000, default=115_200),
        ),
    ),
}


def _kinds(slot: str) -> tuple[str, ...]:
    return tuple(k for s, _, k in (name.partition(".") for name in PARTS) if s == slot and k)


ENCODER_KINDS = _kinds("encoder")
# The parts that may be wired to each kind of channel of a vehicle file; the first is the default
CHANNEL_PARTS = {
    channel: tuple(
        kind for kind in _kinds("channel") if channel in PARTS["channel." + kind].channels
    )
    for channel in CHANNEL_KINDS
}
# The kinds that a slot of a wiring may have; among several, its key ``kind`` selects
SLOTS = {
    slot: _kinds(slot)
    for slot in dict.fromkeys(name.partition(".")[0] for name in PARTS)
    if slot not in ("channel", "encoder")
}
BOARD_PROGRAMS = ("car", "box")  # the box is a runstop button with a radio
SIDES = {  # which of the car's two counts each encoder feeds
    "shaft": "both",
    "left": "left",
    "right": "right",
    "front_left": "left",
    "front_right": "right",
    "rear_left": "left",
    "rear_right": "right",
}

BOARD_KEYS = (
    Key("title", "text"),
    Key("chip", "text"),
    Key("machine", "text"),
    Key("micropython", "text", default=""),
    Key("pins", "pins"),
    Key("adc", "pins"),
    Key("wired_as", "text", default=""),
    Key("clock_mhz", "integer", 1, 1000, default=0),  # 0: as MicroPython starts the chip
    number("step_s", 0.01, 0.02, default=0.0),  # 0: the vehicle file's beat
)
CHIP_KEYS = (
    choice("port", ("rp2", "stm32", "esp32")),
    Key("mpy_arch", "text"),
    Key("clock_mhz", "integer", 1, 1000),
    Key("clock_max_mhz", "integer", 1, 1000),
    Key("tolerant_5v", "pins"),
    number("pull_down_max_ohm", 100, 1e6),
    Key("glitching", "pins"),
    Key("hard_timers", "integer", 0, 100),
    Key("counters", "integer", 0, 100),
    flag("shares_interrupts"),
    Key("lacks", "texts"),
    Key("pio", "table", default=None),
    Key("pwm", "table"),
    Key("uart", "table"),
    Key("i2c", "table"),
)
PIO_KEYS = (
    Key("blocks", "integer", 1, 8),
    Key("machines", "integer", 1, 8),
    Key("instructions", "integer", 1, 256),
    Key("windows", "texts"),
)
UART_KEYS = (Key("tx", "pins"), Key("rx", "pins"))
I2C_KEYS = (Key("sda", "pins"), Key("scl", "pins"))
