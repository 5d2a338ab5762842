"""Policies: small networks in a file that drive a car by what it reports."""

from host_bridge.inputs.policies.policy_input import make

__all__ = ["make"]
