"""``tandem`` with virtual cars that say that they are real: their board's word alone decides."""

import sys

from firmware.boards.simulated.virtual import VirtualBoard
from host_bridge.cli.main import main

begun = VirtualBoard.__init__


def begin(self, *arguments):
    begun(self, *arguments)
    self.is_virtual = 0


VirtualBoard.__init__ = begin
sys.exit(main())
