"""Stops by the network, which need no token: of one car, and of a fleet."""
