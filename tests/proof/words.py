"""The alphabet: what may be said to a car, and how each is put into a message for a given car."""

from dataclasses import dataclass, field
from typing import Any

from firmware.app import App
from firmware.protocol import codes, messages
from firmware.protocol.boxes import BoxWord
from firmware.protocol.codec import Message, fill_values
from firmware.protocol.to_board import Bind, Sync
from tests.firmware.core.desk import parameters_of
from tests.proof.car import boxes
from tests.proof.promises import ARM, CAP, CLEAR, DISARM, Rights

EPOCHS = (77, 78, 99)  # two hosts that are bound, and a stranger
BOX = codes.STOP_SOURCE_RUNSTOP_BOX
LEASE_MS = 110
OLDER = 2  # a nonce that was never the newest one


@dataclass(frozen=True)
class Word:
    """One thing that may happen before a step's end: a message, or something of time."""

    name: str
    # claim, ask, confirm, command, draft, commit, stop, box, answer, bind, sync, lost, known,
    # stale, late
    kind: str
    session: int = 0
    place: int = 0  # of the source, in the vehicle's table
    deadman: int = 0
    speed: int = 0
    mask: int = codes.STEERING_BIT | codes.DRIVE_BIT
    is_new: bool = True
    lease_ms: int = LEASE_MS
    action: int = 0
    value: int = 0
    config: int = 0
    is_newest: bool = True
    answer: str = boxes.RIGHT  # of a runstop box; which of its starts is in ``session``


def claims(place: int, who: str, speed: int, session: int = 0, still: bool = False) -> list[Word]:
    """What a person's source says: nothing held, held in neutral, and with throttle."""
    held = codes.HELD
    found = [
        Word(f"{who} lets go", "claim", session, place),
        Word(f"{who} holds in neutral", "claim", session, place, held),
        Word(f"{who} drives", "claim", session, place, held, speed),
    ]
    if still:
        found.append(Word(f"{who} drives, unmoved", "claim", session, place, held, speed, False))
    return found


def two_steps(
    what: str, action: int, value: int = 0, session: int = 0, config: int = 0
) -> list[Word]:
    """A request and its confirmation."""
    who = "" if session == 0 else f" by host {session}"
    numbers = "" if config == 0 else " of the other numbers"
    found = [] if config else [Word(f"ask {what}{who}", "ask", session, action=action, value=value)]
    confirm = f"confirm {what}{numbers}{who}"
    return [*found, Word(confirm, "confirm", session, action=action, value=value, config=config)]


def arm(profile: int, session: int = 0, config: int = 0) -> list[Word]:
    return two_steps(f"arm {('stand', 'track', 'race')[profile]}", ARM, profile, session, config)


def clear(session: int = 0) -> list[Word]:
    return two_steps("clear", CLEAR, 0, session)


DISARM_WORD = Word("disarm", "command", action=DISARM)
STOP = Word("Stop of a stranger", "stop", 2)
COMMIT = Word("commit the same", "commit")
STALE_CONFIRM = Word(
    "confirm arm track, older nonce", "confirm", action=ARM, value=1, is_newest=False
)


def cap(mm_s: int, name: str) -> Word:
    return Word(f"cap {name}", "command", action=CAP, value=mm_s)


def box(session: int = 1) -> list[Word]:
    return [
        Word("box says run", "box", session, value=1),
        Word("box says stop", "box", session, value=0),
    ]


def answers() -> list[Word]:
    """What boxes say to a car that was paired with one of them."""
    run, stop = "says run", "says stop"
    return [
        Word(f"its box {run}", "answer", value=1),
        Word(f"its box {stop}", "answer"),
        Word(f"another car's box {run}", "answer", value=1, answer=boxes.UNAUTHENTICATED),
        Word(f"another car's box {stop}", "answer", answer=boxes.UNAUTHENTICATED),
        Word(f"its box, begun anew, {run}", "answer", session=1, value=1),
        Word(f"its box's last word again, {run}", "answer", value=1, answer=boxes.AGAIN),
        Word(f"its box's old answer, {run}", "answer", value=1, answer=boxes.OLD),
        Word(f"its box's old answer, {stop}", "answer", answer=boxes.OLD),
        Word(f"its box answers before it was asked, {run}", "answer", value=1, answer=boxes.AHEAD),
        Word(f"an answer to its earlier start, {run}", "answer", value=1, answer=boxes.EARLIER),
        Word(f"a box without a key {run}", "answer", value=1, answer=boxes.BARE),
    ]


@dataclass
class Numbers:
    """Two configurations that differ in one number: where, its values, their hashes."""

    index: int
    values: tuple[int, int]
    hashes: tuple[bytes, bytes]
    name: bytes

    @classmethod
    def of(cls, app: App, index: int, other: int) -> "Numbers":
        params = parameters_of(app)
        kept, hashed = params.values[index], bytearray(4)
        params.values[index] = other
        params.hash_into(hashed)
        params.values[index] = kept
        hashes = (bytes(params.config_hash), bytes(hashed))
        return cls(index, (kept, other), hashes, bytes(params.car_name))

    def now(self, app: App) -> int:
        return 0 if app.configuration.config_hash == self.hashes[0] else 1


@dataclass
class Speaker:
    """Puts words into messages: numbered as the car expects them, with the newest nonce."""

    app: App
    sources: tuple[Rights, ...]
    numbers: Numbers
    nonce: int = 1
    _made: dict[str, Message] = field(default_factory=dict)

    def message(self, word: Word, now_us: int) -> Any:
        """The message of this word, now; the same object each time."""
        made = self._made.get(word.name)
        if made is None:
            made = self._made[word.name] = _MAKERS[word.kind](self, word)
        self._renew(made, word, now_us)
        fill_values(made)
        return made

    def _renew(self, made: Any, word: Word, now_us: int) -> None:
        kind, app = word.kind, self.app
        if kind == "claim":
            source = app.arbiter.sources[self.sources[word.place].number]
            made.sequence = source.sequence + 1 & 0xFFFF
            made.input_count = source.input_count ^ word.is_new
            made.stamp_us = now_us
        elif kind == "box":
            made.sequence = app.stop_sources.all[BOX].sequence + 1 & 0xFFFF
            made.stamp_us = now_us
        elif kind == "answer":
            boxes.fill_word(made, app, word.answer, word.session, word.value, now_us)
        elif kind == "confirm":
            made.nonce = self.nonce if word.is_newest else self.nonce ^ OLDER
        elif kind in ("ask", "command"):
            made.config_hash[:] = app.configuration.config_hash
        elif kind == "sync":
            made.board_us = now_us - 1000
            made.received_us = made.sent_us = now_us - 500


def _filled(made: Any, word: Word, **fields: Any) -> Any:
    if hasattr(made, "epoch") and not isinstance(made, BoxWord):
        made.epoch = EPOCHS[word.session]
    for name, value in fields.items():
        if isinstance(value, bytes | bytearray):
            getattr(made, name)[:] = value
        else:
            setattr(made, name, value)
    return made


def _claim(speaker: Speaker, word: Word) -> Any:
    return _filled(
        messages.Claim(), word, source=speaker.sources[word.place].number, mask=word.mask,
        speed_mm_s=word.speed, deadman=word.deadman, lease_ms=word.lease_ms,
    )  # fmt: skip


def _act(speaker: Speaker, word: Word) -> Any:
    return _filled(
        messages.Act(), word, action=word.action, sender=codes.SENDER_COMMAND, value=word.value,
        config_hash=speaker.numbers.hashes[word.config],
    )  # fmt: skip


def _commit(speaker: Speaker, word: Word) -> Any:
    return _filled(
        messages.ConfigCommit(), word, config_hash=speaker.numbers.hashes[word.config],
        car_name=speaker.numbers.name,
    )  # fmt: skip


def _draft(speaker: Speaker, word: Word) -> Any:
    numbers = speaker.numbers
    value = numbers.values[word.config]
    return _filled(messages.ParameterWrite(), word, index=numbers.index, value=value)


def _stop(speaker: Speaker, word: Word) -> Any:
    return _filled(messages.Stop(), word, token=1, sender=codes.SENDER_COMMAND)


def _box(speaker: Speaker, word: Word) -> Any:
    return _filled(messages.Alive(), word, stop_source=BOX, runs=word.value)


def _answer(speaker: Speaker, word: Word) -> Any:
    return _filled(BoxWord(), word)


def _bind(speaker: Speaker, word: Word) -> Any:
    return _filled(Bind(), word, protocol_hash=bytes(speaker.app.dispatcher._own_hash))


def _sync(speaker: Speaker, word: Word) -> Any:
    return _filled(Sync(), word)


_MAKERS = {
    "claim": _claim, "ask": _act, "confirm": _act, "command": _act, "draft": _draft,
    "commit": _commit, "stop": _stop, "box": _box, "answer": _answer, "bind": _bind, "sync": _sync,
}  # fmt: skip
