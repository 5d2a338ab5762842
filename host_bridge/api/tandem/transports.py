"""The parts of a transport of your own: host_bridge/link/transports/README.md adds one."""

from __future__ import annotations

from host_bridge.link.transports.base import OnBytes, OnClosed, Transport, TransportContext
from host_bridge.link.transports.descriptor import DescriptorTransport
from host_bridge.link.transports.uri import Uri

__all__ = ["DescriptorTransport", "OnBytes", "OnClosed", "Transport", "TransportContext", "Uri"]
