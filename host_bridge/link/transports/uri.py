"""URIs of cars: ``scheme://authority/path?name=value``. The scheme finds the transport.

Transports are found by entry point (group ``tandem.transports``: scheme -> ``module:make``), so
that other packages can offer theirs, and nobody here imports them.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from typing import cast
from urllib.parse import unquote

from host_bridge.core.errors import UsageFault
from host_bridge.link.transports.base import Transport, TransportContext
from sim_mock.files.numbers import parse_number, parse_whole

GROUP = "tandem.transports"
OPTIONS = "tandem.transport_options"  # ``?option=...`` -> the maker that wraps the transport
WRAPPERS = ("lossy",)  # ``wrapper+scheme://`` belongs to the wrapper, around any other scheme

EXAMPLES = {
    "serial": "serial:///dev/ttyACM0",
    "tandem": "tandem:///nigel",
    "loopback": "loopback://bench",
    "lossy": "lossy+serial:///dev/ttyACM0?seed=1&loss=0.05",
    "replay": "replay://drive.mcap",
    "sim": "sim://nigel?seed=1",
    "sim+process": "sim+process://nigel",
    "autodrive": "autodrive://:4567?vehicle=nigel",
}

_NOUNS: dict[Callable[[str], float], str] = {
    parse_whole: "a whole number",
    parse_number: "a number",
}
_SHAPE = re.compile(
    r"(?P<scheme>[a-z][a-z0-9+.-]*)://(?P<authority>[^/?#]*)(?P<path>/[^?#]*)?(\?(?P<query>[^#]*))?"
)

TransportFactory = Callable[["Uri", TransportContext], Transport]


@dataclass(frozen=True)
class Uri:
    """The parts of a URI, percent-decoded; ``text`` is what was written."""

    text: str
    scheme: str
    authority: str
    path: str
    query: dict[str, str] = field(hash=False)

    @property
    def place(self) -> str:
        """The name or file path after the scheme: ``./my_car.toml`` in ``sim://./my_car.toml``."""
        return self.authority + self.path

    @classmethod
    def parse(cls, text: str) -> Uri:
        """Parse the text of a URI. Raises errors.UsageFault."""
        match = _SHAPE.fullmatch(text)
        if match is None:
            raise _shape_fault(text)
        scheme, authority, path, query = match.group("scheme", "authority", "path", "query")
        return cls(text, scheme, unquote(authority), unquote(path or ""), _query(text, query or ""))

    def integer(self, name: str, default: int, low: int, high: int) -> int:
        """Return a whole number of the query. Raises errors.UsageFault outside low to high."""
        return int(self._checked(name, str(default), parse_whole, low, high))

    def number(self, name: str, default: float, low: float, high: float) -> float:
        """Return a number of the query. Raises errors.UsageFault outside low to high."""
        return self._checked(name, str(default), parse_number, low, high)

    def choice(self, name: str, choices: tuple[str, ...]) -> str:
        """Return one of some words of the query, the first by default. Raises errors.UsageFault."""
        got = self.query.get(name, choices[0])
        if got not in choices:
            raise self.fault(f"{name} is none of its values", " | ".join(choices), got)
        return got

    def refuse_others(self, *known: str) -> None:
        """Raise errors.UsageFault for a parameter that nobody would read."""
        for name in self.query:
            if name not in known:
                near = difflib.get_close_matches(name, known, 1)
                raise UsageFault(
                    f"unknown parameter {name!r}",
                    where=self.text,
                    expected=", ".join(known) or "no parameters",
                    got=name,
                    remedy=f"did you mean {near[0]}?" if near else "leave it out",
                )

    def fault(self, what: str, expected: str, got: str) -> UsageFault:
        """Return an error about a part of this URI."""
        return UsageFault(what, where=self.text, expected=expected, got=got)

    def _checked(
        self, name: str, default: str, parse: Callable[[str], float], low: float, high: float
    ) -> float:
        text = self.query.get(name, default)
        value: float | None
        try:
            value = parse(text)
        except ValueError:
            value = None
        if value is None or not low <= value <= high:
            noun = _NOUNS[parse]
            raise self.fault(f"{name} does not fit", f"{noun} from {low} to {high}", text)
        return value


def open_transport(text: str, context: TransportContext) -> Transport:
    """Return the transport of a URI, not yet opened. Raises errors.TandemError."""
    uri = Uri.parse(text)
    return _maker(uri)(uri, context)


def schemes() -> list[str]:
    """Return the schemes that are installed, sorted."""
    return sorted(entry_points(group=GROUP).names)


def _maker(uri: Uri) -> TransportFactory:
    for option in entry_points(group=OPTIONS):
        if option.name in uri.query:
            return cast(TransportFactory, option.load())
    wrapper, _, _ = uri.scheme.partition("+")
    for name in (uri.scheme, wrapper if wrapper in WRAPPERS else uri.scheme):
        for entry in entry_points(group=GROUP, name=name):
            return cast(TransportFactory, entry.load())
    raise _unknown_scheme(uri)


def _unknown_scheme(uri: Uri) -> UsageFault:
    known = schemes()
    near = difflib.get_close_matches(uri.scheme, known, 1)
    examples = "".join(f"\n    {EXAMPLES.get(name, name + '://')}" for name in known)
    return UsageFault(
        f"unknown scheme {uri.scheme!r}",
        where=uri.text,
        expected=f"one of{examples}",
        remedy=f"did you mean {near[0]}://?" if near else "use one of these",
    )


def _query(text: str, query: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for item in filter(None, query.split("&")):
        name, equals, value = item.partition("=")
        if not equals or name in found:
            what = "a parameter twice" if name in found else "a parameter without a value"
            raise UsageFault(what, where=text, expected="name=value, each name once", got=item)
        found[unquote(name)] = unquote(value)
    return found


def _shape_fault(text: str) -> UsageFault:
    """Return the fault for a text that is no URI, with a guess of what was meant."""
    if text.startswith("/"):
        remedy = f"a serial port is serial://{text}"
    elif re.fullmatch(r"[\w-]+", text):
        remedy = f"a served car is tandem:///{text}, a virtual one sim://{text}"
    else:
        remedy = "write a car as scheme://..., lower case, without '#'"
    return UsageFault(
        "not the URI of a car", expected=f"such as {EXAMPLES['serial']}", got=text, remedy=remedy
    )
