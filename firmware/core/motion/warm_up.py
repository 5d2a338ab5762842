"""The warm-up: for a time after power-up the car only stands in neutral, in which ESCs arm."""

from firmware.compat import TYPE_CHECKING
from firmware.core.deadlines import Deadline

if TYPE_CHECKING:
    from firmware.core.settings.params import Params


class WarmUp:
    def __init__(self) -> None:
        self._left = Deadline()
        self._for_us = 0
        self._has_begun = False

    def configure(self, params: "Params") -> None:
        self._for_us = params.get("start_ms") * 1000

    def is_over(self, now_us: int) -> bool:
        """Return whether ``start_ms`` have passed since the first call; once over it stays over."""
        if not self._has_begun:
            self._has_begun = True
            self._left.set(now_us, self._for_us)
        left = self._left
        if left.is_open:
            left.step(now_us)
        return not left.is_open
