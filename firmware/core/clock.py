"""The clock measures the offset from this board's clock to that of each session, and its error.

The problem. A claim says when it was decided, by the clock of its session. The board has to know
how old that is, to a fraction of a lease. Both clocks count microseconds modulo 2**30, began at
different moments, and drift apart by up to 100 ppm, which is 6 ms in a minute. The line between
them takes an unknown time that differs from frame to frame.

The method is Cristian's (1989), with the board as the one who asks. Each Status carries the board's
time. The host notes when it came and when its answer, a Sync, left, both by its own clock. When the
answer arrives the board has four times. Away is its own time from sending to hearing; held is the
host's time from receiving to sending. Their difference is the time on the line, both ways. How it
is divided between the two ways nobody can know. Taking the middle is wrong by half of it at most,
and that half, plus a grain for what lies between a stamp and its byte, is the bound. A Status is
stamped as its step begins and leaves as it ends; ``Sessions.left_us`` knows that wait, which is no
time on the line.

So a short round trip is a good measurement, whatever the others were. The smallest bound wins. It
grows by the drift while it ages, until a new measurement, though worse than it was at first, is
better than what it has become. A bound that grows past UNKNOWN_US is no knowledge at all, and
claims are refused while it is worse than the vehicle file allows.

An offset that jumps by more than both bounds together cannot be explained by the line. Then one of
the clocks was set, or a host was suspended and lies about when it answered. While somebody drives
by that clock this is a stop cause.

What it cannot see. A host that stamps old decisions anew is believed, because nothing on the board
knows when a person decided. A line whose two ways differ always by the same amount shifts the
offset by half of that; the bound covers it. Promises S2, S7 and S9 rest on this file.
"""

from firmware.compat import array, micropython
from firmware.core.deadlines import elapsed_us, shifted_us
from firmware.protocol.frame import CRC_SIZE

SLOTS = 4  # for hosts
OWN = SLOTS  # the board's own session, for what its own receiver claims
UNKNOWN_US = 65535
const = micropython.const

_DRIFT = const(10_000)  # 1/10000: 100 ppm between two crystals, each twice as bad as usual
_GRAIN_US = const(100)  # interrupts and scheduling between a stamp and its byte
_STALE_US = const(3_000_000)  # a session not heard for this long may lose its slot
_STAMPS = const(8)  # of four Statuses: the answer to an older one is too late to be any better


class Session:
    """One host's session: its epoch, clock offset, and running CRC over its accepted claims."""

    def __init__(self) -> None:
        self.epoch = 0  # none
        self.offset_us = 0
        self.bound_us = UNKNOWN_US
        self._sampled_bound_us = UNKNOWN_US
        self._sampled_us = 0
        self.heard_us = 0
        self.is_stale = True
        self.step_us = 0
        self.claim_crc = bytearray(CRC_SIZE)
        self.claim_count = 0
        self.claim_sequence = 0

    def restart(self, epoch: int, now_us: int) -> None:
        if epoch != self.epoch:
            self.epoch = epoch
            self.bound_us = self._sampled_bound_us = UNKNOWN_US
        self.hear(now_us)
        self.claim_count = 0
        for i in range(CRC_SIZE):
            self.claim_crc[i] = 0

    def hear(self, now_us: int) -> None:
        self.heard_us = now_us
        self.is_stale = False

    def session_us(self, now_us: int) -> int:
        return shifted_us(now_us, self.offset_us)

    def sample(self, now_us: int, board_us: int, received_us: int, sent_us: int) -> bool:
        """Update offset and bound from one Sync; return False if the clock was seen to step."""
        away_us = elapsed_us(now_us, board_us)
        held_us = elapsed_us(sent_us, received_us)
        trip_us = away_us - held_us
        if held_us < 0 or trip_us < 0 or trip_us > 2 * UNKNOWN_US - 2 * _GRAIN_US - 2:
            return True  # nonsense or too slow to learn from
        bound_us = trip_us // 2 + _GRAIN_US
        at_board_us = shifted_us(board_us, away_us // 2)
        at_host_us = shifted_us(received_us, held_us // 2)
        offset_us = elapsed_us(at_host_us, at_board_us)
        self.step_us = elapsed_us(offset_us, self.offset_us) if self.bound_us < UNKNOWN_US else 0
        stepped = abs(self.step_us) > bound_us + self.bound_us and self.bound_us < UNKNOWN_US
        if stepped or bound_us <= self.bound_us:
            self.offset_us = offset_us
            self.bound_us = self._sampled_bound_us = bound_us
            self._sampled_us = now_us
        return not stepped

    def step(self, now_us: int) -> None:
        if elapsed_us(now_us, self.heard_us) > _STALE_US:
            self.is_stale = True
        bound_us = self.bound_us
        if bound_us >= UNKNOWN_US:
            return
        aged_us = self._sampled_bound_us + elapsed_us(now_us, self._sampled_us) // _DRIFT
        self.bound_us = aged_us if bound_us <= aged_us < UNKNOWN_US else UNKNOWN_US


class Sessions:
    """The session slots: four for hosts, found by their epoch, and the board's own, never bound.

    They also keep when the newest Statuses left. A Status is stamped as its step begins and leaves
    as the step ends, on an RP2040 half a beat later. Uncorrected that wait would count as time on
    the line.
    """

    def __init__(self, own_epoch: int) -> None:
        self.slots = tuple(Session() for _ in range(SLOTS + 1))
        self._hosts = self.slots[:SLOTS]
        self._stamps_us = array("i", [0] * _STAMPS)  # stamp, wait, stamp, wait ...
        self._at = 0
        own = self.slots[OWN]
        own.epoch = own_epoch
        own.bound_us = 0
        own.is_stale = False

    @micropython.native
    def find(self, epoch: int) -> int:
        """Return the slot of this epoch, or -1."""
        slot = 0
        for session in self._hosts:
            if session.epoch == epoch:
                return slot
            slot += 1
        return -1

    def bind(self, epoch: int, now_us: int) -> int:
        """Give this epoch a slot, its own, a free or a stale one; return it, -1 without any."""
        slot = self.find(epoch)
        if slot < 0 and epoch != self.slots[OWN].epoch:
            slot = self._free()
        if slot >= 0:
            self.slots[slot].restart(epoch, now_us)
        return slot

    def leave(self, epoch: int, now_us: int) -> int:
        """Free this epoch's slot for another; return which one it was, or -1 if it had none."""
        slot = self.find(epoch)
        if slot >= 0:
            self.slots[slot].restart(0, now_us)
        return slot

    def _free(self) -> int:
        for i in range(SLOTS):
            if self.slots[i].epoch == 0:
                return i
        for i in range(SLOTS):
            if self.slots[i].is_stale:
                return i
        return -1

    @micropython.native
    def step(self, now_us: int, ran_us: int = 0) -> None:
        """Note this step's stamp and the run time of the step before; age the sessions."""
        stamps, at = self._stamps_us, self._at
        stamps[at + 1] = ran_us
        at = at + 2 & _STAMPS - 1
        stamps[at] = now_us
        stamps[at + 1] = 0
        self._at = at
        for session in self._hosts:
            if session.epoch:  # else the slot is free
                session.step(now_us)

    def left_us(self, stamp_us: int) -> int:
        """Return when the Status of this stamp left, at the earliest; its stamp if not known."""
        for i in range(0, _STAMPS, 2):
            if self._stamps_us[i] == stamp_us:
                return shifted_us(stamp_us, self._stamps_us[i + 1])
        return stamp_us
