"""Access rules of the station's sockets, by Host and Origin, which a browser sets itself.

A page of another origin may stop, as anybody may; it sees nothing and drives nothing. A Host that
is not this machine's loopback is another's name that was pointed here (DNS rebinding).
"""

from __future__ import annotations

import hmac
import secrets
from dataclasses import dataclass, field

STATUS, STOP, HOLD, TIMELINE, WORK = "/status", "/stop", "/hold", "/timeline", "/work"
DISTANCES, FLOOR = "/distances", "/floor"
_TOKEN_BYTES = 16  # 128 bits


@dataclass(frozen=True)
class AccessRules:
    """The access rules of one port; ``token`` is only in the address that is printed."""

    port: int
    token: str = field(default_factory=lambda: secrets.token_urlsafe(_TOKEN_BYTES), repr=False)

    def hosts(self) -> tuple[str, ...]:
        return tuple(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost", "[::1]"))

    def csp_sources(self) -> str:
        """Both names of the page, for a Content-Security-Policy."""
        return f"http://127.0.0.1:{self.port} http://localhost:{self.port}"

    def may_request(self, path: str, host: str, origin: str | None) -> bool:
        """Programs that are no browsers send no Origin: those are this machine's own."""
        if path == STOP:
            return True
        if host not in self.hosts():
            return False
        return origin is None or origin in [f"http://{name}" for name in self.hosts()]

    def is_page(self, origin: str | None, site: str | None) -> bool:
        """Return whether a page of this station asks, by what its browser says, or no browser.

        ``site`` is Sec-Fetch-Site, which comes where a plain request has no Origin.
        """
        is_here = origin is None or origin in [f"http://{name}" for name in self.hosts()]
        return is_here and site in (None, "same-origin", "none")

    def has_token(self, token: object) -> bool:
        """Return whether this is the seat's token, in a time that does not depend on it."""
        given = token if isinstance(token, str) else ""
        # JSON may have half a character, which no encoding but this one takes
        return hmac.compare_digest(given.encode(errors="surrogatepass"), self.token.encode())
