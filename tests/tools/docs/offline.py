"""Finds what a built site would fetch from elsewhere when a browser shows it."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

_LOADED = {
    "audio": ("src",),
    "embed": ("src",),
    "iframe": ("src",),
    "image": ("href", "xlink:href"),
    "img": ("src", "srcset"),
    "input": ("src",),
    "link": ("href",),
    "object": ("data",),
    "script": ("src",),
    "source": ("src", "srcset"),
    "track": ("src",),
    "use": ("href", "xlink:href"),
    "video": ("src", "poster"),
}
_NOT_LOADED = {"canonical", "next", "prev", "search", "index", "author", "genindex", "copyright"}
_IN_STYLE = re.compile(r"""(?:url\(|@import)\s*["']?([^"')\s;]+)""")


class _Loads(HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []
        self.links = []
        self.marks = set()
        self._in_style = False

    def handle_starttag(self, tag, attrs):
        given = {name: value or "" for name, value in attrs}
        self.marks.update(given[it] for it in ("id", "name") if it in given)
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if tag == "link" and set(given.get("rel", "").split()) & _NOT_LOADED:
            return
        if tag == "meta" and given.get("http-equiv", "").lower() == "refresh":
            self.found.append(given.get("content", "").partition("url=")[2])
        self.found += [given[name] for name in _LOADED.get(tag, ()) if given.get(name)]
        self.found += _IN_STYLE.findall(given.get("style", ""))
        self._in_style = tag == "style"

    def handle_data(self, data):
        if self._in_style:
            self.found += _IN_STYLE.findall(data)
            self._in_style = False


def read(page: Path) -> _Loads:
    """Return what a page loads, links to, and has as targets of links."""
    parser = _Loads()
    parser.feed(page.read_text("utf-8"))
    return parser


def requests_of(site: Path) -> list[str]:
    """Each thing that a page or a style of the site loads from another machine."""
    found = []
    for page in sorted(site.rglob("*.html")):
        found += [f"{page.relative_to(site)}: {it}" for it in read(page).found if _is_elsewhere(it)]
    for style in sorted(site.rglob("*.css")):
        loads = _IN_STYLE.findall(style.read_text("utf-8"))
        found += [f"{style.relative_to(site)}: {it}" for it in loads if _is_elsewhere(it)]
    return found


def broken_links_of(site: Path) -> list[str]:
    """Each link from page to page that leads to no file or to no place in it."""
    pages = {page: read(page) for page in sorted(site.rglob("*.html"))}
    found = []
    for page, parsed in pages.items():
        for link in parsed.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            mark = unquote(parts.fragment)
            known = pages.get(target)
            if not target.is_file() or (known and mark and mark not in known.marks):
                found.append(f"{page.relative_to(site)}: {link}")
    return found


def _is_elsewhere(address: str) -> bool:
    parts = urlsplit(address.strip())
    return bool(parts.netloc) or parts.scheme not in ("", "data")
