"""Readings of the text by which a person names a car."""

from __future__ import annotations

from host_bridge.core.errors import UsageFault

FIRST_PORT = 27_410  # of the cars of a host, as tandem serve --listen takes them


def as_uri(text: str) -> str:
    """Return ``/dev/ttyACM0`` and ``COM3`` as serial URIs; any other text as it is."""
    is_port = text.startswith("/") or (text.startswith("COM") and text[3:].isdecimal())
    return f"serial://{text}" if is_port else text


def is_of_another_host(uri: str) -> bool:
    """Return whether a URI is that of a car which another machine serves."""
    return uri.startswith("tandem://") and not uri.startswith("tandem:///")


def uri_of(host: str, port: int, name: str) -> str:
    """Return the URI of a car of another machine."""
    host = f"[{host}]" if ":" in host else host
    return f"tandem://{host}{'' if port == FIRST_PORT else f':{port}'}/{name}"


def parts_of(uri: str) -> tuple[str, int, str]:
    """Return host, port and name of a URI. Raises errors.UsageFault."""
    authority, _, name = uri.removeprefix("tandem://").partition("?")[0].partition("/")
    host, colon, port = authority.rpartition(":")
    if not colon or authority.endswith("]"):
        host, port = authority, str(FIRST_PORT)
    if not host or not port.isdecimal() or not 0 < int(port) < 65_536:
        raise UsageFault(
            "no host and port", expected="such as tandem://192.168.1.7:27410/red", got=uri
        )
    return host.strip("[]"), int(port), name
