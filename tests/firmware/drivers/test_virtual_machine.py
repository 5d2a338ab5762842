"""The virtual ``machine`` and ``rp2``: no parameter that the stubs lack, no undocumented use."""

import ast
import inspect
from pathlib import Path

import bench as bench_module
import machine
import pytest
import rp2

bench = bench_module.bench
TYPINGS = Path(__file__).resolve().parents[3] / ".venv" / "typings"
STUBS = {machine: TYPINGS / "machine.pyi", rp2: TYPINGS / "rp2" / "__init__.pyi"}
# Public here: what MicroPython has no such method for, and what its stubs forgot (the
# documentation of rp2.PIO has it)
OF_THE_BENCH = {"fire", "gpio_base"}


@pytest.fixture(autouse=True)
def _bare_bench():
    bench.reset()


def stub_methods(module):
    """(class, method): the overloads that the stubs have."""
    found = {}
    for node in ast.parse(STUBS[module].read_text()).body:
        if isinstance(node, ast.ClassDef):
            for method in node.body:
                if isinstance(method, ast.FunctionDef):
                    found.setdefault((node.name, method.name), []).append(method.args)
        elif isinstance(node, ast.FunctionDef):
            found.setdefault((None, node.name), []).append(node.args)
    return found


def own_methods(module):
    for name, thing in vars(module).items():
        if getattr(thing, "__module__", "") != module.__name__ or name.startswith("_"):
            continue
        if inspect.isfunction(thing):
            yield (None, name), thing
        elif inspect.isclass(thing):
            for method, function in vars(thing).items():
                if inspect.isfunction(function) and is_public(method):
                    yield (name, method), function


def is_public(method):
    return method in ("__init__", "__call__") or not method.startswith(("_", "*"))


# Classes of the assembler's own make, which the stubs describe by other means; and of a port
# whose stubs are not here
OWN = {"Program", "Encoder"}
CASES = [
    pytest.param(module, key, function, id=f"{module.__name__}.{key[0]}.{key[1]}")
    for module in STUBS
    for key, function in own_methods(module)
    if key[0] not in OWN and key[1] not in OF_THE_BENCH
]


@pytest.mark.skipif(not TYPINGS.exists(), reason="make setup installs the stubs")
@pytest.mark.parametrize(("module", "key", "function"), CASES)
def test_every_parameter_is_one_that_the_stubs_document(module, key, function):
    overloads = stub_methods(module).get(key)
    assert overloads, f"the stubs have no {key}"
    keywords = {a.arg for o in overloads for a in (*o.args, *o.kwonlyargs)}
    most_positional = max(len(o.posonlyargs) + len(o.args) for o in overloads)
    own = inspect.signature(function).parameters.values()
    positional = [p for p in own if p.kind == p.POSITIONAL_OR_KEYWORD]
    assert len(positional) <= most_positional
    assert {p.name for p in own if p.kind == p.KEYWORD_ONLY} <= keywords


def test_the_stub_check_finds_what_the_stubs_lack():
    class Pin:
        def value(self, x, *, softly=False): ...

    with pytest.raises(AssertionError):
        test_every_parameter_is_one_that_the_stubs_document(machine, ("Pin", "value"), Pin.value)
    with pytest.raises(AssertionError):
        test_every_parameter_is_one_that_the_stubs_document(machine, ("Pin", "set"), Pin.value)


def pin(gpio, *args, **kwargs):
    return machine.Pin(gpio, *args, **kwargs)


@pytest.mark.parametrize(
    "use",
    [
        lambda: pin(30),
        lambda: pin(-1),
        lambda: pin(0, 9),
        lambda: pin(0, machine.Pin.IN).value(1),
        lambda: pin(0).irq(print, 16),
        lambda: machine.PWM(pin(0), duty_u16=5),
        lambda: machine.PWM(pin(0), freq=7),
        lambda: machine.PWM(pin(0), freq=50, duty_u16=65_536),
        lambda: machine.PWM(pin(0), freq=50, duty_ns=20_000_001),
        lambda: (machine.PWM(pin(0), freq=50), machine.PWM(pin(1), freq=60)),
        lambda: (machine.PWM(pin(0), freq=50), machine.PWM(pin(16), freq=50)),
        lambda: machine.Timer(0),
        lambda: machine.Timer(period=1, freq=2, callback=print),
        lambda: machine.Timer(period=0, callback=print),
        lambda: machine.UART(2),
        lambda: machine.UART(0, tx=pin(4)),
        lambda: machine.UART(1, rx=pin(4)),
        lambda: machine.UART(0, bits=9),
        lambda: machine.ADC(pin(25)),
        lambda: machine.I2C(0, scl=pin(0), sda=pin(1)),
        lambda: machine.I2C(2),
        lambda: machine.WDT(timeout=8389),
        lambda: rp2.StateMachine(12),
        lambda: machine.freq(1_000_000),
        lambda: machine.freq(200_000_000),  # its core has 1.1 V
        lambda: (machine.PWM(pin(0), freq=50), machine.freq(100_000_000)),
        lambda: (machine.UART(0), machine.freq(100_000_000)),
        lambda: (machine.I2C(0), machine.freq(100_000_000)),
    ],
)
def test_what_the_port_does_not_have_is_refused(use):
    with pytest.raises(ValueError):  # noqa: PT011 - as the port does
        use()


@pytest.mark.parametrize("freq_hz", [8, 50, 400, 20_000, 100_000])
def test_a_duty_is_read_back_as_the_counter_has_it(freq_hz):
    pwm = machine.PWM(machine.Pin(4), freq=freq_hz)
    for duty in (0, 1, 1000, 32_768, 65_535):
        pwm.duty_u16(duty)
        assert abs(pwm.duty_u16() - duty) <= 65_535 * freq_hz // 125_000_000 + 1
    pwm.duty_ns(5000)
    assert abs(pwm.duty_ns() - 5000) <= 1_000_000_000 // freq_hz // 7000 + 8


def test_two_channels_of_a_slice_share_its_frequency():
    first, second = machine.PWM(machine.Pin(2), freq=50), machine.PWM(machine.Pin(3), freq=50)
    assert first.freq() == second.freq() == 50


def test_a_timer_fires_in_time_and_a_single_shot_once():
    fired = []
    machine.Timer(freq=1000, callback=lambda timer: fired.append(bench.now_us), hard=True)
    machine.Timer(
        mode=machine.Timer.ONE_SHOT, period=3, callback=lambda timer: fired.append(-bench.now_us)
    )
    bench.advance(4500)
    assert fired == [1000, 2000, 3000, -3000, 4000]


def test_a_watchdog_bites_when_it_is_not_fed():
    dog = machine.WDT(timeout=100)
    bench.advance(99_000)
    dog.feed()
    bench.advance(100_000)
    with pytest.raises(bench_module.WatchdogReset):
        bench.advance(1)


def test_a_watchdog_that_is_made_again_has_the_new_time_and_was_fed():
    machine.WDT(timeout=8000)
    bench.advance(7_000_000)
    machine.WDT(timeout=100)
    bench.advance(100_000)
    with pytest.raises(bench_module.WatchdogReset):
        bench.advance(1)


def test_an_interrupt_comes_on_its_edge_only():
    edges = []
    pin = machine.Pin(7, machine.Pin.IN, machine.Pin.PULL_UP)
    pin.irq(lambda pin: edges.append(pin.value()), machine.Pin.IRQ_FALLING, hard=True)
    for level in (1, 0, 0, 1, 0):
        bench.level(7, level)
    assert edges == [0, 0]


def test_a_uart_loses_what_its_buffer_has_no_room_for_and_waits_when_asked_for_more():
    uart = machine.UART(0, 115_200, rxbuf=8, txbuf=4)
    uart.incoming += bytes(range(12))
    buffer = bytearray(16)
    assert uart.any() == 8
    assert uart.readinto(buffer, 5) == 5
    assert bench.waited_us == 0
    assert uart.readinto(buffer) == 3
    assert uart.readinto(buffer) is None
    assert bench.waited_us == 2000
    assert (uart.write(b"123456"), uart.write(b"7")) == (4, None)


def test_an_adc_has_twelve_bits():
    bench.voltages[26] = 0x8123
    assert machine.ADC(machine.Pin(26)).read_u16() == machine.ADC(0).read_u16() == 0x8128


def test_nobody_on_the_bus_is_an_error_of_the_bus():
    with pytest.raises(OSError, match="5"):
        machine.I2C(0, scl=machine.Pin(1), sda=machine.Pin(0)).readfrom_mem(0x68, 0x75, 1)
