"""The board hardware below the program: rings 0 and 1 of a virtual car (ARCHITECTURE.md).

Ring 1 is the firmware's own guard, called each millisecond as by a hard timer, and on the runstop
loop's edges. Ring 0 is what remains when interrupts are dead too: pulses that return to their
fallback unless renewed, a drive enable that a charge pump holds up only while it is fed, and a
watchdog.
"""

from __future__ import annotations

from collections.abc import Sequence

from firmware.boards.simulated.virtual import CHANNELS
from firmware.core.stops.guard import BRAKES_US, Guard, limit_us
from sim_mock.board.firmware_runner import StepOutputs
from sim_mock.board.runstop_circuit import OFF_DELAY_US, RunstopCircuit

RENEWAL_US = 60_000  # pulses stop without a write for three frames of 20 ms
PUMP_US = 30_000  # the time that a charge pump holds without being fed
WATCHDOG_US = 400_000  # as real boards set theirs (firmware/boards/physical/board.py)
_USUAL_BEAT_US = 10_000  # assumed period of a program that does not report its own
TIME_MASK = (1 << 30) - 1
_KEPT = -1


class BoardHardware:
    """A board's output hardware: takes the program's writes and sets the wires each millisecond.

    ``held`` are the channels that only the guard takes to their fallback: a PWM goes on by itself.

    ``stuck`` are channels whose output stays at a value whatever is written, ``contact_stuck`` a
    drive enable that is welded (True) or open for good (False): faults to be injected. Without
    power (``has_power``) no wire carries anything.

    ``motors`` are the channels that drive. ``has_off_delay``: its runstop circuit keeps the drive's
    power for a while after the loop has opened, and its guard lets the program brake so long.
    """

    def __init__(
        self, held: Sequence[int] = (), motors: Sequence[int] = (), has_off_delay: bool = False
    ) -> None:
        self.circuit = RunstopCircuit(OFF_DELAY_US if has_off_delay else 0)
        self._motors = tuple(motors)
        self._grace_us = BRAKES_US if has_off_delay else 0
        self.guard = Guard()
        self.runstop_closed = True
        self.guard_is_dead = False  # interrupts are off
        self.stuck: dict[int, int] = {}
        self.contact_stuck: bool | None = None
        self.has_power = True
        self._held = frozenset(held)
        self.outputs: list[int] = [0] * CHANNELS
        self.enable = False  # the drive's power at the contact
        self._beat: StepOutputs | None = None
        self._written_us = 0
        self._fed_us = 0
        self._put: StepOutputs | None = None  # the beat and the mode that the outputs were set from
        self._put_how = 0

    def restart(self) -> None:
        """Reset the board: nothing has been written yet."""
        self.guard = Guard()
        self._beat = None
        self.guard_is_dead = False
        self.outputs = [0] * CHANNELS
        self._put = None
        self.enable = self.contact_stuck is True

    def read(self) -> None:
        """Note that the program samples its inputs."""
        self.guard.read()

    def write(self, beat: StepOutputs, now_us: int) -> None:
        """Take the program's outputs; this renews them and feeds the guard."""
        self._beat = beat
        self._written_us = now_us
        self.guard.begin(limit_us(beat.step_us or _USUAL_BEAT_US), 0, self._grace_us)
        if self._grace_us:
            self.guard.tell(all(beat.values[i] <= beat.fallbacks[i] for i in self._motors))
        self.guard.beat(beat.enable, now_us & TIME_MASK)
        self._set(now_us)

    def turn_loop(self, is_closed: bool, now_us: int) -> None:
        """Open or close the runstop loop: an edge, which raises an interrupt."""
        if not self.guard_is_dead:
            if not self.runstop_closed:  # an interrupt that found it open saw it open until now
                self.guard.look(0, now_us & TIME_MASK)
            self.guard.look(int(is_closed), now_us & TIME_MASK)
        self.runstop_closed = is_closed

    def glitch(self, opened_us: int, closed_us: int) -> None:
        """Open the loop and close it again between two ticks."""
        if not self.guard_is_dead:
            self.guard.look(0, opened_us & TIME_MASK)
            self.guard.look(0, closed_us & TIME_MASK)
            self.guard.look(1, closed_us & TIME_MASK)

    def tick(self, now_us: int, is_hanging: bool) -> None:
        """Update the wires; call it each millisecond.

        A world whose beats are late in real time does not count as a program that is late.
        ``is_hanging``: the program really does not step.
        """
        guard, own_us = self.guard, now_us & TIME_MASK
        if self._beat and not is_hanging:
            self._written_us = now_us
            guard.beat(True, own_us)
        if not self.guard_is_dead and not guard.look(int(self.runstop_closed), own_us) & 1:
            self._fed_us = now_us
        self._set(now_us)

    def _set(self, now_us: int) -> None:
        beat = self._beat
        if self.has_power and beat is not None:
            self._set_outputs(beat, now_us)
            return
        self.circuit.feeds(self.runstop_closed, False, now_us)  # its latch follows the loop
        if not self.has_power:
            self.outputs = [0] * CHANNELS
        self.enable = self.has_power and self.contact_stuck is True

    def _set_outputs(self, beat: StepOutputs, now_us: int) -> None:
        is_stale = now_us - self._written_us > RENEWAL_US
        is_gated = is_stale or (self.guard.is_gating and not self.guard_is_dead)
        is_dead = is_stale and not self.guard.is_gating
        how = 8 * is_dead + 4 * bool(self.stuck) + 2 * is_stale + is_gated
        if self.stuck or self._put is not beat or self._put_how != how:
            self._put, self._put_how = beat, how
            self._put_out(beat, is_stale, is_gated, is_dead)
        is_fed = now_us - self._fed_us <= PUMP_US and (self.guard_is_dead or not is_gated)
        is_live = beat.enable and is_fed
        self.enable = self.circuit.feeds(self.runstop_closed, is_live, now_us) and is_live
        if self.contact_stuck is not None:
            self.enable = self.contact_stuck

    def _put_out(self, beat: StepOutputs, is_stale: bool, is_gated: bool, is_dead: bool) -> None:
        for channel, value in enumerate(beat.values):
            fallback = beat.fallbacks[channel]
            if fallback == _KEPT or (is_dead and channel in self._held):  # the PWM keeps its value
                fallback = self.outputs[channel] if is_stale else value
            self.outputs[channel] = fallback if is_gated else value
        self.outputs = [self.stuck.get(i, value) for i, value in enumerate(self.outputs)]

    def readings(self) -> Sequence[int]:
        """Return the outputs as the program reads them back, for all channels."""
        return self.outputs
