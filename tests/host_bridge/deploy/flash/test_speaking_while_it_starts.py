"""A host may speak at any time: whenever a frame reaches a board that starts, the car answers.

For a flashed board, of metal or emulated: $TANDEM_BOARD is a command that resets one, prints the
name of its port as its first line, and keeps it until it is ended. Never run without it.
"""

import os
import shlex
import subprocess
import time

import pytest
import serial

from firmware.protocol.messages import Identify, Identity
from host_bridge.link.protocol import wire

COMMAND = os.environ.get("TANDEM_BOARD", "")
NOISE = bytes((3, 1, 3, 4, 3, 2, 0)) * 4  # Ctrl-C among what else means something to a REPL
TOKEN = 7
WITHIN_S = 120.0  # an emulated board's second may take a minute

pytestmark = pytest.mark.skipif(not COMMAND, reason="$TANDEM_BOARD names no board to be reset")


def answered(port, within_s):
    """The answer to one Identify among noise; None if none came."""
    request = Identify()
    request.token = TOKEN
    decoder = wire.MessageDecoder()
    with serial.Serial(port, timeout=0.1) as line:
        line.write(NOISE + b"\0" + wire.encode(request))
        give_up_s = time.monotonic() + within_s
        while time.monotonic() < give_up_s:
            for heard in decoder.feed(line.read(256)):
                if isinstance(heard, Identity) and heard.token == TOKEN:
                    return heard
    return None


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2])
def test_a_frame_that_comes_while_the_car_starts_is_answered_and_ends_nothing(after_s):
    with subprocess.Popen(
        shlex.split(COMMAND), stdout=subprocess.PIPE, text=True, start_new_session=True
    ) as board:
        try:
            port = board.stdout.readline().strip()
            time.sleep(after_s)
            assert answered(port, WITHIN_S)
        finally:
            board.terminate()
