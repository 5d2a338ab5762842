"""The answers of the station's server to plain requests: their headers and security policies."""

from __future__ import annotations

import http

from websockets.datastructures import Headers
from websockets.http11 import Response


def page_policy(views: str, camera: str, csp_sources: str) -> str:
    """Return the Content-Security-Policy: the page itself, its sockets and bar, plots, camera."""
    return (
        f"default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: {camera}; "
        f"connect-src 'self' ws://127.0.0.1:* ws://localhost:*; frame-src {csp_sources} {views}; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )


def bar_policy(csp_sources: str) -> str:
    """The same for the bar, which only the page may frame."""
    return (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
        f"connect-src 'self' ws://127.0.0.1:* ws://localhost:*; frame-ancestors {csp_sources}; "
        "base-uri 'none'; form-action 'none'"
    )


def response(
    status: http.HTTPStatus, body: bytes, kind: str = "text/plain; charset=utf-8", policy: str = ""
) -> Response:
    """Return an answer that is neither cached nor kept open, with the policy of a page if given."""
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
