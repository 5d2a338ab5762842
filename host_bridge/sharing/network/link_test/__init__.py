"""The measurement of a network, as a car that is driven over it would feel it."""
