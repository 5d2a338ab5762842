"""A first-order lag with a limited rate, and a dead band."""

from sim_mock.models.planning.limits import clamped

# The simulator's least time constant: with its steps of 25 ms a shorter one would not settle.
SHORTEST_TIME_CONSTANT_S = 0.03


def lag_rate(error: float, time_constant_s: float, rate_limit: float) -> float:
    """Return the rate per second at which a first-order lag closes ``error`` = target - value.

    63 % of a step is reached one time constant after the dead time (simple_planning_simulator,
    Inner-workings, note on the delay models).
    """
    return clamped(error / max(time_constant_s, SHORTEST_TIME_CONSTANT_S), rate_limit)


def beyond_dead_band(error: float, dead_band: float) -> float:
    """Return the part of ``error`` outside the band: 0 within, continuous at its edges."""
    return error - clamped(error, dead_band)
