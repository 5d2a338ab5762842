"""Draws what hardware/ says: harnesses and the runstop circuit. ``python -m hardware.drawing``."""
