"""``make demo``: two cars driven together, stopped in every way, with numbers."""
