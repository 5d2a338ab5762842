"""The way into hardware in the loop: asked for by name, granted only where nothing can move."""

from firmware.compat import TYPE_CHECKING
from firmware.protocol.codes import FAULT, STANDBY, STOPPED
from firmware.protocol.enter_hitl import EnterHitl

if TYPE_CHECKING:
    from firmware.app import App


class Door:
    """``is_asked`` once a host has named this very board, and it could not move."""

    def __init__(self, app: "App") -> None:
        self.is_asked = False
        self._app = app
        app.receiver.route(((EnterHitl(), self._knock),))

    def _knock(self, message: EnterHitl, now_us: int) -> None:
        app = self._app
        state = app.supervisor.state
        is_idle = state == STANDBY or state == STOPPED or state == FAULT
        is_still = app.actions.is_standing and not app.is_enabled
        is_meant = message.board_id == app.board.board_id
        if is_idle and is_still and is_meant and app.actions.take():
            self.is_asked = True
