"""Reading, drafting and committing the configuration, in a car that may not move."""

from firmware.compat import TYPE_CHECKING
from firmware.core.params import draft, drafted
from firmware.protocol.codes import (
    FAULT,
    PARAMETER_BUSY,
    PARAMETER_INVALID,
    PARAMETER_MOVING,
    PARAMETER_NOT_BOUND,
    PARAMETER_NOT_NOW,
    PARAMETER_NOT_STORED,
    PARAMETER_OK,
    PARAMETER_OUT_OF_RANGE,
    PARAMETER_UNKNOWN,
    STANDBY,
)

if TYPE_CHECKING:
    from firmware.boards.contract import Board
    from firmware.core.actions import Actions
    from firmware.core.clock import Sessions
    from firmware.core.params import Params
    from firmware.protocol.messages import (
        Committed,
        ConfigCommit,
        Parameter,
        ParameterRead,
        ParameterWrite,
    )


class Configuration:
    def __init__(self, board: "Board", params: "Params", sessions: "Sessions") -> None:
        self.params = params
        self.is_valid = False
        self.is_ours = False
        self._board = board
        self._sessions = sessions
        self._image = bytearray(params.image_size())  # its values are the draft

    def load(self) -> None:
        """Take what the board has stored; otherwise the defaults stay, and are not valid."""
        read = self._board.load_into(self._image)
        self.is_valid = read == len(self._image) and self.params.read_image(self._image)
        if not self.is_valid and self._board.own_beat_us:
            self.params.values[self.params.index("step_us")] = self._board.own_beat_us
        self._judge()
        self.params.draft_into(self._image)

    def _judge(self) -> int:
        wrong = self.params.first_wrong()
        if wrong < 0:
            wrong = self.params.first_unsafe(self._board.is_virtual)
        self.is_valid = self.is_valid and wrong < 0
        at = self.params.index("board_id")
        self.is_ours = True
        for i in range(4):
            own = self._board.board_id[2 * i] | self._board.board_id[2 * i + 1] << 8
            self.is_ours = self.is_ours and self.params.values[at + i] == own
        return wrong

    def read(self, request: "ParameterRead", reply: "Parameter") -> None:
        reply.index = request.index
        is_known = request.index < self.params.size
        reply.value = drafted(self._image, request.index) if is_known else 0
        reply.result = PARAMETER_OK if is_known else PARAMETER_UNKNOWN

    def write(self, request: "ParameterWrite", reply: "Parameter", state: int) -> None:
        reply.index = request.index
        reply.value = request.value
        reply.result = self._refusal(request.epoch, state)
        if reply.result != PARAMETER_OK:
            return
        if request.index >= self.params.size:
            reply.result = PARAMETER_UNKNOWN
        elif not self.params.is_in_range(request.index, request.value):
            reply.result = PARAMETER_OUT_OF_RANGE
        else:
            draft(self._image, request.index, request.value)

    def _refusal(self, epoch: int, state: int) -> int:
        if self._sessions.find(epoch) < 0:
            return PARAMETER_NOT_BOUND
        if state not in (STANDBY, FAULT):
            return PARAMETER_NOT_NOW
        return PARAMETER_OK

    def commit(
        self, request: "ConfigCommit", reply: "Committed", state: int, actions: "Actions"
    ) -> bool:
        """True if the draft became the configuration: whoever uses parameters must configure."""
        reply.where = 0
        reply.result = self._refusal(request.epoch, state)
        if reply.result != PARAMETER_NOT_BOUND and not actions.take():
            reply.result = PARAMETER_BUSY
        elif reply.result == PARAMETER_OK and not actions.is_standing:
            reply.result = PARAMETER_MOVING
        if reply.result == PARAMETER_OK:
            reply.result = self._take(request, reply)
        reply.config_hash[:] = self.params.config_hash
        return reply.result == PARAMETER_OK

    def _take(self, request: "ConfigCommit", reply: "Committed") -> int:
        before = list(self.params.values)
        hash_before = bytes(self.params.config_hash)
        name_before = bytes(self.params.car_name)
        was_valid = self.is_valid
        self.params.take_draft(self._image)
        self.params.car_name[:] = request.car_name
        size = self.params.write_image(self._image)
        self.is_valid = self.params.config_hash == request.config_hash
        wrong = self._judge()
        is_stored = was_valid and self.params.config_hash == hash_before
        if self.is_valid and self.is_ours and (is_stored or self._board.save(self._image, size)):
            return PARAMETER_OK
        result = PARAMETER_NOT_STORED if self.is_valid and self.is_ours else PARAMETER_INVALID
        reply.where = max(wrong, 0)
        self.params.values[:] = before
        self.params.car_name[:] = name_before
        self.params.hash_into(self.params.config_hash)
        self.is_valid = was_valid
        self._judge()
        if wrong >= 0:  # nobody is to read it for what the car holds
            self.params.draft_into(self._image)
        return result
