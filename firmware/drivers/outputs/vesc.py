"""A VESC motor controller over its serial line (115200 baud).

Commands and the reply to GET_VALUES as the VESC firmware documents them. What it reports is kept
in whole units; ``status`` in the reply is there from newer firmware on, and tells of its own
timeout and kill switch. A VESC coasts 1 s after its last command and holds its servo for ever, so
whoever drives it keeps writing, neutral and brake included.
"""

from firmware.compat import TYPE_CHECKING
from firmware.drivers.frame_window import FrameWindow
from firmware.drivers.outputs.vesc_frame import (
    END,
    START,
    FrameOut,
    count30_at,
    crc16,
    crc_table,
    int16_at,
    int32_at,
)
from firmware.drivers.ticks import Freshness

if TYPE_CHECKING:
    from machine import UART

    from firmware.compat import array

# The commands, by the numbers of the VESC's own firmware
GET_VALUES = 4
SET_DUTY = 5
SET_CURRENT = 6
SET_BRAKE = 7
SET_SERVO_POS = 12
ALIVE = 30

# 200 A: beyond any motor of a scaled car
MAX_MA = 200_000
_VALUES_SIZE = 73  # of the reply's payload, without status
_LONGEST_REPLY = 128  # newer firmware appends; what is longer is not for us
_LIMIT = 100_000_000  # of a reported value, so that tenfold it is still a small int
STATUS_TIMEOUT = 1
STATUS_KILL_SWITCH = 2


class VescReports(FrameWindow):
    """The reader of a VESC's replies, with the latest values.

    ``replies`` counts GET_VALUES replies that were whole.
    """

    def __init__(self, table: "array[int]") -> None:
        super().__init__(_LONGEST_REPLY + 5)  # start, length, two of CRC, end
        self._table = table
        self.replies = 0
        self.others = 0  # whole frames that are no reply to GET_VALUES
        self.fet_mdegc = 0
        self.motor_mdegc = 0
        self.motor_ma = 0
        self.input_ma = 0
        self.duty_permille = 0
        self.erpm = 0
        self.input_mv = 0
        self.tachometer = 0  # modulo 2**30
        self.fault = 0
        self.has_status = False
        self.status = 0

    def span(self) -> int:
        if self.window[0] != START:
            return -1
        if self.size < 2:
            return 0
        length = self.window[1]
        return length + 5 if 0 < length <= _LONGEST_REPLY else -1  # start, length, two of CRC, end

    def take(self) -> bool:
        window = self.window
        end = 2 + window[1]
        crc = window[end] << 8 | window[end + 1]
        if window[end + 2] != END or crc16(window, 2, end, self._table) != crc:
            return False
        if window[2] == GET_VALUES and window[1] >= _VALUES_SIZE:
            self._take_values()
        else:
            self.others += 1
        return True

    def _take_values(self) -> None:
        """Take the reply's fields, whose offsets are two more here than in its payload."""
        window = self.window
        self.fet_mdegc = int16_at(window, 3) * 100
        # The offsets of the reply's fields, two more than in its payload, and what makes mC, mA and
        # mV
        self.motor_mdegc = int16_at(window, 5) * 100
        self.motor_ma = _limited(int32_at(window, 7)) * 10
        self.input_ma = _limited(int32_at(window, 11)) * 10
        self.duty_permille = int16_at(window, 23)
        self.erpm = int32_at(window, 25)
        self.input_mv = int16_at(window, 29) * 100
        self.tachometer = count30_at(window, 47)
        self.fault = window[55]
        self.has_status = window[1] > _VALUES_SIZE
        self.status = window[75] if self.has_status else 0
        self.replies += 1


def _limited(value: int) -> int:
    return max(-_LIMIT, min(_LIMIT, value))


class Vesc:
    """A VESC on ``uart``, a ``machine.UART``; ``reports`` is what it said, fresh in ``silence_us``.

    A write that the UART did not take whole counts in ``unsent``: its buffer must hold 32 bytes.
    """

    def __init__(self, uart: "UART", silence_us: int) -> None:
        table = crc_table()
        self._uart = uart
        self.reports = VescReports(table)
        self.freshness = Freshness(silence_us)
        self.unsent = 0
        # Each a command, and its number in as many bytes less one
        self._current = FrameOut(SET_CURRENT, 5, table)
        self._brake = FrameOut(SET_BRAKE, 5, table)
        self._duty = FrameOut(SET_DUTY, 5, table)
        self._servo = FrameOut(SET_SERVO_POS, 3, table)
        self._alive = FrameOut(ALIVE, 1, table)
        self._get_values = FrameOut(GET_VALUES, 1, table)

    def step(self, now_us: int) -> None:
        """Take what has come; the next report has to be asked for with ``ask``."""
        replies = self.reports.replies
        self.reports.read(self._uart)
        if self.reports.replies != replies:
            self.freshness.hear(now_us)
        self.freshness.step(now_us)

    def ask(self) -> None:
        self._write(self._get_values)

    def set_current(self, current_ma: int) -> None:
        self._put(self._current, max(-MAX_MA, min(MAX_MA, current_ma)))

    def set_brake(self, current_ma: int) -> None:
        """Set a braking current, which is never negative."""
        self._put(self._brake, max(0, min(MAX_MA, current_ma)))

    def set_duty(self, duty: int) -> None:
        """Set the duty in 1/10000, as the board's channels."""
        self._put(self._duty, max(-10_000, min(10_000, duty)) * 10)  # all of the time, in 1/10000

    def set_servo(self, position_permille: int) -> None:
        """Set the servo to 0 to 1000. That resets no timeout of the VESC's and never expires."""
        self._put(self._servo, max(0, min(1000, position_permille)))

    def alive(self) -> None:
        """Reset the VESC's timeout and change nothing else."""
        self._write(self._alive)

    def _put(self, frame: FrameOut, value: int) -> None:
        frame.put(value)
        self._write(frame)

    def _write(self, frame: FrameOut) -> None:
        if self._uart.write(frame.bytes) != len(frame.bytes):
            self.unsent += 1
