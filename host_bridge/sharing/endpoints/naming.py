"""Readings of the text by which a person names a car."""


def as_uri(text: str) -> str:
    """Return ``/dev/ttyACM0`` and ``COM3`` as serial URIs; any other text as it is."""
    is_port = text.startswith("/") or (text.startswith("COM") and text[3:].isdecimal())
    return f"serial://{text}" if is_port else text


def is_of_another_host(uri: str) -> bool:
    """Return whether a URI is that of a car which another machine serves."""
    return uri.startswith("tandem://") and not uri.startswith("tandem:///")
