"""The bench around the virtual ``machine``: levels, voltages, buses, and time that is given.

``bench`` is the one that ``machine`` uses; ``reset`` clears the table between tests. Runs under
CPython and MicroPython.
"""


class WatchdogReset(Exception):
    """The watchdog was not fed in time: here the chip would start anew."""


try:
    from micropython import heap_lock, heap_unlock
except ImportError:  # CPython has no lock

    def heap_lock():
        pass

    heap_unlock = heap_lock


class Outside:
    """What stands for metal may allocate, in a step whose heap is locked."""

    def __init__(self):
        self.is_locked = False

    def lock(self):
        heap_lock()
        self.is_locked = True

    def unlock(self):
        self.is_locked = False
        heap_unlock()

    def __enter__(self):
        if self.is_locked:
            heap_unlock()

    def __exit__(self, *why):
        if self.is_locked:
            heap_lock()


outside = Outside()


CHIP_ID = 0x4000_0000
PRIORITIES = 0xE000_E40C  # of the interrupts 12 to 15, each a byte
VREG = 0x4006_4000  # of an RP2040: bits 7 to 4 are the core's voltage


class Bench:
    def __init__(self):
        self.reset()

    def reset(self, gpios=30, port="rp2"):
        """A bare RP2040 (30 GPIOs); an RP2350B has 48. What pins carry is known of RP2 only; the
        other ports' pins have names, or are any."""
        self.gpios = gpios
        self.port = port
        self.clock_hz = 125_000_000
        # at reset: regulating, 1.1 V; an RP2040; its pins' interrupt beside three others
        self.registers = {VREG: 0x10B1, CHIP_ID: 0x2000_2927, PRIORITIES: 0x8080_8080}
        self.encoders = {}  # number of the timer or unit: its count
        self.now_us = 0
        self.levels = {}  # gpio: level
        self.held = {}  # gpio: the level that something outside forces on it, an output too
        self.interrupts = {}  # gpio: (handler, trigger, pin)
        self.voltages = {}  # gpio: what an ADC reads there, 0 to 65535
        self.buses = {}  # I2C id: {address: device, see imu_peers.py}
        self.has_i2c = False
        self.uarts = {}  # id: UART
        self.pwms = {}  # gpio: PWM
        self.timers = []
        self.machines = {}  # PIO state machine id: StateMachine
        self.pio_bases = {}  # PIO: the first GPIO that it reaches
        self.chip_id = bytes(8)
        self.reset_cause = 1  # machine.PWRON_RESET
        self.are_interrupts_on = True
        self.watchdog = None
        self.waited_us = 0  # in calls that wait for bytes which are not there

    def put(self, gpio, level):
        """The pin is driven, if nothing stronger holds it."""
        self.levels[gpio] = self.held.get(gpio, level)

    def level(self, gpio, level):
        """Somebody outside drives the pin; its interrupt runs at once."""
        before = self.levels.get(gpio, 0)
        self.put(gpio, level)
        level = self.levels[gpio]
        handler, trigger, pin = self.interrupts.get(gpio, (None, 0, None))
        edge = 0 if level == before else 8 if level else 4  # Pin.IRQ_RISING, IRQ_FALLING
        if handler and trigger & edge:
            self.interrupt(handler, pin)

    def interrupt(self, handler, source):
        """As hard ones come: not while they are off, and nothing may be allocated."""
        if self.are_interrupts_on:
            outside.lock()
            handler(source)
            outside.unlock()

    def advance(self, by_us):
        """Let time pass: timers fire in it, in order; the watchdog bites."""
        end_us = self.now_us + by_us
        while True:
            due = [timer for timer in self.timers if timer.next_us <= end_us]
            if not due:
                break
            timer = min(due, key=_next_us)
            self._until(timer.next_us)
            timer.fire()
        self._until(end_us)

    def _until(self, time_us):
        if self.watchdog and time_us - self.watchdog.fed_us > self.watchdog.timeout_us:
            raise WatchdogReset("not fed for longer than its timeout")
        self.now_us = time_us


def _next_us(timer):
    return timer.next_us


bench = Bench()
