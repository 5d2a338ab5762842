"""What a terminal sends, read whole, byte by byte, cut anywhere, and damaged."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from host_bridge.inputs.keyboard.keys import (
    FlagsReported,
    KeyDecoder,
    KeyEvent,
    KeyEventKind,
    TerminalSignal,
)

PRESSED, REPEATED, RELEASED, TYPED = (
    KeyEventKind.PRESSED,
    KeyEventKind.REPEATED,
    KeyEventKind.RELEASED,
    KeyEventKind.TYPED,
)
KITTY = [
    (b"\x1b[32u", KeyEvent("space", PRESSED)),
    (b"\x1b[32;1u", KeyEvent("space", PRESSED)),
    (b"\x1b[32;1:1u", KeyEvent("space", PRESSED)),
    (b"\x1b[32;1:2u", KeyEvent("space", REPEATED)),
    (b"\x1b[32;1:3u", KeyEvent("space", RELEASED)),
    (b"\x1b[32;2:3u", KeyEvent("space", RELEASED)),  # shift came down meanwhile
    (b"\x1b[119;65;119u", KeyEvent("w", PRESSED)),  # caps lock, and the text that goes with it
    (b"\x1b[119:87;2:1u", KeyEvent("w", PRESSED)),
    (b"\x1b[99;5u", KeyEvent("c", PRESSED, has_ctrl=True)),
    (b"\x1b[27;1:1u", KeyEvent("escape", PRESSED)),
    (b"\x1b[13;;13u", KeyEvent("enter", PRESSED)),
    (b"\x1b[57441;2:1u", KeyEvent("", PRESSED)),  # a shift key itself
]
SIGNS = [
    (b"\x1b[I", TerminalSignal.FOCUS_GAINED),
    (b"\x1b[O", TerminalSignal.FOCUS_LOST),
    (b"\x1b[?0u", FlagsReported(0)),
    (b"\x1b[?11u", FlagsReported(11)),
    (b"\x1b[?62;c", TerminalSignal.ATTRIBUTES),
]
LEGACY = [
    (b" ", KeyEvent("space", TYPED)),
    (b"W", KeyEvent("w", TYPED)),
    (b"\r", KeyEvent("enter", TYPED)),
    (b"\x03", KeyEvent("c", TYPED, has_ctrl=True)),
    (b"\x1a", KeyEvent("z", TYPED, has_ctrl=True)),
]


def decoded(data, *, has_releases=False, at_us=0):
    decoder = KeyDecoder()
    decoder.has_releases = has_releases
    return decoder.feed(data, at_us)


def decoded_bytewise(data, **options):
    decoder = KeyDecoder()
    decoder.has_releases = options.get("has_releases", False)
    return [event for byte in data for event in decoder.feed(bytes([byte]), 0)]


@pytest.mark.parametrize(("data", "event"), KITTY + SIGNS + LEGACY)
def test_a_key_is_read_whole_bytewise_and_with_others_behind_it(data, event):
    assert decoded(data) == [event]
    assert decoded_bytewise(data) == [event]
    assert decoded(data + b"\x1b[32;1:3u ") == [
        event,
        KeyEvent("space", RELEASED),
        KeyEvent("space", TYPED),
    ]


@given(st.lists(st.sampled_from(KITTY + SIGNS + LEGACY), max_size=20), st.data())
def test_it_does_not_matter_where_the_bytes_are_cut(keys, data):
    stream = b"".join(item[0] for item in keys)
    decoder, found = KeyDecoder(), []
    while stream:
        size = data.draw(st.integers(1, len(stream)))
        found += decoder.feed(stream[:size], 0)
        stream = stream[size:]
    assert found == [item[1] for item in keys]


def test_a_lone_escape_is_the_key_after_50_ms():
    decoder = KeyDecoder()
    assert decoder.feed(b"\x1b", 0) == []
    assert decoder.step(49_999) == []
    assert decoder.step(50_000) == [KeyEvent("escape", TYPED)]


def test_a_lone_escape_is_no_key_where_releases_are_reported():
    decoder = KeyDecoder()
    decoder.has_releases = True
    decoder.feed(b"\x1b", 0)
    assert decoder.step(10_000_000) == []
    assert decoder.feed(b"[32;1:3u", 10_000_000) == [KeyEvent("space", RELEASED)]


def test_alt_and_a_bracket_do_not_eat_the_keys_that_come_later():
    decoder = KeyDecoder()
    decoder.feed(b"\x1b[", 0)
    assert decoder.step(200_000) == []
    assert decoder.feed(b"e", 300_000) == [KeyEvent("e", TYPED)]


@pytest.mark.parametrize("data", [b"\x1bO", b"\x1b]0;x", b"\x1b[1;"])
def test_a_sequence_that_never_ends_is_forgotten(data):
    decoder = KeyDecoder()
    decoder.feed(data, 0)
    decoder.step(200_000)
    assert decoder.feed(b"x", 300_000) == [KeyEvent("x", TYPED)]


def test_alt_and_a_key_is_neither_escape_nor_the_key():
    assert decoded(b"\x1bw \x1bOA") == [KeyEvent("space", TYPED)]


def test_pasted_text_drives_nothing():
    pasted = b"\x1b[200~r   www\x1b[201~"
    assert decoded(pasted + b"x") == [KeyEvent("x", TYPED)]
    assert decoded_bytewise(pasted + b"x") == [KeyEvent("x", TYPED)]


def test_ctrl_c_gets_out_of_a_paste_that_never_ends():
    assert decoded(b"\x1b[200~ w \x03") == [KeyEvent("c", TYPED, has_ctrl=True)]


def test_texts_that_terminals_send_are_skipped():
    assert decoded(b"\x1b]11;rgb:0000/0000/0000\x07 \x1bP1$r0m\x1b\\x") == [
        KeyEvent("space", TYPED),
        KeyEvent("x", TYPED),
    ]


@pytest.mark.parametrize(
    "data",
    [
        b"\x1b[32;1:3\x1b[32;1:1u",  # the u was lost
        b"\x1b32;1:3u",
        b"\x1b[32;1:9u",
        b"\x1b[;1:3u",
        b"\x1b[?u",
        b"\x1b[" + b"1;" * 40,
    ],
)
def test_damage_is_told_where_a_release_may_hide_in_it(data):
    assert TerminalSignal.GARBLED in decoded(data, has_releases=True)


@given(st.binary(max_size=300), st.booleans())
def test_no_bytes_break_it_and_it_always_recovers(data, has_releases):
    decoder = KeyDecoder()
    decoder.has_releases = has_releases
    decoder.feed(data, 0)
    decoder.feed(b"\x1b\\" + b"\x03" * 80, 0)  # ends a text, and a sequence that has no end
    assert decoder.feed(b"\x1b[201~" + b"\x1b[120u", 0)[-1] == KeyEvent("x", PRESSED)
