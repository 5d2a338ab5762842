"""MicroPython's ``machine`` on a bench without a chip: the RP2 port as it is documented.

What is documented works as it says; what is not (a pin that is not there, a duty beyond 16 bits,
two frequencies on one slice, which a chip would accept and get wrong) raises.
``test_virtual_machine.py`` holds the signatures against MicroPython's own stubs.
"""
# ruff: noqa: A002 - the signatures are those of the documentation

from bench import VREG, bench, outside

PWRON_RESET, WDT_RESET = 1, 3

_FAST_HZ = 133_000_000  # above it an RP2040's core wants 1.15 V
_VSEL_1_15_V = 12
_EIO = 5


def unique_id():
    return bench.chip_id


def reset_cause():
    return bench.reset_cause


def freq(hz=None):
    """Peripherals divide the clock that they found: it comes before them."""
    if hz is None:
        return bench.clock_hz
    if bench.port != "rp2" or bench.gpios != 30:
        raise ValueError("the bench knows an RP2040's clock only")
    if bench.pwms or bench.machines or bench.uarts or bench.has_i2c:
        raise ValueError("a peripheral has its divider already")
    if not 12_000_000 <= hz <= 200_000_000:
        raise ValueError("cannot change frequency")
    if hz > _FAST_HZ and mem32[VREG] >> 4 & 15 < _VSEL_1_15_V:
        raise ValueError("the core's voltage is too low for that")
    bench.clock_hz = hz
    return None


class _Registers:
    """Words of memory; none but those that the bench has."""

    def __getitem__(self, address):
        return bench.registers[address]

    def __setitem__(self, address, word):
        if address not in bench.registers:
            raise KeyError(address)
        bench.registers[address] = word


mem32 = _Registers()


def disable_irq():
    was_on = bench.are_interrupts_on
    bench.are_interrupts_on = False
    return int(was_on)


def enable_irq(state):
    bench.are_interrupts_on = state == 1


def _gpio_of(pin):
    if isinstance(pin, Pin):
        return pin.gpio
    if isinstance(pin, str) and bench.port == "stm32":
        return pin
    if not isinstance(pin, int) or not 0 <= pin < bench.gpios:
        raise ValueError("invalid pin")
    return pin


def _fitting(pin, gpios, what):
    gpio = _gpio_of(pin)
    if gpio not in gpios and bench.port == "rp2":
        raise ValueError("bad " + what + " pin")
    return gpio


class Pin:
    IN, OUT, OPEN_DRAIN, ALT = 0, 1, 2, 3
    PULL_UP, PULL_DOWN = 1, 2
    IRQ_FALLING, IRQ_RISING = 4, 8

    def __init__(self, id, mode=-1, pull=-1, *, value=None, alt=-1):
        self.gpio = _gpio_of(id)
        if mode not in (-1, self.IN, self.OUT, self.OPEN_DRAIN, self.ALT):
            raise ValueError("invalid pin mode")
        self._mode = mode
        if pull == self.PULL_UP:
            bench.levels.setdefault(self.gpio, 1)
        if value is not None:
            bench.put(self.gpio, int(bool(value)))

    def value(self, x=None):
        if x is None:
            return bench.levels.get(self.gpio, 0)
        if self._mode == self.IN:
            raise ValueError("an input was written to: it would take effect once it is an output")
        with outside:
            bench.put(self.gpio, int(bool(x)))
        return None

    __call__ = value

    def on(self):
        self.value(1)

    def off(self):
        self.value(0)

    high, low = on, off

    def toggle(self):
        self.value(1 - self.value())

    def irq(self, handler=None, trigger=IRQ_FALLING | IRQ_RISING, *, hard=False):
        if bench.port == "esp32" and hard:
            raise ValueError("no interrupt of this port is hard")
        if trigger & ~12:
            raise ValueError("level triggers are not used here")
        bench.interrupts[self.gpio] = (handler, trigger, self)


def _slice_of(gpio):
    if bench.port != "rp2":
        return gpio
    return gpio >> 1 & 7 if gpio < 32 else 8 + (gpio >> 1 & 3)


class PWM:
    """A slice has two channels and one frequency, 8 Hz and more; duties are what its counter can
    have."""

    def __init__(self, dest, *, freq=None, duty_u16=None, duty_ns=None, invert=False):
        self.gpio = _gpio_of(dest)
        self._slice = _slice_of(self.gpio)
        for gpio, other in bench.pwms.items():
            if bench.port != "rp2" or gpio == self.gpio:
                continue
            if other._slice == self._slice and gpio & 1 == self.gpio & 1:
                raise ValueError("this slice and channel have another pin already")
        self._freq = 0
        self._count = 0
        bench.pwms[self.gpio] = self
        self.init(freq=freq, duty_u16=duty_u16, duty_ns=duty_ns, invert=invert)

    def init(self, *, freq=None, duty_u16=None, duty_ns=None, invert=False):
        if freq is not None:
            self.freq(freq)
        if duty_u16 is not None:
            self.duty_u16(duty_u16)
        if duty_ns is not None:
            self.duty_ns(duty_ns)

    def deinit(self):
        del bench.pwms[self.gpio]

    def freq(self, value=None):
        if value is None:
            return self._freq
        if not 8 <= value <= bench.clock_hz // 2:
            raise ValueError("freq too small or too large")
        for other in bench.pwms.values():
            if other is not self and other._slice == self._slice and other._freq not in (0, value):
                raise ValueError("two frequencies on one slice")
        self._freq = value
        return None

    def _top(self):
        if not self._freq:
            raise ValueError("the frequency comes first")
        divided_16 = max(16, -(-bench.clock_hz * 16 // (self._freq * 65536)))
        return bench.clock_hz * 16 // (divided_16 * self._freq)

    def duty_u16(self, value=None):
        with outside:
            if value is None:
                return self._count * 65535 // self._top()
            if not 0 <= value <= 65535:
                raise ValueError("duty_u16 is 0 to 65535")
            self._count = (value * self._top() + 32767) // 65535
        return None

    def duty_ns(self, value=None):
        with outside:
            top = self._top()
            period_ns = 1_000_000_000 // self._freq
            if value is None:
                return self._count * period_ns // top
            if not 0 <= value <= period_ns:
                raise ValueError("a pulse is no longer than its period")
            self._count = value * top // period_ns
        return None


class Timer:
    ONE_SHOT, PERIODIC = 0, 1

    def __init__(self, id=-1, *, mode=1, freq=-1, period=-1, callback=None, hard=False):
        if bench.port == "esp32" and (not 0 <= id < 4 or hard):
            raise ValueError("ESP32 has timers 0 to 3, and none is hard")
        if bench.port == "rp2" and id != -1:
            raise ValueError("Timer doesn't exist: RP2 has virtual timers only, -1")
        self._is_periodic = True
        if callback is not None:
            self.init(mode=mode, freq=freq, period=period, callback=callback, hard=hard)

    def init(self, *, mode=1, freq=-1, period=-1, callback=None, hard=False):
        if (freq == -1) == (period == -1) or 0 in (freq, period):
            raise ValueError("either a freq in Hz or a period in ms")
        self.deinit()
        self._every_us = period * 1000 if freq == -1 else 1_000_000 // freq
        self._callback = callback
        self._is_hard = hard
        self._is_periodic = mode == self.PERIODIC
        self.next_us = bench.now_us + self._every_us
        bench.timers.append(self)

    def deinit(self):
        if self in bench.timers:
            bench.timers.remove(self)

    def fire(self):
        self.next_us += self._every_us
        if not self._is_periodic:
            self.deinit()
        if self._is_hard:
            bench.interrupt(self._callback, self)
        else:
            self._callback(self)


class UART:
    INV_TX, INV_RX = 1, 2
    _PINS = (
        ((0, 12, 16, 28, 32, 44), (1, 13, 17, 29, 33, 45)),
        ((4, 8, 20, 24, 36, 40), (5, 9, 21, 25, 37, 41)),
    )

    def __init__(
        self,
        id,
        baudrate=115_200,
        bits=8,
        parity=None,
        stop=1,
        *,
        tx=None,
        rx=None,
        txbuf=256,
        rxbuf=256,
        timeout=0,
        timeout_char=1,
        invert=0,
    ):
        if id not in (0, 1) and bench.port == "rp2":
            raise ValueError("UART doesn't exist")
        both = self._PINS[id] if bench.port == "rp2" else ((), ())
        for pin, gpios, what in ((tx, both[0], "TX"), (rx, both[1], "RX")):
            if pin is not None:
                _fitting(pin, gpios, what)
        if bits not in (5, 6, 7, 8) or parity not in (None, 0, 1) or stop not in (1, 2):
            raise ValueError("no such frame")
        self._timeout_us = timeout * 1000
        self._rxbuf = rxbuf
        self._txbuf = txbuf
        self.incoming = bytearray()  # what tests let the wire bring
        self.outgoing = bytearray()  # and what they take from it
        bench.uarts[id] = self

    def any(self):
        with outside:
            self.incoming = self.incoming[: self._rxbuf]  # what did not fit is lost
        return len(self.incoming)

    def readinto(self, buf, nbytes=None):
        """Asked for more than is there it waits, a millisecond even with a timeout of 0."""
        wanted = len(buf) if nbytes is None else nbytes
        size = min(wanted, self.any())
        if size < wanted:
            bench.waited_us += max(1000, self._timeout_us)
        for i in range(size):
            buf[i] = self.incoming[i]
        with outside:
            self.incoming = self.incoming[size:]
        return size or None

    def read(self, nbytes=None):
        buf = bytearray(self.any() if nbytes is None else nbytes)
        size = self.readinto(buf, len(buf))
        return bytes(buf[:size]) if size else None

    def write(self, buf):
        size = min(len(buf), self._txbuf - len(self.outgoing))
        with outside:
            self.outgoing.extend(buf[:size])
        return size or None

    def txdone(self):
        return not self.outgoing


class ADC:
    CORE_TEMP = 4

    def __init__(self, id):
        if isinstance(id, int) and 0 <= id <= 4:
            self._gpio = 26 + id
        else:
            first, last = (26, 30) if bench.gpios == 30 else (40, 48)  # an RP2350B has eight
            self._gpio = _fitting(id, range(first, last), "ADC")

    def read_u16(self):
        value = bench.voltages.get(self._gpio, 0) >> 4  # twelve bits, stretched to sixteen
        return value << 4 | value >> 8


class I2C:
    def __init__(self, id, *, scl=None, sda=None, freq=400_000, timeout=50_000):
        if id not in (0, 1):
            raise ValueError("I2C doesn't exist")
        if bench.port != "rp2":
            sda = scl = None
        for pin, place, what in ((sda, 2 * id, "SDA"), (scl, 2 * id + 1, "SCL")):
            if pin is not None and _gpio_of(pin) % 4 != place:
                raise ValueError("bad " + what + " pin")
        bench.has_i2c = True
        self._devices = bench.buses.setdefault(id, {})

    def _device(self, addr):
        if addr not in self._devices:
            raise OSError(_EIO)
        return self._devices[addr]

    def scan(self):
        return sorted(self._devices)

    def readfrom_mem_into(self, addr, memaddr, buf, *, addrsize=8):
        with outside:
            data = self._device(addr).read(memaddr, len(buf))
            for i in range(len(buf)):
                buf[i] = data[i]

    def readfrom_mem(self, addr, memaddr, nbytes, *, addrsize=8):
        return bytes(self._device(addr).read(memaddr, nbytes))

    def writeto_mem(self, addr, memaddr, buf, *, addrsize=8):
        self._device(addr).write(memaddr, buf)


class Encoder:
    """ESP32 has it, RP2 has not."""

    def __init__(self, id, phase_a, phase_b, *, phases=1):
        if bench.port != "esp32" or phases not in (1, 2, 4):
            raise ValueError("no such encoder")
        self._id = id
        bench.encoders[id] = 0

    def value(self):
        return bench.encoders[self._id]


class WDT:
    """Made again it has the new timeout and counts as fed: its documentation denies that, the
    ports do so, and the launcher's trial rests on it."""

    def __init__(self, *, id=0, timeout=5000):
        if id != 0 or not 1 <= timeout <= 8388:
            raise ValueError("timeout exceeds 8388")
        self.timeout_us = timeout * 1000
        self.fed_us = bench.now_us
        bench.watchdog = self

    def feed(self):
        self.fed_us = bench.now_us
