"""Paths of serial ports as short forms of a car's URI."""


def as_uri(text: str) -> str:
    """Return ``/dev/ttyACM0`` and ``COM3`` as serial URIs; any other text as it is."""
    is_port = text.startswith("/") or (text.startswith("COM") and text[3:].isdecimal())
    return f"serial://{text}" if is_port else text
