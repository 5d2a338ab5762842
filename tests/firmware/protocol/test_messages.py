"""The message table: what it may say, and the four messages that never change."""

from __future__ import annotations

import inspect
import random

import pytest

from firmware.protocol import codec, messages
from firmware.protocol.codec import DECODED, Message, decode_into
from firmware.protocol.frame import MAX_FRAME
from firmware.protocol.messages import FROZEN, TO_BOARD, TO_HOST, Status
from tests.firmware.protocol.streams import filled, framed, payload_of
from tests.support.evidence import every

MESSAGES = tuple(dict.fromkeys(TO_BOARD + TO_HOST))
SMALL_INT = 1 << 30  # beyond this a 32-bit MicroPython allocates
KINDS = {name: (size, signed) for name, size, signed in codec.KINDS}
STATUS_FRAME = 40

# Field values and the frame they make, delimiters included, as any host that will ever be may
# send and read them. Written down once; if one of these has to be changed, the change is wrong.
# (All four were written anew once, on 2026-11-22, before anything was released: frames are
# whitened, Identify and Identity got challenge and answer, the kind of device and its flags.)
GOLDEN = {
    "Identify": (
        {"token": 0x1234, "challenge": b"\xc1\xc2\xc3\xc4\xc5\xc6\xc7\xc8"},
        "00 10 a4 91 b7 64 67 66 61 60 63 62 6d fb 97 50 4f 00",
    ),
    "Identity": (
        {
            "token": 0x1234,
            "layout": 1,
            "device": 1,
            "flags": 1,
            "protocol_hash": b"\xde\xad\xbe\xef",
            "config_hash": b"\x01\x02\x03\x04",
            "board_id": b"\xe6\x61\x38\x00\x11\x22\x33\x44",
            "state": 2,
            "car_name": b"nigel-1".ljust(16, b"\0"),
            "answer": b"\xa1\xa2\xa3\xa4\xa5\xa6\xa7\xa8",
        },
        "00 2d a7 91 b7 a4 a4 a4 a5 7b 08 1b 4a a4 a7 a6 a1 43 c4 9d a5 b4 "
        "87 96 e1 a7 cb cc c2 c0 c9 88 94 a5 a5 a5 a5 a5 a5 a5 a5 a5 04 07 "
        "06 01 08 03 02 0d e4 f1 7a 10 00",
    ),
    "Stop": (
        {"token": 0xFFFF, "sender": 4, "sender_name": b"pit wall".ljust(16, b"\0")},
        "00 19 a6 5a 5a a1 d5 cc d1 85 d2 c4 c9 c9 a5 a5 a5 a5 a5 a5 a5 a5 d7 4c 7e 5d 00",
    ),
    "StopSeen": (
        {
            "token": 0xFFFF,
            "state": 4,
            "sender": 4,
            "sender_name": b"pit wall".ljust(16, b"\0"),
        },
        "00 1a a1 5a 5a a1 a1 d5 cc d1 85 d2 c4 c9 c9 a5 a5 a5 a5 a5 a5 a5 a5 32 31 87 ec 00",
    ),
}


def by_name(name: str) -> type[Message]:
    kind = getattr(messages, name)
    assert issubclass(kind, Message)
    return kind


def made(name: str) -> Message:
    message = by_name(name)()
    for field, value in GOLDEN[name][0].items():
        setattr(message, field, value)
    return message


@pytest.mark.parametrize("name", GOLDEN)
def test_a_frozen_message_keeps_every_byte(name):
    assert framed(payload_of(made(name))).hex(" ") == GOLDEN[name][1]


@pytest.mark.parametrize("name", GOLDEN)
def test_a_frozen_message_of_old_is_still_understood(name):
    payload = bytearray(payload_of(made(name)))
    message = by_name(name)()
    assert decode_into(message, payload, len(payload)) == DECODED
    assert {field: getattr(message, field) for field in GOLDEN[name][0]} == GOLDEN[name][0]


def test_the_frozen_messages_are_those_four():
    assert [kind.__name__ for kind in FROZEN] == list(GOLDEN)
    assert [kind.ID for kind in FROZEN] == [1, 2, 3, 4]


def test_ids_are_unique_and_fit_a_byte():
    ids = [kind.ID for kind in MESSAGES]
    assert len(set(ids)) == len(ids)
    assert every(1 <= number <= 255 for number in ids)


def test_every_message_has_one_direction_but_the_claim_which_a_receiver_on_board_makes_too():
    defined = {kind for _, kind in inspect.getmembers(messages, inspect.isclass)} - {Message}
    assert defined == set(MESSAGES)
    assert set(TO_BOARD) & set(TO_HOST) == {messages.Claim}
    assert len(TO_BOARD) + len(TO_HOST) == len(defined) + 1


def test_what_the_board_hears_is_numbered_apart_from_what_it_says():
    """Ids tell the direction, so that a frame in a log needs no other mark: 16..31 are to the
    board, 32 and up to the host; the frozen ones came first."""
    assert every(16 <= kind.ID < 32 for kind in TO_BOARD if kind not in FROZEN)
    assert every(kind.ID >= 32 for kind in TO_HOST if kind not in (*FROZEN, messages.Claim))


@pytest.mark.parametrize("kind", MESSAGES)
def test_annotations_repeat_the_fields(kind):
    expected = {
        name: "bytearray" if KINDS[field_kind][1] < 0 else "int"
        for name, field_kind, *_ in kind.FIELDS
    }
    found = {name: getattr(hint, "__name__", hint) for name, hint in kind.__annotations__.items()}
    assert list(found.items()) == list(expected.items())


@pytest.mark.parametrize("kind", MESSAGES)
def test_ranges_fit_the_kind_and_a_small_int(kind):
    for name, field_kind, low, high, _unit in kind.FIELDS:
        size, signed = KINDS[field_kind]
        if signed < 0:
            assert (low, high) == (0, 0), name
            continue
        bits = min(8 * size, 31)
        assert (-(1 << bits - 1) if signed else 0) <= low <= high < 1 << bits - signed, name
        assert low > -SMALL_INT, f"{name}: UNREADABLE must be below every range"
        assert high < SMALL_INT, name


@pytest.mark.parametrize("kind", MESSAGES)
def test_every_frame_fits_a_usb_packet(kind):
    assert len(framed(payload_of(kind()))) <= MAX_FRAME
    assert len(framed(b"\x55" * kind().size)) <= MAX_FRAME


def test_the_status_takes_at_most_40_bytes_of_wire():
    rng = random.Random(40)
    longest = max(len(framed(payload_of(filled(Status, rng)))) for _ in range(1000))
    assert longest <= STATUS_FRAME
