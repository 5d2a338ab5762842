"""Handles hosts' messages on the configuration; the code that writes one is loaded on demand.

It is loaded where nothing can move, in STANDBY and FAULT with standing wheels, and let go of after
a commit or as the car is armed. The import takes a chip longer than a step; meanwhile the watchdog
is fed, and the guard, which needs no step, sees to the outputs.
"""

from firmware.compat import TYPE_CHECKING, collect, forget
from firmware.core.supervisor import ARMED
from firmware.protocol.codes import (
    EVENT_CONFIGURED,
    FAULT,
    PARAMETER_BUSY,
    PARAMETER_MOVING,
    PARAMETER_NOT_BOUND,
    PARAMETER_NOT_LOADED,
    PARAMETER_NOT_NOW,
    PARAMETER_NOT_TAKEN,
    PARAMETER_OK,
    STANDBY,
)
from firmware.protocol.messages import (
    Committed,
    ConfigCommit,
    Parameter,
    ParameterRead,
    ParameterWrite,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from firmware.compat import array
    from firmware.core.arbitration.actions import Actions
    from firmware.core.clock import Sessions
    from firmware.core.contract import Board
    from firmware.core.link.events import Events
    from firmware.core.link.outbox import Outbox
    from firmware.core.link.receiver import Receiver
    from firmware.core.settings.configuration import Configuration
    from firmware.core.settings.params import Params
    from firmware.core.settings.writing import Writing
    from firmware.core.supervisor import Supervisor

# Name, package, name in the package: spelled out, because a step that lets go of it may allocate
# nothing
_NAMING = (("firmware.core.settings.params", "firmware.core.settings", "params"),)
_JUDGING = (
    ("firmware.core.settings.checked_params", "firmware.core.settings", "checked_params"),
    ("firmware.core.settings.writing", "firmware.core.settings", "writing"),
)

_FILE_SIZE = 1152  # bytes that an open file takes in one piece: littlefs's on RP2 takes 1148


def load_stored(board: "Board", held: "Configuration", crc_table: "array[int]") -> "Params":
    """Take the configuration that the board has stored; return the parameters by their names.

    The code that judges it is let go of again before a car's parts are made: an RP2040 has not the
    room for all of it.
    """
    _import_all()
    from firmware.core.settings.params import Params
    from firmware.core.settings.writing import take_stored

    take_stored(board, held, crc_table)
    _forget(_JUDGING)
    return Params(held)


def _import_all() -> None:
    """Import one after another: imports within imports take more stack than a chip has."""
    for modules in (_NAMING, _JUDGING):
        for name, _package, _own in modules:
            __import__(name)


def _forget(modules: "tuple[tuple[str, str, str], ...]") -> None:
    for name, package, own in modules:
        forget(name, package, own)


class Overlay:
    """The handlers of ParameterRead, ParameterWrite and ConfigCommit.

    ``writing`` is None while the code that writes a configuration is not in memory.
    """

    def __init__(
        self,
        board: "Board",
        configuration: "Configuration",
        sessions: "Sessions",
        events: "Events",
        supervisor: "Supervisor",
        receiver: "Receiver",
        outbox: "Outbox",
        actions: "Actions",
        configure: "Callable[[Params], None]",
        crc_table: "array[int]",
    ) -> None:
        self.writing: "Writing | None" = None
        self._board = board
        self._configuration = configuration
        self._sessions = sessions
        self._events = events
        self._supervisor = supervisor
        self._outbox = outbox
        self._actions = actions
        self._configure = configure
        self._crc_table = crc_table
        self._parameter = Parameter()
        self._committed = Committed()
        receiver.route(
            (
                (ParameterRead(), self._read),
                (ParameterWrite(), self._write),
                (ConfigCommit(), self._commit),
            )
        )

    def _read(self, message: ParameterRead, now_us: int) -> None:
        self._configuration.read(message, self._parameter)
        self._outbox.send(self._parameter)

    def _write(self, message: ParameterWrite, now_us: int) -> None:
        reply = self._parameter
        reply.index = message.index
        reply.value = message.value
        reply.result = self._refusal(message.epoch)
        if reply.result == PARAMETER_OK:
            reply.result = self._load()
        if self.writing and reply.result == PARAMETER_OK:
            reply.result = self.writing.write(message)
        self._outbox.send(reply)

    def _commit(self, message: ConfigCommit, now_us: int) -> None:
        """Judge, store and apply the draft; besides a load all that allocates in a step.

        A car of which a part finds no memory for what was stored holds no valid configuration, and
        is in FAULT, until a restart or another commit. That is not a call of its own, which would
        take more of the C stack where an RP2040 has least left.
        """
        reply = self._committed
        reply.where = 0
        reply.result = self._refusal(message.epoch)
        if reply.result != PARAMETER_NOT_BOUND and not self._actions.take():
            reply.result = PARAMETER_BUSY
        if reply.result == PARAMETER_OK:
            reply.result = self._load()
        if self.writing and reply.result == PARAMETER_OK:
            self._board.open_heap()
            try:
                reply.result = self.writing.commit(message, reply)
                params = self.writing.params
                self.let_go()  # whoever is configured finds its room
                if reply.result == PARAMETER_OK:
                    try:
                        self._configure(params)
                        self._events.add(now_us, EVENT_CONFIGURED, params.size, 0)
                    except (MemoryError, ImportError, OSError):  # of a part
                        self._configuration.is_valid = False
                        reply.result = PARAMETER_NOT_TAKEN
            finally:
                self._board.close_heap()
        reply.config_hash = self._configuration.config_hash
        self._outbox.send(reply)

    def _refusal(self, epoch: int) -> int:
        """Return why nothing may be loaded or written now; PARAMETER_OK if nothing objects."""
        if self._sessions.find(epoch) < 0:
            return PARAMETER_NOT_BOUND
        state = self._supervisor.state
        is_armed = self._actions.granted & ARMED  # on this step, whose state is still STANDBY
        if is_armed or (state != STANDBY and state != FAULT):
            return PARAMETER_NOT_NOW
        return PARAMETER_OK if self._actions.is_standing else PARAMETER_MOVING

    def _load(self) -> int:
        """Load what writes a configuration, where ``_refusal`` allows it; return the result.

        Room for the file that it is stored in comes first: after the imports a paired car has no
        block free that is so large. If the load fails, nothing has changed but what may be
        collected.
        """
        if self.writing:
            return PARAMETER_OK
        held = self._configuration
        has_draft = held.draft is not None
        self._board.open_heap()
        try:
            collect()
            room = bytearray(_FILE_SIZE)
            pieces = held.open_draft() if held.draft is None else held.draft
            _import_all()
            from firmware.core.settings.writing import Writing

            self.writing = Writing(self._board, held, self._crc_table, pieces, has_draft, room)
            collect()
        except (MemoryError, ImportError, OSError):
            if not has_draft:
                held.draft = None
            self.let_go()
            return PARAMETER_NOT_LOADED
        finally:
            self._board.close_heap()
        return PARAMETER_OK

    def let_go(self) -> None:
        """Let go of what writes a configuration, and of a draft that waits for no commit.

        Takes nothing from the heap, and leaves the room to be collected.
        """
        if self.writing and not self.writing.has_draft:
            self._configuration.draft = None
        self.writing = None
        _forget(_JUDGING)
        _forget(_NAMING)
