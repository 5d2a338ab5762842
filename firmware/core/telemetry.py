"""What is reported when: the status on every step, motion on every nth, the rest in turn."""

from firmware.compat import TYPE_CHECKING
from firmware.core.clock import SLOTS, UNKNOWN_US
from firmware.core.deadlines import elapsed_us
from firmware.core.limits import clamped
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
    from firmware.app import App
    from firmware.boards.vesc_drive import VescDrive
    from firmware.core.params import Params

_COUNTER_MASK = (1 << 30) - 1
_CLOCKS = SLOTS + 1
_TURNS = 5 + _CLOCKS  # steps until each slow message has had its turn


class Telemetry:
    """Reads the app, changes nothing in it but its outbox and its events' place."""

    def __init__(self, app: "App") -> None:
        self._app = app
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
        self._steps = 0
        self._longest_us = 0

    def configure(self, params: "Params") -> None:
        self._motion_every = params.get("motion_every")

    def step(self, now_us: int) -> None:
        self._longest_us = max(self._longest_us, self._app.board.step_us)
        self._send_status(now_us)
        self._steps += 1
        if self._steps >= self._motion_every:
            self._steps = 0
            self._send_motion()
            self._send_slow()
        self._send_event()

    def _send_status(self, now_us: int) -> None:
        app, status = self._app, self._status
        arbiter = app.arbiter
        winners, slot = arbiter.winners, arbiter.newest_slot
        session = app.sessions.slots[slot]
        status.time_us = now_us
        status.state = app.supervisor.state
        status.causes = app.runstop.bits
        status.first_cause = app.runstop.first
        status.faults = app.faults.bits
        status.profile = app.actions.profile
        status.steering_source = winners[STEERING]
        status.drive_source = winners[DRIVE]
        status.brake_source = winners[BRAKE]
        status.steer_50urad = app.steering.steer_urad // 50
        status.target_mm_s = app.drive.target_mm_s
        status.brake = app.motion.brake
        status.speed_mm_s = app.odometry.speed_mm_s
        status.claim_slot = slot
        status.claim_sequence = session.claim_sequence
        status.claim_count = session.claim_count
        copy(session.claim_crc, 0, status.claim_crc, 0, CRC_SIZE)
        age_us = elapsed_us(now_us, arbiter.accepted_us)
        status.applied_10us = clamped(age_us, 0, 655_350) // 10
        app.outbox.send(status)

    def _send_motion(self) -> None:
        board, odometry, motion = self._app.board, self._app.odometry, self._motion
        motion.captured_us = board.captured_us
        motion.count_left = elapsed_us(board.count_left, 0)
        motion.count_right = elapsed_us(board.count_right, 0)
        motion.distance_mm = odometry.distance_mm
        motion.x_mm = odometry.x_mm
        motion.y_mm = odometry.y_mm
        motion.yaw_urad = odometry.yaw_urad
        motion.yaw_rate_mrad_s = odometry.yaw_rate_mrad_s
        motion.accel_x_mm_s2 = board.accel_x_mm_s2
        motion.accel_y_mm_s2 = board.accel_y_mm_s2
        self._app.outbox.send(motion)

    def _send_slow(self) -> None:
        self._turn = (self._turn + 1) % _TURNS
        if self._turn < _CLOCKS:
            self._send_clock(self._turn)
        elif self._turn < _CLOCKS + len(self._slow):
            self._slow[self._turn - _CLOCKS]()

    def _send_clock(self, slot: int) -> None:
        session = self._app.sessions.slots[slot]
        if session.epoch:
            self._clock.epoch = session.epoch
            self._clock.slot = slot
            self._clock.offset_us = session.session_us(0)
            self._clock.bound_us = min(session.bound_us, UNKNOWN_US)
            self._app.outbox.send(self._clock)

    def _send_inputs(self) -> None:
        board, inputs = self._app.board, self._inputs
        inputs.runstop_closed = board.runstop_closed
        inputs.enable_contact = board.enable_contact
        inputs.charger = board.charger
        inputs.fresh = inputs.held = inputs.engaged = 0
        for source in self._app.arbiter.sources:
            bit = 1 << source.id
            inputs.fresh |= bit if source.is_fresh else 0
            inputs.held |= bit if source.deadman & HELD else 0
            inputs.engaged |= bit if source.is_engaged() else 0
        inputs.causes_present = self._app.runstop.present
        inputs.stop_fresh = self._app.stop_sources.fresh
        inputs.stop_said = self._app.stop_sources.said
        inputs.rc_mode = self._app.rc.mode if self._app.rc.is_live else NOBODY
        inputs.imu_answers = board.imu_answers
        inputs.step_10us = self._longest_us // 10
        inputs.cause_age_ms = self._app.runstop.age_ms
        inputs.fault_age_ms = self._app.faults.age_ms
        punctuality = self._app.punctuality
        inputs.beat_100us = punctuality.beat_us // 100
        inputs.takes_100us = (punctuality.takes_us + 50) // 100
        inputs.missed = punctuality.missed
        inputs.missed_lately = punctuality.missed_lately
        self._longest_us = 0
        self._app.outbox.send(inputs)

    def _send_outputs(self) -> None:
        values, outputs = self._app.output_stage.values, self._outputs
        outputs.enable = 1 if self._app.is_enabled else 0
        outputs.channel_0 = values[0]
        outputs.channel_1 = values[1]
        outputs.channel_2 = values[2]
        outputs.channel_3 = values[3]
        outputs.channel_4 = values[4]
        outputs.channel_5 = values[5]
        outputs.channel_6 = values[6]
        outputs.channel_7 = values[7]
        winners = self._app.arbiter.winners
        outputs.lights = self._app.output_stage.levels[LIGHTS]
        outputs.lights_source = winners[LIGHTS]
        outputs.aux_1_source = winners[AUX_1]
        outputs.aux_2_source = winners[AUX_2]
        outputs.aux_3_source = winners[AUX_3]
        outputs.aux_4_source = winners[AUX_4]
        outputs.cap_mm_s = self._app.motion.cap_mm_s()
        self._app.outbox.send(outputs)

    def _send_power(self) -> None:
        self._power.battery_mv = self._app.battery.millivolts
        self._power.stage = self._app.battery.stage
        self._power.temperature_c = self._app.temperature.degrees_c
        self._app.outbox.send(self._power)

    def _send_rest(self) -> None:
        """Of what few cars have."""
        board = self._app.board
        if board.vesc:
            self._send_vesc(board.vesc)
        if board.seconds != self._seconds:
            self._seconds = board.seconds
            if self._seconds:
                self._second.began_us = board.second_us
                self._app.outbox.send(self._second)

    def _send_vesc(self, drive: "VescDrive") -> None:
        state, reports = self._vesc, drive.vesc.reports
        state.tells = int(reports.has_status and drive.vesc.hearing.is_fresh)
        state.status = reports.status
        state.timeout_ms = drive.timeout_ms
        state.brake_ma = drive.brake_ma
        self._app.outbox.send(state)

    def _send_counters(self) -> None:
        receiver, counters = self._app.receiver, self._counters
        counters.good = receiver.reader.good & _COUNTER_MASK
        counters.damaged = receiver.reader.damaged & _COUNTER_MASK
        counters.oversized = receiver.reader.oversized & U16
        counters.unknown = receiver.unknown & _COUNTER_MASK
        counters.out_of_range = receiver.out_of_range & _COUNTER_MASK
        counters.claims_accepted = self._app.arbiter.accepted & _COUNTER_MASK
        counters.claims_refused = self._app.arbiter.refused & _COUNTER_MASK
        counters.unsent = self._app.outbox.unsent & _COUNTER_MASK
        self._app.outbox.send(counters)

    def _send_event(self) -> None:
        events = self._app.events
        if events.lost_count:
            self._lost.first = events.lost_first
            self._lost.count = events.lost_count
            if self._app.outbox.send(self._lost):
                events.lost_count = 0
        elif events.has_unsent():
            events.fill(self._event)
            if self._app.outbox.send(self._event):
                events.sent()
