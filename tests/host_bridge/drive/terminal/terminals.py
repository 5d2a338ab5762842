"""The far end of `tandem drive`: a terminal, simulated at the other side of a pseudo-terminal."""

import json
import os
import pty
import select
import subprocess
import sys
import termios
import threading
import time

from tests.support import patience

LIMIT_S = 20.0
PRESS, RELEASE = b"\x1b[32;1:1u", b"\x1b[32;1:3u"


class Far:
    """Kitty's protocol or none; ``answers`` may be turned off: it froze."""

    def __init__(self, *, knows_kitty):
        self.master, self.slave = pty.openpty()
        self.knows_kitty = knows_kitty
        self.answers = True
        self.flags = [0]
        self.seen = b""
        self._rest = b""
        self._is_open = True
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def type(self, data):
        os.write(self.master, data)

    def local_mode(self):
        return termios.tcgetattr(self.slave)[3]

    def close(self):
        if self._is_open:
            self._is_open = False
            self._thread.join()
            os.close(self.master)
            os.close(self.slave)

    def _run(self):
        while self._is_open:
            if select.select([self.master], [], [], 0.02)[0]:
                data = os.read(self.master, 65536)
                self.seen += data
                self._hear(data)

    def _hear(self, data):
        """Enough of a terminal for the program: what it asks and pushes ends with u or c."""
        self._rest += data
        while b"\x1b[" in self._rest:
            start = self._rest.index(b"\x1b[") + 2
            end = start
            while end < len(self._rest) and not 0x40 <= self._rest[end] <= 0x7E:
                end += 1
            if end == len(self._rest):
                return
            self._obey(self._rest[start : end + 1])
            self._rest = self._rest[end + 1 :]

    def _obey(self, sequence):
        if sequence == b"c" and self.answers:
            self.type(b"\x1b[?62;c")
        elif sequence.endswith(b"u") and self.knows_kitty:
            self._kitty(sequence)

    def _kitty(self, sequence):
        if sequence.startswith(b"?") and self.answers:
            self.type(b"\x1b[?%du" % self.flags[-1])
        elif sequence.startswith(b">"):
            self.flags.append(int(sequence[1:-1]))
        elif sequence.startswith(b"<") and len(self.flags) > 1:
            self.flags.pop()


class Program:
    """`tandem drive` or another as a process in a terminal, its JSON read as it comes."""

    def __init__(self, far, folder, *words, is_json=True, command="drive"):
        self.far = far
        self.rows = []
        self.summary = None
        line = [sys.executable, "-m", "host_bridge.cli.main", command, *words]
        self.process = subprocess.Popen(
            line + (["--json"] if is_json else []),
            stdin=far.slave if far else subprocess.DEVNULL,
            stdout=subprocess.PIPE if is_json else far.slave,
            stderr=subprocess.PIPE,
            env={**os.environ, "TANDEM_RUNTIME_DIR": str(folder)},
            start_new_session=True,
        )
        if is_json:
            self._reader = threading.Thread(target=self._read, daemon=True)
            self._reader.start()

    def until(self, is_so, what):
        """Wait until it is so.

        Raises AssertionError where the program goes on telling and it is not, for its car may have
        stopped on a machine that was late; patience.Hang where it fell silent.
        """
        deadline, told = patience.Deadline(LIMIT_S), len(self.rows)
        while not is_so():
            if deadline.is_over():
                fault = AssertionError if len(self.rows) > told else patience.Hang
                raise fault(f"waited in vain: {what}, {deadline.told()}; {self.rows[-1:]}")
            assert self.process.poll() is None or is_so(), self.process.stderr.read()
            time.sleep(0.01)

    def until_state(self, state):
        self.until(lambda: self.latest("state") == state, state)

    def latest(self, field):
        return self.rows[-1].get(field) if self.rows else None

    def end(self):
        """Returns the exit code and what was said."""
        code = patience.wait(self.process, LIMIT_S)
        if self.process.stdout:
            self._reader.join()
        return code, self.process.stderr.read().decode()

    def _read(self):
        for line in self.process.stdout:
            row = json.loads(line)
            if "summary" in row:
                self.summary = row["summary"]
            else:
                self.rows.append(row)
