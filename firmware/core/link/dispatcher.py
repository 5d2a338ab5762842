"""The message dispatcher: handles each message that the car is sent."""

from firmware.compat import TYPE_CHECKING, micropython
from firmware.core import supervisor
from firmware.core.clock import OWN
from firmware.protocol.codec import encode_values_into
from firmware.protocol.codes import (
    ACTION_CAP,
    BIND_NO_SLOT,
    BIND_PROTOCOL_MISMATCH,
    BOUND,
    CAUSE_CLOCK_STEP,
    CAUSE_STOP_REQUEST,
    CLAIM_ACCEPTED,
    DEVICE_CAR,
    EVENT_ACTION_REFUSED,
    EVENT_ACTION_TAKEN,
    EVENT_CLAIM_REFUSED,
    EVENT_CLOCK_STEPPED,
    EVENT_PROFILE,
    EVENT_SESSION_BOUND,
    EVENT_SPEED_CAP,
    IDENTITY_VIRTUAL,
    NOBODY,
)
from firmware.protocol.frame import crc_update
from firmware.protocol.messages import (
    Act,
    ActReply,
    Alive,
    Bind,
    Bound,
    Claim,
    EventRequest,
    Identify,
    Identity,
    Leave,
    Stop,
    StopSeen,
    Sync,
)
from firmware.protocol.to_board import CLAIM_SOURCE, EPOCH, SYNC_BOARD, SYNC_RECEIVED, SYNC_SENT

if TYPE_CHECKING:
    from firmware.compat import array
    from firmware.core.arbitration.actions import Actions
    from firmware.core.arbitration.arbiter import Arbiter
    from firmware.core.clock import Sessions
    from firmware.core.contract import Board
    from firmware.core.link.events import Events
    from firmware.core.link.outbox import Outbox
    from firmware.core.link.receiver import Receiver
    from firmware.core.motion.motion import MotionControl
    from firmware.core.settings.configuration import Configuration
    from firmware.core.settings.overlay import Overlay
    from firmware.core.stops.fault_monitor import FaultMonitor
    from firmware.core.stops.latch import Latch
    from firmware.core.stops.runstop import StopSources
    from firmware.core.supervisor import Supervisor

const = micropython.const

_CLAIM_NEWS_EVERY = const(100)  # a source that is refused 100 times a second makes one event of it


class MessageDispatcher:
    """The handlers of all messages, and of the board receiver's claims and gestures."""

    def __init__(
        self,
        board: "Board",
        configuration: "Configuration",
        sessions: "Sessions",
        events: "Events",
        runstop: "Latch",
        faults: "Latch",
        stop_sources: "StopSources",
        arbiter: "Arbiter",
        supervisor: "Supervisor",
        receiver: "Receiver",
        outbox: "Outbox",
        actions: "Actions",
        overlay: "Overlay",
        fault_monitor: "FaultMonitor",
        motion: "MotionControl",
        own_hash: bytearray,
        crc_table: "array[int]",
    ) -> None:
        self.stop_sender = NOBODY
        self._board = board
        self._configuration = configuration
        self._sessions = sessions
        self._events = events
        self._runstop = runstop
        self._faults = faults
        self._stop_sources = stop_sources
        self._arbiter = arbiter
        self._supervisor = supervisor
        self._receiver = receiver
        self._outbox = outbox
        self._actions = actions
        self._overlay = overlay
        self._fault_monitor = fault_monitor
        self._motion = motion
        self._own_hash = own_hash
        self._crc_table = crc_table
        self._identity = Identity()
        self._seen = StopSeen()
        self.must_acknowledge = False
        self._bound = Bound()
        self._act_reply = ActReply()
        self._last_verdict = CLAIM_ACCEPTED
        self._refused_again = 0
        receiver.route_by_values(
            (
                (Claim(), self._claim),
                (Sync(), self._sync),
                (Alive(), self._alive),
            )
        )
        receiver.route(
            (
                (Stop(), self._stop),
                (Identify(), self._identify),
                (Bind(), self._bind),
                (Leave(), self._leave),
                (Act(), self._act),
                (EventRequest(), self._event_request),
            )
        )

    def _stop(self, message: Stop, now_us: int) -> None:
        self._runstop.latch(CAUSE_STOP_REQUEST)
        self._actions.nonce = 0
        self.stop_sender = message.sender
        self._seen.token = message.token
        self._seen.sender = message.sender
        for i in range(len(message.sender_name)):  # a slice would allocate
            self._seen.sender_name[i] = message.sender_name[i]
        self.must_acknowledge = True

    def acknowledge(self) -> None:
        """Acknowledge a Stop after the step that obeyed it, to report the state it brought."""
        if self.must_acknowledge:
            self.must_acknowledge = False
            self._seen.state = self._supervisor.state
            self._outbox.send(self._seen)

    @micropython.native
    def _claim(self, message: Claim, now_us: int) -> None:
        verdict = self._arbiter.receive(message, now_us)
        if verdict == CLAIM_ACCEPTED:
            session = self._sessions.slots[self._arbiter.newest_slot]
            receiver = self._receiver
            crc_update(session.claim_crc, receiver.reader.frame, 0, receiver.size, self._crc_table)
        else:
            self._report_refusal(message.values[CLAIM_SOURCE], verdict, now_us)

    def own_claim(self, claim: Claim, now_us: int) -> None:
        """Handle a claim of the board's own receiver; it is sent to hosts, so that twins follow."""
        verdict = self._arbiter.receive_own(claim, now_us)
        if verdict != CLAIM_ACCEPTED:
            self._report_refusal(claim.values[CLAIM_SOURCE], verdict, now_us)
            return
        payload = self._outbox.payload
        size = encode_values_into(claim, payload)
        crc_update(self._sessions.slots[OWN].claim_crc, payload, 0, size, self._crc_table)
        self._outbox.post(size)

    def gesture(self, now_us: int) -> None:
        """Handle the RC's gesture, which takes the place of an Act."""
        state = self._supervisor.state
        action = self._actions.gesture_action(state)
        self._follow_up(action, self._actions.gesture(state), OWN, now_us)

    def _alive(self, message: Alive, now_us: int) -> None:
        self._stop_sources.receive(message, now_us)

    def _report_refusal(self, source: int, verdict: int, now_us: int) -> None:
        self._refused_again += 1
        if verdict != self._last_verdict or self._refused_again >= _CLAIM_NEWS_EVERY:
            self._last_verdict = verdict
            self._refused_again = 0
            self._events.add(now_us, EVENT_CLAIM_REFUSED, source, verdict)

    def _sync(self, message: Sync, now_us: int) -> None:
        values = message.values
        slot = self._sessions.find(values[EPOCH])
        if slot < 0:
            return
        session = self._sessions.slots[slot]
        session.hear(now_us)
        board_us, received_us = self._sessions.left_us(values[SYNC_BOARD]), values[SYNC_RECEIVED]
        if not session.sample(now_us, board_us, received_us, values[SYNC_SENT]):
            self._events.add(now_us, EVENT_CLOCK_STEPPED, slot, session.step_us)
            if self._supervisor.is_armed() and self._arbiter.is_commanded_from(slot):
                self._runstop.latch(CAUSE_CLOCK_STEP)

    def _identify(self, message: Identify, now_us: int) -> None:
        identity, held = self._identity, self._configuration
        identity.token = message.token
        identity.layout = 1
        identity.device = DEVICE_CAR
        identity.flags = IDENTITY_VIRTUAL if self._board.is_virtual else 0
        identity.protocol_hash = self._own_hash
        identity.config_hash = held.config_hash
        identity.board_id = self._board.board_id  # type: ignore[assignment]
        identity.state = self._supervisor.state
        identity.car_name = held.car_name
        self._outbox.send(identity)

    def _bind(self, message: Bind, now_us: int) -> None:
        bound = self._bound
        bound.epoch = message.epoch
        bound.protocol_hash = self._own_hash
        bound.config_hash = self._configuration.config_hash
        bound.slot = NOBODY
        bound.result = BIND_PROTOCOL_MISMATCH
        if message.protocol_hash == self._own_hash:
            is_new = self._sessions.find(message.epoch) < 0
            slot = self._sessions.bind(message.epoch, now_us)
            self._actions.rebound(message.epoch)
            if is_new:
                self._forget(slot)
            bound.result = BOUND if slot >= 0 else BIND_NO_SLOT
            if slot >= 0:
                bound.slot = slot
                self._events.add(now_us, EVENT_SESSION_BOUND, slot, message.epoch)
        self._outbox.send(bound)

    def _leave(self, message: Leave, now_us: int) -> None:
        """End a session, its claims and its request: who leaves while driving falls silent."""
        self._actions.rebound(message.epoch)
        self._forget(self._sessions.leave(message.epoch, now_us))

    def _forget(self, slot: int) -> None:
        """Drop what was claimed and said by the session that had this slot."""
        if slot >= 0:
            self._arbiter.forget(slot)
            self._stop_sources.forget(slot)

    def _act(self, message: Act, now_us: int) -> None:
        reply = self._act_reply
        refusals = self._actions.receive(message, reply, self._supervisor.state, now_us)
        if message.action == ACTION_CAP and not refusals:
            slot = self._sessions.find(message.epoch)
            self._events.add(now_us, EVENT_SPEED_CAP, self._actions.cap_mm_s, slot)
        else:
            self._follow_up(message.action, refusals, self._sessions.find(message.epoch), now_us)
        self._outbox.send(reply)

    def _follow_up(self, action: int, refusals: int, slot: int, now_us: int) -> None:
        """Carry out what a granted action brings on this step; report it, or the refusals."""
        granted = self._actions.granted
        if refusals:
            self._events.add(now_us, EVENT_ACTION_REFUSED, action, refusals)
            return
        if granted & supervisor.CLEARED:
            self._runstop.clear()
            self._faults.clear()
            if self.must_acknowledge:  # a Stop on the same step outlives the clear, in any order
                self._runstop.latch(CAUSE_STOP_REQUEST)
        if granted & supervisor.ARMED:
            self._overlay.let_go()
            self._arbiter.begin_from_neutral(now_us)
            self._fault_monitor.begin(self._actions.profile, now_us)
            self._events.add(now_us, EVENT_PROFILE, self._actions.profile, self._motion.cap_mm_s())
        if granted:
            self._events.add(now_us, EVENT_ACTION_TAKEN, action, slot)

    def _event_request(self, message: EventRequest, now_us: int) -> None:
        self._events.request(message.first)
