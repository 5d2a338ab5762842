"""Fitting of a car's parameters to recorded drives; README.md describes the methods."""
