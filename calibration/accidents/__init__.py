"""Accidents explained: a log's last seconds on the twin, with one cause removed at a time."""
