"""Taking, drafting and committing a configuration, in a car that may not move.

It is in memory at the start, and from a first write to a commit or an arm: see overlay.py.
"""

from firmware.compat import TYPE_CHECKING
from firmware.core.settings.checked_params import CheckedParams
from firmware.core.settings.configuration import draft
from firmware.protocol.codes import (
    PARAMETER_INVALID,
    PARAMETER_NOT_LOADED,
    PARAMETER_NOT_STORED,
    PARAMETER_OK,
    PARAMETER_OUT_OF_RANGE,
    PARAMETER_UNKNOWN,
)

if TYPE_CHECKING:
    from firmware.compat import array
    from firmware.core.contract import Board
    from firmware.core.settings.configuration import Configuration
    from firmware.protocol.messages import Committed, ConfigCommit, ParameterWrite


def take_stored(board: "Board", held: "Configuration", crc_table: "array[int]") -> None:
    """Take what the board has stored; if that is not whole, the defaults stay and are not valid."""
    params = CheckedParams(crc_table, held)
    image = bytearray(params.image_size())
    read = board.load_into(image)
    held.is_valid = read == len(image) and params.read_image(image)
    if not held.is_valid and board.own_beat_us:
        params.values[params.index("step_us")] = board.own_beat_us
    _judge(board, held, params)


def _judge(board: "Board", held: "Configuration", params: CheckedParams) -> int:
    """Set whether the values are valid and this board's own; return the first wrong one, or -1."""
    wrong = params.first_wrong()
    if wrong < 0:
        wrong = params.first_unsafe(board.is_virtual)
    held.is_valid = held.is_valid and wrong < 0
    at = params.index("board_id")
    held.is_ours = True
    for i in range(4):
        own = board.board_id[2 * i] | board.board_id[2 * i + 1] << 8
        held.is_ours = held.is_ours and params.values[at + i] == own
    return wrong


class Writing:
    """A draft of the configuration that is written value by value and then committed.

    ``pieces`` are the configuration's draft, which is open. ``has_draft`` is True while something
    was written that is not committed; that draft outlives this object. ``room`` is let go of where
    the file is opened that the configuration is stored in.
    """

    def __init__(
        self,
        board: "Board",
        configuration: "Configuration",
        crc_table: "array[int]",
        pieces: "list[bytearray]",
        has_draft: bool,
        room: bytearray,
    ) -> None:
        self.params = CheckedParams(crc_table, configuration)
        self.has_draft = has_draft
        self._board = board
        self._configuration = configuration
        self._pieces = pieces
        self._room: "bytearray | None" = room

    def write(self, request: "ParameterWrite") -> int:
        """Change one value of the draft; return the result."""
        if request.index >= self.params.size:
            return PARAMETER_UNKNOWN
        if not self.params.is_in_range(request.index, request.value):
            return PARAMETER_OUT_OF_RANGE
        draft(self._pieces, request.index, request.value)
        self.has_draft = True
        return PARAMETER_OK

    def commit(self, request: "ConfigCommit", reply: "Committed") -> int:
        """Make the draft the configuration and store it; return the result.

        After PARAMETER_OK whoever uses parameters must configure. After any other result all is as
        it was, also where memory ran out; ``reply`` tells the first wrong value, and a draft that
        has one is not kept.
        """
        held, params = self._configuration, self.params
        try:
            hash_before = bytes(params.config_hash)
            name_before = bytes(params.car_name)
        except MemoryError:
            return PARAMETER_NOT_LOADED
        was_valid, was_ours = held.is_valid, held.is_ours
        try:
            result = self._take(request, reply, hash_before if was_valid else b"")
        except MemoryError:
            result = PARAMETER_NOT_LOADED
        if result != PARAMETER_OK:
            params.car_name[:] = name_before
            params.config_hash[:] = hash_before
            held.is_valid, held.is_ours = was_valid, was_ours
        return result

    def _take(self, request: "ConfigCommit", reply: "Committed", stored_hash: bytes) -> int:
        """Judge the draft in the place of the values, store it, and only then take it.

        So no copy of the values is needed: a paired car has no room for one.
        """
        held, params, pieces = self._configuration, self.params, self._pieces
        params.swap_draft(pieces)
        try:
            params.car_name[:] = request.car_name
            params.hash_into(params.config_hash)
            held.is_valid = params.config_hash == request.config_hash
            wrong = _judge(self._board, held, params)
        finally:
            params.swap_draft(pieces)
        if wrong >= 0:
            reply.where = wrong
            self.has_draft = False
        if not (held.is_valid and held.is_ours):
            return PARAMETER_INVALID
        if params.config_hash != stored_hash:
            self._room = None
            if not self._board.save(params.image_of(pieces)):
                return PARAMETER_NOT_STORED
        params.swap_draft(pieces)
        self.has_draft = False
        return PARAMETER_OK
