"""Attackers that are counted: how many there are, and what each did while stops were tried. A run
in which they died, or did nothing, shows nothing, and fails."""

from __future__ import annotations

import mmap
import struct
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, NamedTuple, Protocol, TypeVar

from tests.safety.attackers import logins
from tests.support import patience
from tests.support.evidence import every, some

Result = TypeVar("Result")
_ROW = struct.Struct("=qq")
_LOOK_S = 0.2
# A busy machine lets one of the lowest priority wait, and one that asks may wait for its answer
_IDLE_S = 5.0


class Notes:
    """Two numbers of one attacker, which its test can read: what it did, and what it holds."""

    def __init__(self, memory: mmap.mmap, place: int) -> None:
        self._memory = memory
        self._at = place * _ROW.size

    def did(self, total: int) -> None:
        """So many in all, of whatever it does."""
        self._memory[self._at : self._at + 8] = struct.pack("=q", total)

    def holds(self, count: int) -> None:
        """So many at present, of whatever it holds open."""
        self._memory[self._at + 8 : self._at + _ROW.size] = struct.pack("=q", count)

    def read(self) -> tuple[int, int]:
        """Both."""
        did, held = _ROW.unpack_from(self._memory, self._at)
        return did, held


class Look(NamedTuple):
    """What was seen of all attackers at one moment."""

    at_s: float
    alive: int
    did: tuple[int, ...]
    held: tuple[int, ...]


class Attacker(Protocol):
    """One that attacks: a process of another login, or a page in a browser."""

    def is_running(self) -> bool:
        """Whether it has neither ended nor answered."""

    def answer(self) -> Any:
        """What it ended with. Raises AssertionError with what it complained of."""


class Noted(Protocol):
    """Where it is read what one attacker did in all, and what it holds at present."""

    def read(self) -> tuple[int, int]: ...


class Attack:
    """Attackers that attack until it is over; ``who`` says in the plural what they are."""

    def __init__(
        self,
        works: Sequence[Attacker],
        notes: Sequence[Noted],
        who: str,
        most_idle_s: float | None = None,
    ) -> None:
        self._most_idle_s = most_idle_s
        self._works = works
        self._notes = notes
        self._who = who
        self.looks: list[Look] = []

    def has_begun(self) -> bool:
        """Whether each has done something. Raises AssertionError with what one complained of."""
        for work in self._works:
            assert work.is_running(), work.answer()
        return every(it.read()[0] > 0 for it in self._notes)

    def beside(self, tried: Callable[[], Result]) -> Result:
        """Do this beside the attack, and look at it meanwhile. Raises AssertionError unless all
        attackers were alive and at work from its begin to its end, and patience.NotMeasured where
        it was over so soon that a busy machine had not let one of them run."""
        is_over = threading.Event()
        watching = threading.Thread(target=self._watch, args=(is_over,), daemon=True)
        self.looks = [self._look()]
        watching.start()
        try:
            result = tried()
        finally:
            is_over.set()
            watching.join()
            self.looks.append(self._look())
        self._judge()
        return result

    def told(self, deeds: str) -> str:
        """Say in one line who they were and what they did."""
        first, last = self.looks[0], self.looks[-1]
        did = sum(last.did) - sum(first.did)
        return (
            f"{len(self._works)} {self._who}, {self.alive} alive at the least "
            f"of {len(self.looks)} looks; {did} {deeds} in {last.at_s - first.at_s:.1f} s, "
            f"{min(sum(it.held) for it in self.looks)} held at the least"
        )

    @property
    def alive(self) -> int:
        """How many were alive at each look."""
        return min(it.alive for it in self.looks)

    def _watch(self, is_over: threading.Event) -> None:
        while not is_over.wait(_LOOK_S):
            self.looks.append(self._look())

    def _look(self) -> Look:
        rows = [it.read() for it in self._notes]
        alive = sum(work.is_running() for work in self._works)
        did, held = zip(*rows, strict=True)
        return Look(time.monotonic(), alive, did, held)

    def _judge(self) -> None:
        assert self.alive == len(self._works), self.told("deeds")
        most_s = _IDLE_S if self._most_idle_s is None else self._most_idle_s
        for place in some(range(len(self._works))):
            assert idle_s(self.looks, place) < most_s, (place, self.told("deeds"))
            if self.looks[-1].did[place] == self.looks[0].did[place]:
                raise patience.NotMeasured(f"over before it was let run: {self.told('deeds')}")


def idle_s(looks: list[Look], place: int) -> float:
    """For how long at most this attacker did nothing."""
    longest_s, since = 0.0, looks[0]
    for look in looks[1:]:
        longest_s = max(longest_s, look.at_s - since.at_s)
        if look.did[place] > since.did[place]:
            since = look
    return longest_s


@contextmanager
def attacking(
    count: int, does: Callable[..., Any], *args: Any, uid: int = logins.ATTACKER
) -> Iterator[Attack]:
    """Have so many processes do this, each with notes of its own, from when all have begun until
    they are killed."""
    with mmap.mmap(-1, count * _ROW.size) as memory, ExitStack() as stack:
        notes = [Notes(memory, place) for place in range(count)]
        works = [stack.enter_context(logins.working(uid, does, it, *args)) for it in notes]
        attack = Attack(works, notes, f"process(es) of login {uid}")
        patience.until(attack.has_begun, "the attack", 60.0)
        yield attack
