"""An event loop whose time is virtual: what would take a minute takes no time."""

import asyncio


class VirtualLoop(asyncio.SelectorEventLoop):
    """Nobody waits: when nothing is left to do it is later at once. A clock, too."""

    now_s = 1.0

    def time(self):
        return self.now_s

    def now_us(self):
        return round(self.now_s * 1e6)

    def _run_once(self):
        if not self._ready and self._scheduled:
            self.now_s = max(self.now_s, self._scheduled[0].when())
        super()._run_once()
