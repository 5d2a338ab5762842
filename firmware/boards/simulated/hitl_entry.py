"""The entry to hardware in the loop: asked for by board id, granted only where nothing can move."""

from firmware.compat import TYPE_CHECKING
from firmware.protocol.codes import FAULT, STANDBY, STOPPED
from firmware.protocol.enter_hitl import EnterHitl

if TYPE_CHECKING:
    from firmware.core.arbitration.actions import Actions
    from firmware.core.link.receiver import Receiver
    from firmware.core.motion.outputs import OutputStage
    from firmware.core.supervisor import Supervisor


class HitlEntry:
    """The handler of EnterHitl: ``is_asked`` once a host named this board, which could not move."""

    def __init__(
        self,
        receiver: "Receiver",
        supervisor: "Supervisor",
        actions: "Actions",
        output_stage: "OutputStage",
        board_id: bytes,
    ) -> None:
        self.is_asked = False
        self._supervisor = supervisor
        self._actions = actions
        self._output_stage = output_stage
        self._board_id = board_id
        receiver.route(((EnterHitl(), self._knock),))

    def _knock(self, message: EnterHitl, now_us: int) -> None:
        state = self._supervisor.state
        is_idle = state == STANDBY or state == STOPPED or state == FAULT
        is_still = self._actions.is_standing and not self._output_stage.is_enabled
        is_meant = message.board_id == self._board_id
        if is_idle and is_still and is_meant and self._actions.take():
            self.is_asked = True
