"""Bridges, pulses by PWM, lights and signs, on the virtual machine."""

import bench as bench_module
import machine
import pytest

from firmware.drivers.outputs import lights, signs
from firmware.drivers.outputs.h_bridge import HBridge
from firmware.drivers.outputs.lights import Lights
from firmware.drivers.outputs.pwm_pulses import PwmPulses
from firmware.drivers.outputs.signs import Buzzer, StatusLed
from firmware.drivers.outputs.toggled_life import ToggledLife
from firmware.drivers.wheels.polled_counter import PolledCounter

bench = bench_module.bench
IN1, IN2 = 2, 3
SECOND_US = 1_000_000


@pytest.fixture(autouse=True)
def _bare_bench():
    bench.reset()


def output(gpio):
    return machine.Pin(gpio, machine.Pin.OUT, value=0)


def bridge():
    pwm = machine.PWM(machine.Pin(0), freq=20_000)
    return pwm, HBridge(pwm, output(IN1), output(IN2))


def directions():
    return bench.levels[IN1], bench.levels[IN2]


def test_a_bridge_begins_let_go_whatever_its_pins_were():
    for gpio in (IN1, IN2):
        bench.levels[gpio] = 1
    pwm = machine.PWM(machine.Pin(0), freq=20_000, duty_u16=7)
    motor = HBridge(pwm, *[machine.Pin(gpio, machine.Pin.OUT) for gpio in (IN1, IN2)])
    assert directions() == (0, 0)
    assert motor.duty == 0


@pytest.mark.parametrize(
    ("duty", "pins", "measured"),
    [
        (5000, (1, 0), 5000),
        (-2500, (0, 1), 2500),
        (10_001, (1, 0), 10_000),
        (-99_999, (0, 1), 10_000),
        (0, (1, 1), 0),
        (1, (1, 0), 1),
        (-1, (0, 1), 1),
        (9000, (1, 0), 9000),
    ],
)
def test_a_bridge_drives_both_ways_and_brakes_at_zero(duty, pins, measured):
    _, motor = bridge()
    motor.drive(duty)
    assert directions() == pins
    assert abs(motor.measured_duty() - measured) <= 2


def test_to_coast_is_not_to_brake():
    pwm, motor = bridge()
    motor.drive(8000)
    motor.coast()
    assert directions() == (0, 0)
    assert pwm.duty_u16() == 65_535  # low, the bridge would brake in some of its kin
    assert motor.duty == 0


def test_the_power_is_off_while_the_direction_turns():
    pwm, motor = bridge()
    motor.drive(9000)
    seen = []
    for pin in (motor._in1, motor._in2):
        set_value = pin.value
        pin.value = lambda x, set_value=set_value: (seen.append(pwm.duty_u16()), set_value(x))
    motor.drive(-9000)
    assert seen == [0, 0]
    motor.drive(-8000)
    assert seen[2:] != [0, 0]


def pulses():
    pwm = machine.PWM(machine.Pin(0), freq=50)
    return pwm, PwmPulses(pwm, 1_500_000)


def test_pulses_by_pwm_begin_neutral_and_follow():
    pwm, channel = pulses()
    assert abs(pwm.duty_ns() - 1_500_000) <= 400
    for asked, given in ((1_700_000, 1_700_000), (0, 500_000), (9_999_999, 2_500_000)):
        channel.put(asked)
        assert abs(channel.measured_ns() - given) <= 400
        assert channel.pulse_ns == given


def test_pulses_by_pwm_end_in_neutral_and_once():
    pwm, channel = pulses()
    channel.put(1_800_000)
    channel.end()
    assert channel.pulse_ns == 1_500_000
    assert abs(pwm.duty_ns() - 1_500_000) <= 400
    pwm.duty_ns(1_000_000)  # by someone else
    channel.end()
    assert abs(pwm.duty_ns() - 1_000_000) <= 400


@pytest.mark.parametrize("neutral_ns", [499_999, 2_500_001])
def test_a_neutral_that_is_none_is_refused(neutral_ns):
    with pytest.raises(ValueError, match="calibration"):
        PwmPulses(machine.PWM(machine.Pin(0), freq=50), neutral_ns)


@pytest.mark.parametrize("neutral_ns", [500_000, 2_500_000])
def test_a_neutral_at_the_end_of_the_range_is_one(neutral_ns):
    channel = PwmPulses(machine.PWM(machine.Pin(0), freq=50), neutral_ns)
    assert channel.pulse_ns == neutral_ns


def test_a_life_signal_by_a_timer_toggles_while_renewed_and_ends_low():
    bench.levels[9] = 1
    life = ToggledLife(output(9))
    levels = [bench.levels[9]]
    for _ in range(3):
        life.renew()
        levels.append(bench.levels[9])
    life.cut()
    life.cut()
    levels.append(bench.levels[9])
    life.renew()  # begins anew
    assert [*levels, bench.levels[9]] == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize("readings", [[5, 65_533, 10], [-5, -13, 0], [70_000, 69_990, 70_001]])
def test_a_polled_counter_goes_on_across_its_wrap_and_below_zero(readings):
    values = iter(readings)
    counter = PolledCounter(lambda: next(values))
    for _ in readings:
        counter.read()
    assert counter.count == (readings[-1] - readings[0]) % (1 << 30)


# --- lights and signs ------------------------------------------------------------------------

TAIL, LOW, HIGH, REVERSE, LEFT, RIGHT = 0, 2, 3, 4, 5, 6


def car_lights():
    tail = machine.PWM(machine.Pin(TAIL), freq=1000)
    return tail, Lights(tail, *map(output, (LOW, HIGH, REVERSE, LEFT, RIGHT)))


def lit():
    names = {LOW: "low", HIGH: "high", REVERSE: "reverse", LEFT: "left", RIGHT: "right"}
    return {name for gpio, name in names.items() if bench.levels[gpio]}


@pytest.mark.parametrize(
    ("braking", "reversing", "head", "indicators", "expected", "tail_255"),
    [
        (False, False, lights.HEAD_OFF, lights.NONE, set(), 0),
        (False, False, lights.HEAD_LOW, lights.NONE, {"low"}, 15),
        (False, False, lights.HEAD_HIGH, lights.NONE, {"low", "high"}, 15),
        (True, False, lights.HEAD_OFF, lights.LEFT, {"left"}, 255),
        (True, True, lights.HEAD_LOW, lights.RIGHT, {"low", "reverse", "right"}, 255),
        (False, True, lights.HEAD_OFF, lights.BOTH, {"reverse", "left", "right"}, 0),
    ],
)
def test_lights_show_what_the_car_does(braking, reversing, head, indicators, expected, tail_255):
    tail, car = car_lights()
    assert lit() == set()
    car.step(1000, braking, reversing, head, indicators)
    assert lit() == expected
    assert round(tail.duty_u16() * 255 / 65_535) == tail_255


def test_indicators_blink_half_a_second_on_and_half_a_second_off_from_lit():
    _, car = car_lights()
    seen = []
    for now_us in range(123, 3 * SECOND_US, 10_000):
        car.step(now_us, False, False, lights.HEAD_OFF, lights.LEFT)
        seen.append(bench.levels[LEFT])
    changes = [i for i in range(1, len(seen)) if seen[i] != seen[i - 1]]
    assert seen[0] == 1
    assert changes == [50, 100, 150, 200, 250]
    car.step(now_us + 10_000, False, False, lights.HEAD_OFF, lights.NONE)
    assert lit() == set()


def test_the_led_shows_its_pattern_in_eighths_from_the_beginning():
    led = StatusLed(output(9))
    seen = []
    for eighth in range(16):
        led.step(eighth * 125_000, 0b10101000)
        seen.append(bench.levels[9])
    assert seen == [1, 0, 1, 0, 1, 0, 0, 0] * 2
    led.step(16 * 125_000, signs.STEADY)
    assert bench.levels[9] == 1


def test_the_buzzer_is_silent_until_it_is_told_and_after():
    pwm = machine.PWM(machine.Pin(10), freq=2400, duty_u16=9)
    buzzer = Buzzer(pwm)
    heard = []
    for eighth in range(10):
        buzzer.step(eighth * 125_000, signs.SLOW if 2 <= eighth < 8 else signs.DARK)
        heard.append(pwm.duty_u16() > 0)
    assert heard == [False, False, True, True, True, True, False, False, False, False]
