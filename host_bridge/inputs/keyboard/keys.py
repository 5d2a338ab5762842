"""Decodes a terminal's bytes into events: keys (kitty protocol or plain bytes), focus, answers.

Kitty's keyboard protocol (sw.kovidgoyal.net/kitty/keyboard-protocol) sends every key as ``CSI code
; modifiers : event u``. A terminal without it sends plain bytes, which do not tell whether a key is
pressed, repeated or still held.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

# ASCII
_ESC = 0x1B
_ESCAPE_US = 50_000  # an ESC alone for that long is the key; a sequence's bytes come together
_SEQUENCE_US = 200_000  # an unfinished sequence (Alt and "[", say) must not swallow further keys
_LONGEST = 64  # bytes; no answer or key that we asked for is longer
_CTRL = 4  # bit of the modifiers, which are sent with 1 added

_NAMES = {0x1B: "escape", 0x0D: "enter", 0x0A: "enter", 0x20: "space", 57414: "enter"}
_CSI = re.compile(rb"\x1b\[([0-?]*)([ -/]*)([@-~])")
_BEGUN = re.compile(rb"\x1b(O|\[[0-?]*[ -/]*|[]P_^X][^\x07\x1b]*\x1b?)?\Z")
# OSC, DCS, ...: a string up to BEL or ESC \
_STRING = re.compile(rb"\x1b[]P_^X][^\x07\x1b]*(\x07|\x1b\\)")
# code:others ; modifiers:event ; text, where all but the code may be missing
_KITTY = re.compile(rb"(\d+)(?::[\d:]*)?(?:;(\d*)(?::([123]))?(?:;[\d:]*)?)?\Z")


class KeyEventKind(Enum):
    """The kind of a key event. TYPED is a plain byte, which may be a press or a repeat."""

    PRESSED = 1
    REPEATED = 2
    RELEASED = 3  # the number that the terminals' keyboard protocol gives it
    TYPED = 0


@dataclass(frozen=True, slots=True)
class KeyEvent:
    """A key event by the key's name: "w", "space", "enter", "escape"; "" for any other key."""

    name: str
    kind: KeyEventKind
    has_ctrl: bool = False


@dataclass(frozen=True, slots=True)
class FlagsReported:
    """The answer to ``CSI ? u``: the parts of kitty's protocol that are on."""

    flags: int


class TerminalSignal(Enum):
    """An event without data."""

    ATTRIBUTES = "the answer to CSI c, which every terminal gives"
    FOCUS_LOST = "the window no longer has the keyboard"
    FOCUS_GAINED = "it has it again"
    GARBLED = "a sequence broke off: what it was is not known"


TerminalEvent = KeyEvent | FlagsReported | TerminalSignal


class KeyDecoder:
    """An incremental decoder: bytes in, events out, however the bytes are split.

    Set ``has_releases`` once the terminal is known to send all keys by kitty's protocol: then a
    lone ESC is never the key, but the beginning of a sequence.
    """

    def __init__(self) -> None:
        self.has_releases = False
        self._bytes = bytearray()
        self._newest_us = 0
        self._is_pasting = False

    def feed(self, data: bytes, now_us: int) -> list[TerminalEvent]:
        self._newest_us = now_us
        self._bytes += data
        found: list[TerminalEvent] = []
        while self._bytes:
            size, event = self._next()
            if not size:
                break
            del self._bytes[:size]
            found.extend(self._outside_paste(event))
        return found

    def step(self, now_us: int) -> list[TerminalEvent]:
        """Return the Esc key, once it is clear that nothing follows it."""
        is_alone = len(self._bytes) == 1
        patience_us = _ESCAPE_US if is_alone else _SEQUENCE_US
        waits = not self._bytes or now_us - self._newest_us < patience_us
        if self.has_releases or waits:
            return []
        self._bytes.clear()
        return [KeyEvent("escape", KeyEventKind.TYPED)] if is_alone else []

    def _next(self) -> tuple[int, TerminalEvent | bytes | None]:
        """Return how many bytes the next event takes, 0 if it is incomplete, and the event."""
        if self._bytes[0] != _ESC:
            return 1, _typed(self._bytes[0])
        for pattern in (_CSI, _STRING):
            match = pattern.match(self._bytes)
            if match:
                return match.end(), _sequence(match) if pattern is _CSI else None
        if _BEGUN.match(self._bytes):
            return (_LONGEST, TerminalSignal.GARBLED) if len(self._bytes) > _LONGEST else (0, None)
        return self._broken()

    def _broken(self) -> tuple[int, TerminalEvent | None]:
        """Handle an ESC that begins no sequence: Alt and a key, ESC twice, or damage."""
        if self.has_releases:
            return _damaged_size(self._bytes), TerminalSignal.GARBLED
        if self._bytes[1] == _ESC:
            return 1, KeyEvent("escape", KeyEventKind.TYPED)
        return (3 if self._bytes[1:2] == b"O" else 2), None

    def _outside_paste(self, event: TerminalEvent | bytes | None) -> Iterator[TerminalEvent]:
        """Yield the event unless it is pasted text; Ctrl-C always counts."""
        if isinstance(event, bytes):
            self._is_pasting = event == b"200"
        elif event and (not self._is_pasting or _is_way_out(event)):
            yield event


def _is_way_out(event: TerminalEvent) -> bool:
    return not isinstance(event, KeyEvent) or (event.name == "c" and event.has_ctrl)


def _damaged_size(data: bytearray) -> int:
    """Return the number of bytes up to the next ESC, where a new sequence begins."""
    again = data.find(_ESC, 1)
    return len(data) if again < 0 else again


def _typed(byte: int) -> KeyEvent | None:
    if byte in _NAMES:
        return KeyEvent(_NAMES[byte], KeyEventKind.TYPED)
    # ASCII: 1 to 26 are Ctrl and a letter; 32 to 126 are printable
    if 0 < byte < 0x1B:
        return KeyEvent(chr(byte + 0x60), KeyEventKind.TYPED, has_ctrl=True)  # 0x61 is "a"
    return KeyEvent(chr(byte).lower(), KeyEventKind.TYPED) if 0x20 < byte < 0x7F else None


def _sequence(match: re.Match[bytes]) -> TerminalEvent | bytes | None:
    """Return the event of a whole ``CSI ...``; the bytes "200" and "201" begin and end a paste."""
    text, middle, final = match.groups()
    if middle:
        return None
    if text.startswith(b"?"):
        return _answer(text[1:], final)
    if final == b"u":
        return _kitty_key(text)
    if final == b"~":
        return text if text in (b"200", b"201") else None
    signals = {b"I": TerminalSignal.FOCUS_GAINED, b"O": TerminalSignal.FOCUS_LOST}
    return signals.get(final) if not text else None


def _answer(text: bytes, final: bytes) -> TerminalEvent | None:
    if final == b"c":
        return TerminalSignal.ATTRIBUTES
    if final == b"u":
        return FlagsReported(int(text)) if text.isdigit() else TerminalSignal.GARBLED
    return None


def _kitty_key(text: bytes) -> TerminalEvent:
    match = _KITTY.match(text)
    if match is None:
        return TerminalSignal.GARBLED
    code, modifiers, kind = (int(group or 1) for group in match.groups())
    return KeyEvent(_name(code), KeyEventKind(kind), bool(modifiers - 1 & _CTRL))


def _name(code: int) -> str:
    if code in _NAMES:
        return _NAMES[code]
    return chr(code).lower() if 0x20 < code < 0x7F else ""  # ASCII's printable characters
