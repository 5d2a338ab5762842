"""The tag of a message, against the textbooks' CBC-MAC."""

import pytest

from firmware.core.stops.tag import BLOCK, TAG, Tag
from firmware.core.stops.tag import KEY as KEY_BYTES
from tests.safety.support.paired_box import tag_of

KEY = bytes(range(16))
MESSAGE = bytes(range(100, 124))


def test_its_sizes_are_those_of_the_wire():
    assert (KEY_BYTES, BLOCK, TAG) == (16, 16, 8)


@pytest.fixture(params=[0, 1, 0x2A3B4C5D, 0x3FFFFFFF], ids=hex)
def begun(request):
    tag, mask = Tag(KEY), bytearray(b"\xff" * 16)
    tag.begin(mask, request.param)
    return tag, mask, tag_of(KEY, request.param, MESSAGE)


def test_it_is_over_the_nonce_and_the_first_16_bytes(begun):
    tag, mask, right = begun
    tag.make(mask, bytearray(MESSAGE))
    assert bytes(tag.block[:8]) == right
    tag.make(mask, bytearray(MESSAGE[:16] + bytes(8)))
    assert bytes(tag.block[:8]) == right, "what follows is not under it"
    for at in range(16):
        changed = bytearray(MESSAGE)
        changed[at] ^= 1
        tag.make(mask, changed)
        assert bytes(tag.block[:8]) != right


@pytest.mark.parametrize("at", [16, 20])
def test_each_bit_of_it_is_looked_at(begun, at):
    tag, mask, right = begun
    payload = bytearray(MESSAGE[:16] + bytes(at - 16) + right + b"\xa5\x5a")
    assert tag.is_right(mask, payload, at)
    for bit in range(64):
        flipped = bytearray(payload)
        flipped[at + bit // 8] ^= 1 << bit % 8
        assert not tag.is_right(mask, flipped, at)
    for beside in (at - 1, at + 8):
        flipped = bytearray(payload)
        if beside >= 16:
            flipped[beside] ^= 0xFF
            assert tag.is_right(mask, flipped, at)
