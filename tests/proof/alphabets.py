"""The alphabets: each small enough to be searched to its end, together all that may be said."""

from dataclasses import replace

from firmware.protocol import codes
from tests.proof import words
from tests.proof.car.machine import ROLLING, SPEED, Alphabet
from tests.proof.promises import NO_CAP, Rights
from tests.proof.rules import Inputs
from tests.proof.words import COMMIT, DISARM_WORD, STOP, Word

STAND, TRACK, RACE = codes.PROFILE_STAND, codes.PROFILE_TRACK, codes.PROFILE_RACE
QUIET = Inputs("quiet")
OPEN_LOOP = Inputs("the loop is open", loop_closed=False)
ROLLS = Inputs("rolling", speed=ROLLING)
ROLLS_OPEN = Inputs("rolling, the loop is open", speed=ROLLING, loop_closed=False)
HOT = Inputs("too hot", hot=True)
CHARGER = Inputs("a charger", charger=True)

_BRAKED_MS = 300  # an opened loop, at most
PAD = Rights(2, 120)
_FAR = Word("host 0's clock is known to 25 ms", "known", 0, value=25_000)
_SHORT_MS = 80  # four times 20 ms; words.LEASE_MS is four times 27.5
_PAD = tuple(words.claims(0, "A", SPEED))
_HELD_AND_PERMITS = codes.HELD | codes.PERMITS_AUTONOMY
_LETS_GO, _HOLDS, _DRIVES = _PAD


def _rc(name: str) -> Inputs:
    return Inputs(f"RC frame: {name}", rc=name)


def _standing() -> tuple[Alphabet, ...]:
    return (
        Alphabet(
            "actions", "arm, clear, disarm, commit of a car that stands",
            (
                *_PAD, *words.arm(TRACK), *words.arm(STAND), *words.clear(), DISARM_WORD, STOP,
                COMMIT,
            ),
            (QUIET, OPEN_LOOP), (PAD,),
        ),
        Alphabet(
            "rolling", "the same while the wheels turn",
            (*_PAD, *words.arm(TRACK), *words.clear(), DISARM_WORD, STOP, COMMIT),
            (QUIET, ROLLS, ROLLS_OPEN), (PAD,),
        ),
        Alphabet(
            "off-delay", "a loop that is braked before it is cut, for a while",
            (
                *_PAD, *words.arm(TRACK), *words.clear(), STOP,
                Word("the loop has been open for its time", "late", value=_BRAKED_MS),
            ),
            (QUIET, ROLLS, OPEN_LOOP, ROLLS_OPEN), (PAD,), (("loop_brake_ms", _BRAKED_MS),),
        ),
        Alphabet(
            "numbers", "caps, and commits of other numbers, beside an arm",
            (
                _LETS_GO, _HOLDS, *words.arm(TRACK), *words.arm(TRACK, config=1), DISARM_WORD,
                words.cap(10, "low"), words.cap(NO_CAP, "none"), COMMIT,
                Word("draft the other numbers", "draft", config=1),
                Word("draft the first numbers", "draft", config=0),
                Word("commit the other numbers", "commit", config=1), words.STALE_CONFIRM,
            ),
            (QUIET,), (PAD,),
        ),
        Alphabet(
            "capped", "caps while it drives",
            (*_PAD, *words.arm(TRACK), words.cap(10, "low"), words.cap(NO_CAP, "none"), STOP),
            (QUIET,), (PAD,),
        ),
        Alphabet(
            "faults", "a fault, and a charger, in every state",
            (*_PAD, *words.arm(TRACK), *words.clear(), STOP),
            (QUIET, HOT, CHARGER, ROLLS), (PAD,),
        ),
    )  # fmt: skip


def _hosts() -> tuple[Alphabet, ...]:
    stranger = [replace(w, name=f"{w.name} by a stranger", session=2) for w in words.arm(TRACK)]
    others = Word("A drives, of host 1", "claim", 1, 0, codes.HELD, SPEED)
    return (
        Alphabet(
            "two hosts", "two sessions, and a stranger, ask, confirm and speak for one source",
            (
                _LETS_GO, _HOLDS, others, *words.arm(TRACK), *words.arm(STAND, 1),
                *words.arm(TRACK, 1), *words.clear(1), DISARM_WORD, *stranger, STOP,
            ),
            (QUIET,), (PAD,),
        ),
        Alphabet(
            "rebind", "hosts that begin anew, and lose their slot to another",
            (
                _LETS_GO, _HOLDS, *words.arm(TRACK),
                *[replace(w, name=f"{w.name}, of the third", session=2) for w in _PAD[:2]],
                *stranger, Word("host 0 binds", "bind", 0), Word("the third host binds", "bind", 2),
                Word("host 0 is not heard for 3 s", "stale", 0),
                Word("Sync of the third", "sync", 2), STOP,
            ),
            (QUIET,), (PAD,), is_full=True,
        ),
    )  # fmt: skip


def _autonomous() -> tuple[Alphabet, ...]:
    pilot = Rights(4, 20, is_attended=False, needs=2)
    by_switch = Rights(6, 10, is_attended=False, needs_switch=True)
    programs = (
        Word("P drives", "claim", 0, 1, 0, SPEED),
        Word("P asks for nothing", "claim", 0, 1, 0, 0),
    )
    permits = Word("A holds and permits", "claim", deadman=_HELD_AND_PERMITS, mask=0)
    # a hand may fall silent before the program that it took over from, which spoke sooner
    hands = (replace(_LETS_GO, lease_ms=40), replace(_HOLDS, lease_ms=40))
    seat = Rights(1, 100)
    permission = (
        Word("S holds and permits", "claim", place=1, deadman=_HELD_AND_PERMITS, mask=0),
        Word("S lets go", "claim", place=1, mask=0),
    )
    of_seat = Rights(4, 20, is_attended=False, needs=1)
    return (
        Alphabet(
            "hand", "a hand takes over from a program that another person permits",
            (*hands, *permission, Word("P drives", "claim", 0, 2, 0, SPEED), *words.arm(TRACK)),
            (QUIET,), (PAD, seat, of_seat),
        ),
        Alphabet(
            "hand and switch", "a hand takes over from a program that a switch lets drive",
            (
                *hands, Word("K drives", "claim", 0, 1, 0, SPEED), *words.box(),
                *words.arm(TRACK), *words.clear(),
            ),
            (QUIET,), (PAD, by_switch),
        ),
        Alphabet(
            "guardian", "a program that drives while a person holds and permits",
            (_LETS_GO, _HOLDS, permits, programs[0], *words.arm(TRACK), DISARM_WORD, STOP),
            (QUIET,), (PAD, pilot),
        ),
        Alphabet(
            "kill switch", "a program that drives while a switch is there and lets it",
            (
                Word("K drives", "claim", 0, 0, 0, SPEED), *words.box(), *words.arm(TRACK),
                *words.clear(), DISARM_WORD, STOP,
            ),
            (QUIET,), (by_switch,),
        ),
    )  # fmt: skip


def _receivers() -> tuple[Alphabet, ...]:
    rc = Rights(0, 200)
    frames = (QUIET, *[_rc(name) for name in ("rest", "held", "throttle", "stop")])
    return (
        Alphabet(
            "receiver", "the receiver and its gesture beside a host",
            (*words.arm(STAND), *words.clear(), DISARM_WORD, STOP),
            frames, (rc,), has_rc=True,
        ),
        Alphabet(
            "receiver in race", "a gesture arms race, which needs the box, beside a host",
            (*words.arm(STAND), *words.box(), DISARM_WORD),
            frames[:3], (rc,), has_rc=True, default_profile=RACE,
        ),
        Alphabet(
            "receiver and pad", "the receiver outranks another source, and permits nothing by it",
            tuple(words.claims(1, "A", SPEED)),
            (*frames[:3], _rc("autonomy")), (rc, PAD), has_rc=True,
        ),
        Alphabet(
            "manual", "the receiver at manual beside a program that a person permits",
            (
                Word("A lets go", "claim", 1, 1, mask=0),
                Word("A holds and permits", "claim", 1, 1, _HELD_AND_PERMITS, mask=0),
                Word("P drives", "claim", 0, 2, 0, SPEED),
            ),
            (*frames[:3], _rc("idle")), (rc, PAD, Rights(4, 20, is_attended=False, needs=2)),
            has_rc=True,
        ),
    )  # fmt: skip


def _watched() -> tuple[Alphabet, ...]:
    counted = Rights(5, 90, has_counter=True)
    second = Rights(3, 50, stops_by_silence=False, has_repress=True)
    return (
        Alphabet(
            "box", "a runstop box, and a race that needs it",
            (
                *_PAD, *words.box(), *words.arm(RACE), *words.arm(TRACK), *words.clear(),
                Word("a stranger's box says stop", "box", 2, value=0),
            ),
            (QUIET,), (PAD,),
        ),
        Alphabet(
            "paired box", "a race that needs the car's own box, among the words of others",
            (_LETS_GO, _HOLDS, *words.answers(), *words.box(), *words.arm(RACE)),
            (QUIET,), (PAD,), is_paired=True,
        ),
        Alphabet(
            "no key", "the same without a key: nothing that a box says is a run",
            (
                _LETS_GO, _HOLDS, *words.answers(), *words.box(), *words.arm(RACE),
                *words.arm(TRACK),
            ),
            (QUIET,), (PAD,), is_paired=True, has_key=False,
        ),
        Alphabet(
            "key", "a key requires its box but on a stand, where the vehicle file needs none",
            (
                _LETS_GO, _HOLDS, *words.answers()[:3], words.box()[0], *words.arm(TRACK),
                *words.arm(RACE), *words.arm(STAND),
            ),
            (QUIET,), (PAD,), needs_box=(False, False, False), is_paired=True,
        ),
        Alphabet(
            "lost key", "a key that was lost requires a box that nobody can be, but on a stand",
            (
                _LETS_GO, _HOLDS, *words.answers(), *words.box(), *words.arm(TRACK),
                *words.arm(RACE), *words.arm(STAND),
            ),
            (QUIET,), (PAD,), needs_box=(False, False, False), is_paired=True, has_key=False,
            is_lost=True,
        ),
        Alphabet(
            "frozen", "an input device that repeats itself",
            (*words.claims(0, "C", SPEED, still=True), *words.arm(TRACK), *words.clear()),
            (QUIET, ROLLS), (counted,), (("frozen_ms", 100),),
        ),
        Alphabet(
            "silent", "two sources, one of which yields and is to be pressed anew; clocks are lost",
            (
                *_PAD, *words.claims(1, "B", SPEED), *words.arm(TRACK),
                Word("host 0's clock is lost", "lost", 0), Word("Sync of host 0", "sync", 0),
            ),
            (QUIET,), (PAD, second),
        ),
        Alphabet(
            "far", "a clock that is known well enough for a long lease, and not for a short one",
            (
                *_PAD, replace(_DRIVES, name="A drives for a short while", lease_ms=_SHORT_MS),
                *words.arm(TRACK), Word("host 0's clock is lost", "lost", 0), _FAR,
                Word("Sync of host 0", "sync", 0), STOP,
            ),
            (QUIET,), (PAD,), (("clock_bound_us", _FAR.value),),
        ),
    )  # fmt: skip


ALL = (*_standing(), *_hosts(), *_autonomous(), *_receivers(), *_watched())
BY_NAME = {alphabet.name: alphabet for alphabet in ALL}


def paired(one: Alphabet, other: Alphabet) -> Alphabet:
    """What two alphabets say together, to a car that has what both cars have."""
    named = {right.number: right for right in one.rights + other.rights}
    rights = tuple(named[number] for number in sorted(named))  # the receiver's first
    said = _moved(one, rights) + _moved(other, rights)
    return Alphabet(
        f"{one.name} + {other.name}", f"{one.says}; {other.says}",
        tuple({word.name: word for word in said}.values()),
        tuple({inputs.name: inputs for inputs in one.inputs + other.inputs}.values()),
        rights, tuple(dict(one.changes + other.changes).items()),
        max(one.default_profile, other.default_profile), one.needs_box,
        one.has_rc or other.has_rc, one.is_full or other.is_full,
        one.is_paired or other.is_paired, one.has_key and other.has_key,
        is_lost=one.is_lost or other.is_lost,
    )  # fmt: skip


def _moved(alphabet: Alphabet, rights: tuple[Rights, ...]) -> list[Word]:
    """Its words, with each source at its place in another table."""
    places = [rights.index(right) for right in alphabet.rights]
    return [
        replace(word, place=places[word.place]) if word.kind == "claim" else word
        for word in alphabet.words
    ]
