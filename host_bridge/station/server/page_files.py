"""The files of the page, and the headers with which a browser gets them."""

from __future__ import annotations

import base64
import hashlib
import http
import re
from pathlib import Path

from websockets.datastructures import Headers
from websockets.http11 import Response

FOLDER = Path(__file__).parents[1] / "page"
BAR = "/bar.html"  # the big Stop: a frame of the page, from the other of loopback's two names
_KINDS = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
_STYLE = re.compile(r'(?:<link rel="stylesheet" href="/style/\w+\.css">\n)+')


def _pages() -> dict[str, tuple[str, str]]:
    """Return the file and its media type for each path of the page."""
    files = (it for it in sorted(FOLDER.rglob("*.*")) if it.suffix in _KINDS)
    found = {f"/{it.relative_to(FOLDER).as_posix()}": it for it in files}
    named = {"/": found.pop("/index.html"), **found}
    return {
        path: (it.relative_to(FOLDER).as_posix(), _KINDS[it.suffix]) for path, it in named.items()
    }


PAGES = _pages()


def page_file(path: str, views: str, camera: str, csp_sources: str) -> Response:
    """Return one of ``PAGES``, with what it may load: its own files, plots and camera."""
    name, kind = PAGES[path]
    body = (FOLDER / name).read_text()
    style = "'none'"
    if name.endswith(".html"):
        body, style = _with_its_style(body)
    policy = (
        _bar_policy(style, csp_sources)
        if path == BAR
        else _page_policy(style, views, camera, csp_sources)
    )
    return response(http.HTTPStatus.OK, body.encode(), kind, policy)


def _with_its_style(page: str) -> tuple[str, str]:
    """Return a page with its style sheets in it, and their source for its policy.

    A browser draws nothing before it has all sheets, and asks for them beside thirty scripts."""
    links = _STYLE.search(page)
    assert links, "each page names its sheets one after the other"
    names = re.findall(r'href="/(.+?)"', links[0])
    sheet = "".join((FOLDER / it).read_text() for it in names)
    digest = base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()
    whole = f"{page[: links.start()]}<style>{sheet}</style>\n{page[links.end() :]}"
    return whole, f"'sha256-{digest}'"


def _page_policy(style: str, views: str, camera: str, csp_sources: str) -> str:
    """Return the Content-Security-Policy: the page itself, its sockets and bar, plots, camera."""
    return (
        f"default-src 'none'; script-src 'self'; style-src {style}; "
        f"img-src 'self' data: {camera}; "
        f"connect-src 'self' ws://127.0.0.1:* ws://localhost:*; frame-src {csp_sources} {views}; "
        "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
    )


def _bar_policy(style: str, csp_sources: str) -> str:
    """Return the Content-Security-Policy of the bar, which only the page may frame."""
    return (
        f"default-src 'none'; script-src 'self'; style-src {style}; img-src data:; "
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
