"""A board's flash in RAM, under a littlefs, whose power is cut at every block write.

Serves a host that says lines of ``repr``: code to run on the board, as over a raw REPL; ``watch``
to have every write from now on cut, before it and half way through it; ``report``; ``start`` to
start the board as it is. After each cut the launcher that the flash then holds is started, and what
that started is counted.
"""

import os
import sys

import vfs

BLOCK = 1024
BLOCKS = 256


class Flash:
    """``on_write`` is told of every write and erase, before it is done, as far as it would get."""

    def __init__(self, blocks):
        self.blocks = blocks
        self.on_write = None

    def readblocks(self, n, buffer, offset=0):
        buffer[:] = self.blocks[n][offset : offset + len(buffer)]

    def writeblocks(self, n, buffer, offset=0):
        data = bytes(buffer)
        if self.on_write:
            self.on_write(n, self._after(n, b"", offset))
            self.on_write(n, self._after(n, data[: len(data) // 2], offset))
        self.blocks[n] = self._after(n, data, offset)

    def _after(self, n, data, offset):
        block = self.blocks[n]
        return block[:offset] + data + block[offset + len(data) :]

    def ioctl(self, op, argument):
        if op == 4:
            return len(self.blocks)
        if op == 5:
            return BLOCK
        if op == 6:
            if self.on_write:
                self.on_write(argument, self.blocks[argument])
            self.blocks[argument] = b"\xff" * BLOCK
        return 0


class Reset(BaseException):
    """Nothing catches it, as nothing catches a reset."""


class Pin:
    OUT = 1

    def __init__(self, pin, mode, value):
        Machine.calls.append((pin, value))


class Machine:
    """As much of ``machine`` as the launcher touches; each call is kept, in order."""

    Pin = Pin
    calls = []  # noqa: RUF012

    @staticmethod
    def WDT(timeout):  # noqa: N802
        Machine.calls.append("watchdog")

    @staticmethod
    def reset():
        raise Reset

    @staticmethod
    def unique_id():
        return b"12345678"


class Bench:
    def __init__(self):
        self.flash = Flash([b"\xff" * BLOCK] * BLOCKS)
        self.counts = []  # what started, how often; a new row whenever it is another

    def cut(self, n, block):
        blocks = list(self.flash.blocks)
        blocks[n] = block
        self.keep(self.started(blocks))

    def keep(self, what):
        if not self.counts or self.counts[-1][0] != what:
            self.counts.append([what, 0])
        self.counts[-1][1] += 1

    def started(self, blocks):
        """What the program says that the launcher starts from this flash; ``waits``, if that
        itself is what is left and it says what to do; ``bare`` without a launcher."""
        os.mount(os.VfsLfs2(Flash(blocks)), "/cut")
        Machine.calls.clear()
        said = sys.modules["said"] = []
        heard = []
        try:
            if "main.py" not in os.listdir("/cut"):
                return "bare"
            sys.modules.pop("launcher", None)
            sys.path.insert(0, "/cut")
            main = {"__name__": "main"}
            with open("/cut/main.py") as file:
                exec(file.read(), main)
            sys.modules["launcher"].print = heard.append
            main["launch"]("/cut")
            said.insert(0, "waits" if "tandem flash brings one" in heard[0] else "REPL")
        except Reset:
            pass
        finally:
            self.forget_program()
            os.umount("/cut")
        if Machine.calls[:1] != [(2, 0)]:
            return "outputs were not made safe"
        return said[0] if said else "nothing"

    def forget_program(self):
        for name in list(sys.modules):
            if name == "pins" or name.startswith("firmware"):
                del sys.modules[name]
        sys.path[:] = [path for path in sys.path if not path.startswith("/cut")]
        try:  # noqa: SIM105 - MicroPython has no contextlib
            vfs.umount("/program")  # as a reset does
        except OSError:  # a bare board
            pass

    def serve(self):
        printed = []
        names = {"print": printed.append}
        while True:
            line = sys.stdin.readline()
            if not line:
                return
            code = eval(line)
            if code == "watch":
                self.flash.on_write = self.cut
            elif code == "report":
                self.flash.on_write = None
                self.keep(self.started(list(self.flash.blocks)))
                printed.append(repr(self.counts))
            elif code == "start":
                printed.append(self.started(self.flash.blocks))
                os.umount("/")
                os.mount(os.VfsLfs2(self.flash), "/")
            else:
                exec(code, names)
            sys.modules.pop("main", None)
            print("=" + repr("\n".join(printed)))
            printed.clear()


def main():
    bench = Bench()
    sys.modules["machine"] = Machine
    os.VfsLfs2.mkfs(bench.flash)
    os.umount("/")
    os.mount(os.VfsLfs2(bench.flash), "/")
    sys.path[:] = ["/"]
    bench.serve()


main()
