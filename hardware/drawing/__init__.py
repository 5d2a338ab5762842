"""Drawing of the harnesses and the runstop circuit of hardware/. ``python -m hardware.drawing``."""
