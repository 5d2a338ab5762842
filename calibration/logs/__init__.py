"""Readers of recorded drives: as a run for a replay, or as a trace of any series."""
