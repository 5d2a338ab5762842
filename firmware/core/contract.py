"""The interface between a board and the program, for type checker and reader; not deployed.

It is the program's: boards are written to it, and the program imports none of them.

Attributes are inputs, sampled by ``read`` and constant until the next one. Nothing here blocks and
nothing allocates. Channels are numbered 0 to 7; their values are pulses in ns or duties in 1/10000.
"""

from typing import Any, Protocol


class MotorStatus(Protocol):
    """The newest status word of a motor controller, if it has sent one."""

    has_status: bool
    status: int


class MotorFreshness(Protocol):
    """The age of a motor controller's reports."""

    is_fresh: bool  # the newest report is not too old


class MotorLine(Protocol):
    """The line to a motor controller, as far as its reports go on to the host."""

    @property
    def reports(self) -> MotorStatus: ...

    @property
    def freshness(self) -> MotorFreshness: ...


class MotorController(Protocol):
    """A motor controller that reports its state."""

    @property
    def vesc(self) -> MotorLine: ...

    timeout_ms: int  # how long after the last command it stopped by itself; 0 if it did not
    brake_ma: int  # the most that it braked the turning wheel with then


class Board(Protocol):
    """The board under the program: its inputs as attributes, its outputs as calls."""

    board_id: bytes  # 8 bytes, of this very chip
    key: bytes  # of a car and its runstop box: 16 bytes, then the car's name; empty: none
    pairing: int  # PAIRING_: how it stands with its runstop box
    needs_box: int  # it was given a key, which was not forgotten: it is not driven without its box
    is_virtual: int  # nothing of metal moves by it: a plant's wheels, in a simulator or the loop
    count_left: int  # wheel counts, modulo 2**30; forward is up
    count_right: int
    captured_us: int  # when they were read
    runstop_closed: int  # 1 while the loop is closed
    enable_contact: int  # read back from the drive enable's contact
    charger: int
    battery_mv: int
    yaw_rate_mrad_s: int  # positive to the left
    accel_x_mm_s2: int
    accel_y_mm_s2: int
    imu_answers: int  # 0: there is none, or it is silent or frozen; then the three above are 0
    second_us: int  # when the last whole second began, by the time receiver's pulse
    seconds: int  # how many of its pulses came, modulo 2**16; 0 if none or no more
    own_beat_us: int  # a car's on this board that has no configuration; 0: that of the table
    step_us: int  # how long the last step took, what it began late included
    ran_us: int  # the same without that
    temperature_c: int  # of the hottest part that has a sensor
    has_receiver: int  # a receiver is wired to this board: then nobody else speaks for it
    rc_steering_us: int  # pulses of the newest complete frame of the receiver
    rc_throttle_us: int
    rc_live_man_us: int
    rc_mode_us: int
    rc_frames: int  # complete frames so far, modulo 2**30
    rc_failsafe: int  # the receiver says that it has lost its transmitter
    read_back: "list[int]"  # what each channel puts out, as read from its hardware
    has_held_output: int  # at the start an output did not go to its safe level: something holds it
    guard_tripped: int  # the guard let the car fall because the program was late
    reset_cause: int  # RESET_
    failed_starts: int  # in a row, before this one: none of them was marked healthy

    @property
    def vesc(self) -> "MotorController | None": ...

    def begin(self, fallbacks: "list[int]", beat_us: int) -> None:
        """Set what each channel falls back to by itself unless renewed (-1: it stays), and how
        often a step is due. At start-up and after each commit."""

    def open_heap(self) -> None:
        """Allow allocation from here on; called in a step, and only while nothing may move."""

    def close_heap(self) -> None:
        """End that: a board that locks the heap around a step locks it again."""

    def mark_healthy(self) -> None:
        """Record that this start did not fail."""

    def read(self, now_us: int) -> None:
        """Sample all inputs."""

    def receive_into(self, buffer: bytearray) -> int:
        """Take bytes that have come over the link; return how many, 0 if none."""

    def hears_stop(self) -> bool:
        """Return whether what looks like a Stop came since the step began; called while armed."""

    def transmit(self, data: bytearray, size: int) -> bool:
        """Queue ``data[:size]`` whole, or refuse it whole and return False; never wait."""

    def write(self, values: "list[int]", enable: bool, lights: int) -> None:
        """Set all channels, the drive enable and the lights. Renews the pulses: without it they
        fall back within 60 ms, and the guard (core/stops/guard.py) gates the drive before that."""

    def entropy(self) -> int:
        """Return 30 random bits."""

    def load_into(self, image: bytearray) -> int:
        """Read the stored configuration; return how many bytes, 0 if there is none."""

    def save(self, pieces: "list[bytearray]") -> bool:
        """Store the configuration, whose image is these pieces one after another; return whether
        that worked. Only while the car may not move."""


class Pins(Protocol):
    """The module that is made from a board file and a vehicle: this car's wiring.

    A pin is what ``machine.Pin`` takes. What the car does not have is None, or an empty table.
    """

    BOARD: str
    VEHICLE: str
    PORT: str  # rp2, stm32, esp32
    PROGRAM: str  # car, box
    BEAT_US: int  # of a car that has no configuration yet
    CLOCK_HZ: "int | None"  # faster than MicroPython starts the chip
    SAFE_LEVELS: "tuple[tuple[int | str, int], ...]"  # each output, and its level before all else
    CHANNELS: "tuple[tuple[Any, ...], ...]"  # a kind and what it takes, in the vehicle's order
    STANDBY: "tuple[int | str, ...]"  # of the H-bridges: high while the drive is enabled
    RUNSTOP: "int | str"  # high while the loop is closed
    ENABLE: "tuple[Any, ...]"  # the life signal
    CONTACT: "int | str | None"  # high while the enable's contact is closed
    CHARGER: "int | str | None"
    PIO_BASES: "tuple[tuple[int, int], ...]"  # a PIO, the first GPIO that it reaches
    ENCODERS: "tuple[tuple[Any, ...], ...]"  # left, right or both; a kind and what it takes
    I2C: "tuple[int, int | str, int | str, int] | None"  # id, scl, sda, Hz
    UARTS: "tuple[tuple[str, int, int | str | None, int | str | None, int], ...]"
    LINK: str  # usb, uart
    IMU: "tuple[Any, ...] | None"
    BATTERY: "tuple[Any, ...] | None"
    RC: "tuple[Any, ...] | None"
    PPS: "int | str | None"  # high as a second begins
    LIGHTS: "tuple[int | str, ...] | None"
    LED: "int | str | None"
    BUZZER: "tuple[int | str, int] | None"
    VESC: "tuple[int, int] | None"  # 1/10000 and mA at full effort


class Starts(Protocol):
    """The launcher's record of starts."""

    failed: int  # in a row, before this one: none of them was marked healthy
    folder: str  # of the slot that runs: a new program on trial has its own configuration

    def mark_healthy(self) -> None:
        """Write to flash that this start did not fail; called once, while the car may not move."""
