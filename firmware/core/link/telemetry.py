"""The schedule of reports: the status on every step, motion on every nth, the rest in turn."""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core.clock import SLOTS, UNKNOWN_US
from firmware.core.deadlines import elapsed_us
from firmware.core.settings.params import CHANNELS
from firmware.protocol.codec import copy
from firmware.protocol.codes import (
    AUX_1,
    AUX_2,
    AUX_3,
    AUX_4,
    BRAKE,
    DRIVE,
    HELD,
    LIGHTS,
    NOBODY,
    STEERING,
)
from firmware.protocol.frame import CRC_SIZE
from firmware.protocol.messages import (
    ClockReport,
    Event,
    EventsLost,
    Inputs,
    LinkCounters,
    Motion,
    Outputs,
    Power,
    Second,
    Status,
    VescState,
)
from firmware.protocol.ranges import U16

if TYPE_CHECKING:
    from firmware.core.arbitration.actions import Actions
    from firmware.core.arbitration.arbiter import Arbiter
    from firmware.core.arbitration.rc_receiver import RcReceiver
    from firmware.core.clock import Sessions
    from firmware.core.contract import Board, MotorController
    from firmware.core.link.events import Events
    from firmware.core.link.outbox import Outbox
    from firmware.core.link.receiver import Receiver
    from firmware.core.motion.battery import Battery
    from firmware.core.motion.drive import Drive
    from firmware.core.motion.motion import MotionControl
    from firmware.core.motion.odometry import Odometry
    from firmware.core.motion.outputs import OutputStage
    from firmware.core.motion.steering import Steering
    from firmware.core.motion.temperature import Temperature
    from firmware.core.overrun import OverrunMonitor
    from firmware.core.settings.params import Params
    from firmware.core.stops.latch import Latch
    from firmware.core.stops.runstop import StopSources
    from firmware.core.supervisor import Supervisor

const = micropython.const

_MOTION_US = const(20_000)  # nobody needs motion more often; each claim's CRC is in a status
_COUNTER_MASK = (1 << 30) - 1
_CLOCKS = SLOTS + 1
_TURNS = 5 + _CLOCKS  # steps until each slow message has had its turn


class Telemetry:
    """The sender of all reports, which changes nothing in the other parts but the events' place.

    Messages are filled by their ``values``, in the table's order, which spares a step the detour of
    their attributes; those are for whoever receives one.
    """

    def __init__(  # noqa: PLR0915 - the list of what it reads
        self,
        board: "Board",
        outbox: "Outbox",
        supervisor: "Supervisor",
        runstop: "Latch",
        faults: "Latch",
        actions: "Actions",
        arbiter: "Arbiter",
        sessions: "Sessions",
        steering: "Steering",
        drive: "Drive",
        motion: "MotionControl",
        odometry: "Odometry",
        events: "Events",
        stop_sources: "StopSources",
        rc: "RcReceiver",
        output_stage: "OutputStage",
        battery: "Battery",
        temperature: "Temperature",
        receiver: "Receiver",
        overruns: "OverrunMonitor",
    ) -> None:
        self._board = board
        self._outbox = outbox
        self._supervisor = supervisor
        self._runstop = runstop
        self._faults = faults
        self._actions = actions
        self._arbiter = arbiter
        self._sessions = sessions
        self._steering = steering
        self._drive = drive
        self._moves = motion
        self._odometry = odometry
        self._events = events
        self._stop_sources = stop_sources
        self._rc = rc
        self._output_stage = output_stage
        self._battery = battery
        self._temperature = temperature
        self._receiver = receiver
        self._overruns = overruns
        self._status = Status()
        self._motion = Motion()
        self._clock = ClockReport()
        self._event = Event()
        self._lost = EventsLost()
        self._counters = LinkCounters()
        self._inputs = Inputs()
        self._power = Power()
        self._outputs = Outputs()
        self._second = Second()
        self._vesc = VescState()
        self._seconds = 0  # the last that was said
        self._slow = (
            self._send_inputs, self._send_outputs, self._send_power, self._send_counters,
            self._send_rest,
        )  # fmt: skip
        self._motion_every = 1
        self._turn = 0
        self._until_motion = 1  # steps
        self._longest_us = 0

    def configure(self, params: "Params") -> None:
        least = 2 if params.get("step_us") < _MOTION_US else 1
        self._motion_every = max(params.get("motion_every"), least)

    @micropython.native
    def step(self, now_us: int) -> None:
        step_us = self._board.step_us
        if step_us > self._longest_us:
            self._longest_us = step_us
        self._send_status(now_us)
        if self._until_motion == 0:
            self._until_motion = self._motion_every
            self._send_motion()
            self._send_slow()
        self._until_motion -= 1
        if self._events.next_sent != self._events.next_number or self._events.lost_count:
            self._send_event()

    @micropython.native
    def _send_status(self, now_us: int) -> None:
        arbiter, values = self._arbiter, self._status.values
        winners, slot = arbiter.winners, arbiter.newest_slot
        session, runstop = self._sessions.slots[slot], self._runstop
        values[0] = now_us
        values[1] = self._supervisor.state
        values[2] = runstop.bits
        values[3] = runstop.first
        values[4] = self._faults.bits
        values[5] = self._actions.profile
        values[6] = winners[STEERING]
        values[7] = winners[DRIVE]
        values[8] = winners[BRAKE]
        # in units of 50 urad, so that 1.6 rad fit into 16 bits
        values[9] = self._steering.steer_urad // 50
        values[10] = self._drive.target_mm_s
        values[11] = self._moves.brake
        values[12] = self._odometry.speed_mm_s
        values[13] = slot
        values[14] = session.claim_sequence
        values[15] = session.claim_count
        age_us = elapsed_us(now_us, arbiter.accepted_us)
        values[16] = 0 if age_us < 0 else age_us // 10  # saturates at 655 ms
        copy(session.claim_crc, 0, self._status.claim_crc, 0, CRC_SIZE)
        self._outbox.send_values(self._status)

    @micropython.native
    def _send_motion(self) -> None:
        board, odometry, values = self._board, self._odometry, self._motion.values
        values[0] = board.captured_us
        values[1] = elapsed_us(board.count_left, 0)
        values[2] = elapsed_us(board.count_right, 0)
        values[3] = odometry.distance_mm
        values[4] = odometry.x_mm
        values[5] = odometry.y_mm
        values[6] = odometry.yaw_urad
        values[7] = odometry.yaw_rate_mrad_s
        values[8] = board.accel_x_mm_s2
        values[9] = board.accel_y_mm_s2
        self._outbox.send_values(self._motion)

    def _send_slow(self) -> None:
        turn = (self._turn + 1) % _TURNS
        while turn < _CLOCKS and not self._sessions.slots[turn].epoch:
            turn += 1  # a free slot
        self._turn = turn
        if turn < _CLOCKS:
            self._send_clock(turn)
        else:
            self._slow[turn - _CLOCKS]()

    def _send_clock(self, slot: int) -> None:
        session, values = self._sessions.slots[slot], self._clock.values
        values[0] = session.epoch
        values[1] = slot
        values[2] = session.session_us(0)
        values[3] = min(session.bound_us, UNKNOWN_US)
        self._outbox.send_values(self._clock)

    def _send_inputs(self) -> None:
        board, values = self._board, self._inputs.values
        runstop, stop_sources, rc = self._runstop, self._stop_sources, self._rc
        values[0] = board.runstop_closed
        values[1] = board.enable_contact
        values[2] = board.charger | board.pairing << 1
        self._look_at_sources()
        values[6] = runstop.present
        values[7] = stop_sources.fresh
        values[8] = stop_sources.asserted
        values[9] = rc.mode if rc.is_live else NOBODY
        values[10] = board.imu_answers
        values[11] = self._longest_us // 10
        values[12] = runstop.age_ms
        values[13] = self._faults.age_ms
        overruns = self._overruns
        values[14] = overruns.beat_us // 100
        values[15] = (overruns.takes_us + 50) // 100  # to the nearest 0.1 ms
        values[16] = overruns.missed
        values[17] = overruns.missed_lately
        self._longest_us = 0
        self._outbox.send_values(self._inputs)

    def _look_at_sources(self) -> None:
        """Fill in which active sources are fresh, held and engaged, as bits."""
        fresh = held = engaged = 0
        for source in self._arbiter.active:
            if source.is_fresh:
                bit = 1 << source.id
                fresh |= bit
                if source.deadman & HELD:
                    held |= bit
                if source.is_engaged():
                    engaged |= bit
        values = self._inputs.values
        values[3] = fresh
        values[4] = held
        values[5] = engaged

    def _send_outputs(self) -> None:
        stage, values, winners = self._output_stage, self._outputs.values, self._arbiter.winners
        values[0] = 1 if self._output_stage.is_enabled else 0
        for channel in range(CHANNELS):
            values[1 + channel] = stage.values[channel]
        values[9] = stage.levels[LIGHTS]
        values[10] = winners[LIGHTS]
        values[11] = winners[AUX_1]
        values[12] = winners[AUX_2]
        values[13] = winners[AUX_3]
        values[14] = winners[AUX_4]
        values[15] = self._moves.cap_mm_s()
        self._outbox.send_values(self._outputs)

    def _send_power(self) -> None:
        battery, values = self._battery, self._power.values
        values[0] = battery.millivolts
        values[1] = battery.stage
        values[2] = self._temperature.degrees_c
        self._outbox.send_values(self._power)

    def _send_rest(self) -> None:
        """Send what few cars have: the VESC's state, and the time receiver's second."""
        board = self._board
        if board.vesc:
            self._send_vesc(board.vesc)
        if board.seconds != self._seconds:
            self._seconds = board.seconds
            if self._seconds:
                self._second.values[0] = board.second_us
                self._outbox.send_values(self._second)

    def _send_vesc(self, drive: "MotorController") -> None:
        vesc, values = drive.vesc, self._vesc.values
        reports = vesc.reports
        values[0] = int(reports.has_status and vesc.freshness.is_fresh)
        values[1] = reports.status
        values[2] = drive.timeout_ms
        values[3] = drive.brake_ma
        self._outbox.send_values(self._vesc)

    def _send_counters(self) -> None:
        receiver, arbiter, values = self._receiver, self._arbiter, self._counters.values
        reader = receiver.reader
        values[0] = reader.good & _COUNTER_MASK
        values[1] = reader.damaged & _COUNTER_MASK
        values[2] = reader.oversized & U16
        values[3] = receiver.unknown & _COUNTER_MASK
        values[4] = receiver.out_of_range & _COUNTER_MASK
        values[5] = arbiter.accepted & _COUNTER_MASK
        values[6] = arbiter.refused & _COUNTER_MASK
        values[7] = self._outbox.unsent & _COUNTER_MASK
        self._outbox.send_values(self._counters)

    def _send_event(self) -> None:
        events = self._events
        if events.lost_count:
            self._lost.first = events.lost_first
            self._lost.count = events.lost_count
            if self._outbox.send(self._lost):
                events.lost_count = 0
        elif events.has_unsent():
            events.fill(self._event)
            if self._outbox.send(self._event):
                events.sent()
