"""The two secrets of a station for phones: one watches and stops, the other drives.

The first is in a QR code that may be shown to a hall. The second is made only after a person at the
station has typed the number that a phone shows, whose browser has taken the station's certificate
without a warning; it counts once, for two minutes, and is exchanged within TLS for a cookie.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable
from dataclasses import dataclass, field

_SECRET_BYTES = 16  # 128 bits
_CODES = 10_000  # four digits, which a person types from one screen at another
CODE_US = 120_000_000  # us: as long as it takes to walk to the station
DRIVES_US = 8 * 3_600_000_000  # us: as long as an invitation to drive by default
_MOST_CODES = 16  # that wait to be typed; the oldest goes


@dataclass
class PhoneAccess:
    """The keys, numbers and cookies of one station for phones, while it runs."""

    now_us: Callable[[], int]
    watch_key: str = field(default_factory=lambda: secrets.token_urlsafe(_SECRET_BYTES), repr=False)
    _codes: dict[str, tuple[int, str]] = field(default_factory=dict, repr=False)
    _drive_keys: dict[str, int] = field(default_factory=dict, repr=False)
    _cookies: dict[str, int] = field(default_factory=dict, repr=False)

    def may_watch(self, key: str, cookie: str) -> bool:
        """Return whether one may see the cars: anyone may stop them."""
        return _equal(key, self.watch_key) or self.may_drive(cookie)

    def new_code(self, address: str) -> str:
        """Return the number for a phone that says it trusts the certificate."""
        while len(self._codes) >= _MOST_CODES:
            del self._codes[next(iter(self._codes))]
        code = f"{secrets.randbelow(_CODES):04}"
        self._codes[code] = (self.now_us(), address)
        return code

    def drive_key(self, code: str) -> tuple[str, str] | None:
        """Return a secret that drives, and for whose phone; None for a number that no phone shows.

        It is a person at the station who says the number: that no warning was shown there.
        """
        made_us, address = self._codes.pop(code.strip(), (0, ""))
        if not address or self.now_us() - made_us > CODE_US:
            return None
        key = secrets.token_urlsafe(_SECRET_BYTES)
        self._drive_keys[key] = self.now_us()
        return key, address

    def exchange(self, key: str) -> str | None:
        """Return the cookie for a secret that drives, which counts once; None for any other."""
        for known, made_us in list(self._drive_keys.items()):
            if self.now_us() - made_us > CODE_US:
                del self._drive_keys[known]
            elif _equal(key, known):
                del self._drive_keys[known]
                cookie = secrets.token_urlsafe(_SECRET_BYTES)
                self._cookies[cookie] = self.now_us()
                return cookie
        return None

    def may_drive(self, cookie: str) -> bool:
        made_us = [at for known, at in self._cookies.items() if _equal(cookie, known)]
        return bool(made_us) and self.now_us() - made_us[0] < DRIVES_US


def _equal(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode(errors="surrogatepass"), known.encode())
