"""Drives to begin with: copy one, and change it. ``python -m tandem.examples.figure_eight``."""
