"""The fields of a message, as the bytes on the wire have them."""

from firmware.protocol.codec import Message
from host_bridge.link.protocol.wire import LAYOUTS


def fields_of(message: Message) -> dict[str, int | bytes]:
    """By name; byte strings as ``bytes``."""
    layout = LAYOUTS[type(message)]
    values = (v if isinstance(v, int) else bytes(v) for v in layout.read(message))
    return dict(zip(layout.names, values, strict=True))
