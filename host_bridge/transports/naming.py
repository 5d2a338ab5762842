"""A serial port is named by its path wherever a car's URI is."""


def as_uri(text: str) -> str:
    """``/dev/ttyACM0`` and ``COM3`` as serial URIs; any other text is returned as it is."""
    is_port = text.startswith("/") or (text.startswith("COM") and text[3:].isdecimal())
    return f"serial://{text}" if is_port else text
