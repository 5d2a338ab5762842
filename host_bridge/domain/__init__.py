"""What the host talks about, in SI units. Imports nothing of ours outside this folder."""

from host_bridge.domain.vehicle import DivergenceLimits, SourceFacts, Vehicle

__all__ = ["DivergenceLimits", "SourceFacts", "Vehicle"]
