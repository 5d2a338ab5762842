"""The files of the page, and the headers with which a browser gets them."""

from __future__ import annotations

import http
from pathlib import Path

from websockets.datastructures import Headers
from websockets.http11 import Response

FOLDER = Path(__file__).parents[1] / "page"
BAR = "/bar.html"  # the big Stop: a frame of the page, from the other of loopback's two names
_KINDS = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
}


def _pages() -> dict[str, tuple[str, str]]:
    """Return the file and its media type for each path of the page."""
    names = sorted(it.relative_to(FOLDER).as_posix() for it in FOLDER.rglob("*.*"))
    found = {f"/{name}": (name, _KINDS[Path(name).suffix]) for name in names}
    return {"/": found.pop("/index.html"), **found}


PAGES = _pages()


def page_policy(views: str, camera: str, csp_sources: str) -> str:
    """Return the Content-Security-Policy: the page itself, its sockets and bar, plots, camera."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: {camera}; "
        f"connect-src 'self' ws://127.0.0.1:* ws://localhost:*; frame-src {csp_sources} {views}; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )


def bar_policy(csp_sources: str) -> str:
    """Return the Content-Security-Policy of the bar, which only the page may frame."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
        f"connect-src 'self' ws://127.0.0.1:* ws://localhost:*; frame-ancestors {csp_sources}; "
        "base-uri 'none'; form-action 'none'"
    )


def response(
    status: http.HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8", policy: str = ""
) -> Response:
    """Return an answer with the headers of every page; ``policy`` is its security policy."""
    headers = Headers(
        {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Connection": "close",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Origin-Agent-Cluster": "?1",  # a process of its own, beside other ports of its site
        }
    )
    if policy:
        headers["Content-Security-Policy"] = policy
    return Response(status.value, status.phrase, headers, body)
